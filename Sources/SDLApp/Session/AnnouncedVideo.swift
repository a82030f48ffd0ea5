import SDLMessages

/// The head unit's video capability: requested after the registration, and changed by updates.
struct AnnouncedVideo: Equatable, Sendable {
  enum Output: Equatable {
    case none
    /// Send GetSystemCapability.
    case request
    /// Tell the app.
    case changed
    /// The head unit shows no video of apps.
    case notSupported
  }

  /// The display that the stream is made for.
  private struct DisplayInUse: Equatable {
    /// The size of the pictures that are streamed or requested.
    var pictures: VideoSize
    var display: VideoDisplay
  }

  private enum State: Equatable {
    case unknown
    /// The request was sent. Head units that refuse it in HMI level NONE are asked again in another level.
    case requested(inNone: Bool)
    /// Refused in HMI level NONE; asked again in another.
    case deferred
    /// Refused in clear, or not to be sent in clear; asked once RPCs are encrypted, or known to stay in clear.
    case needsProtection
    case known(VideoStreamingCapability)
    case unavailable
  }

  /// RPC version that first had the video streaming capability.
  private static let capabilityVersion = RPCVersion(4, 5)
  /// The makes whose head units without a video capability enlarge pictures on a large screen, by the rule that both
  /// SDL libraries apply to a make that contains one of these: the cars are older than the capability's `scale`.
  private static let enlargingMakes = ["Ford", "Lincoln"]
  /// No side of a screen that shows pictures as they are is longer, in pixels.
  private static let longestPlainSide = 800
  private static let legacyScale = 4.0 / 3

  /// The head unit's displays that the app can stream to.
  var supportedDisplays: [VideoDisplay] = []
  private var hasAnnouncedDisplays = false
  private var state = State.unknown
  /// Updates that came before the answer to GetSystemCapability, and are newer.
  private var earlyUpdate: VideoStreamingCapability?
  /// The display in use after an update, while the pictures still have the old size.
  private var changedDisplay: DisplayInUse?
  private var isVideoSupported = true
  private var make = ""
  /// The head unit's screen, in pixels: the size of the pictures if it announces none for video.
  private var screen: VideoSize?

  /// Nil until it is known, and for head units without such a capability.
  var capability: VideoStreamingCapability? {
    if case .known(let capability) = state { capability } else { nil }
  }

  /// Whether the head unit has announced something, or is known to announce nothing.
  var isSettled: Bool {
    switch state {
    case .known, .unavailable: true
    case .unknown, .requested, .deferred, .needsProtection: false
    }
  }

  /// The display of a head unit without a video capability.
  private var legacyDisplay: VideoDisplay? {
    guard let screen else { return nil }
    let isEnlarged =
      max(screen.width, screen.height) > Self.longestPlainSide && Self.enlargingMakes.contains { make.contains($0) }
    return VideoDisplay(size: screen, scale: isEnlarged ? Self.legacyScale : 1)
  }

  /// The size to stream when the head unit announces none.
  var fallbackSize: VideoSize? {
    guard state == .unavailable else { return screen }
    // A screen without enlargement is passed on as it is: the receiver decides which size can be encoded.
    return legacyDisplay.flatMap { $0.scale > 1 ? $0.streamSize : $0.size }
  }
}

// MARK: Messages of the head unit

extension AnnouncedVideo {
  mutating func registered(
    _ response: RegisterAppInterfaceResponse, make: String?, rpcVersion: RPCVersion, isInNone: Bool
  ) -> Output {
    screen = response.screenResolution
    self.make = make ?? ""
    isVideoSupported = response.videoStreaming ?? response.graphicSupported ?? true
    return rpcVersion >= Self.capabilityVersion ? request(isInNone: isInNone) : unavailable()
  }

  private mutating func request(isInNone: Bool) -> Output {
    state = .requested(inNone: isInNone)
    return .request
  }

  /// The answer to GetSystemCapability.
  ///
  /// - Parameter canProtectRPCs: a request that is refused in clear may be sent again encrypted.
  mutating func answered(
    _ result: RPCResult, _ answer: SystemCapability, isInNone: Bool, canProtectRPCs: Bool,
    _ messenger: inout SessionMessenger
  ) -> Output {
    guard case .requested(let wasInNone) = state else { return .none }
    if result.success, let video = answer.videoStreaming {
      return set(earlyUpdate.map(video.updated(by:)) ?? video)
    }
    if result.resultCode == ResultCode.disallowed.rawValue, wasInNone {
      state = .deferred
      // The level may have changed while the answer was on its way.
      return levelChanged(isInNone: isInNone)
    }
    if result.resultCode == ResultCode.encryptionNeeded.rawValue, canProtectRPCs {
      state = .needsProtection
      return .none
    }
    messenger.diagnose("no video capability: \(result.resultCode) \(result.info ?? "")")
    return unavailable()
  }

  mutating func levelChanged(isInNone: Bool) -> Output {
    state == .deferred && !isInNone ? request(isInNone: false) : .none
  }

  /// The request has to be encrypted, and RPCs are about to be.
  mutating func waitForProtection() { state = .needsProtection }

  /// RPCs are encrypted from now on, or stay in clear.
  mutating func protectionSettled(isInNone: Bool) -> Output {
    state == .needsProtection ? request(isInNone: isInNone) : .none
  }

  /// Goes on without a capability: head units before RPC 4.5 take H.264 in the size of their screen.
  mutating func unavailable() -> Output {
    if let earlyUpdate { return set(earlyUpdate) }
    guard isVideoSupported else { return .notSupported }
    state = .unavailable
    return .changed
  }

  /// OnSystemCapabilityUpdated. Members that an update leaves out are unchanged.
  ///
  /// - Parameter sizes: of the pictures that are streamed or requested, the most certain first.
  mutating func updated(by update: VideoStreamingCapability, inUse sizes: [VideoSize]) -> Output {
    switch state {
    case .known(let current):
      let inUse = displayInUse(sizes)
      let merged = current.updated(by: update, inUse: inUse?.display)
      noteChange(of: inUse, by: update)
      return merged == current ? .none : set(merged)
    case .unavailable: return set(update)
    case .unknown, .requested, .deferred, .needsProtection:
      earlyUpdate = earlyUpdate?.updated(by: update) ?? update
      return .none
    }
  }

  private mutating func set(_ capability: VideoStreamingCapability) -> Output {
    state = .known(capability)
    return .changed
  }
}

// MARK: Displays

extension AnnouncedVideo {
  /// The place on the display of pictures of `size` that were requested as `requested`. If the head unit overrides the
  /// requested size, the scale is that of the requested one (sdl_ios).
  func geometry(of size: VideoSize, requested: VideoSize) -> VideoGeometry {
    if let announced = geometry(of: size) { return announced }
    guard let display = display(of: requested) else { return VideoGeometry(stream: size) }
    return VideoGeometry(stream: size, enlargedLike: display)
  }

  /// Nil when the head unit has not announced this size.
  func geometry(of size: VideoSize) -> VideoGeometry? {
    display(of: size).flatMap { VideoGeometry(stream: size, displays: [$0]) }
  }

  /// Of several displays that show pictures of `size`, the first that the app supports.
  private func display(of size: VideoSize) -> VideoDisplay? {
    let displays = displays.filter { $0.streamSize == size }
    let supported = Set(supportedDisplays.map(\.identity))
    return displays.first { supported.contains($0.identity) } ?? displays.first
  }

  private var displays: [VideoDisplay] {
    switch state {
    case .known(let capability): VideoDisplay.displays(of: capability, screen: screen)
    case .unavailable: legacyDisplay.map { [$0] } ?? []
    case .unknown, .requested, .deferred, .needsProtection: []
    }
  }

  private func displayInUse(_ sizes: [VideoSize]) -> DisplayInUse? {
    for size in sizes {
      if let changedDisplay, changedDisplay.pictures == size { return changedDisplay }
      if let display = display(of: size) { return DisplayInUse(pictures: size, display: display) }
    }
    return nil
  }

  /// Notes the display in use after `update`, so that a further update finds it although no display has the size of the
  /// pictures any more.
  private mutating func noteChange(of inUse: DisplayInUse?, by update: VideoStreamingCapability) {
    guard var inUse, update.preferredResolution == nil, update.additionalCapabilities == nil else {
      changedDisplay = nil
      return
    }
    let display = inUse.display
    inUse.display = VideoDisplay(
      size: display.size, scale: update.scale ?? display.scale,
      diagonal: update.diagonalScreenSize ?? display.diagonal,
      pixelsPerInch: update.pixelPerInch ?? display.pixelsPerInch)
    changedDisplay = inUse
  }

  /// The entries of the head unit's capability that the app supports, once in a session, to be sent to the head unit
  /// (SDL-0296). Displays of a replaced list are left out: SDL-0332 requires a subset of the present capability.
  mutating func takeSupportedEntries() -> [VideoStreamingCapability] {
    guard !hasAnnouncedDisplays, let capability else { return [] }
    let supported = Set(supportedDisplays.map(\.identity))
    let entries = VideoDisplay.entries(of: capability).filter { supported.contains($0.display.identity) }.map(\.entry)
    hasAnnouncedDisplays = !entries.isEmpty
    return entries
  }
}
