import SDLMessages
import SDLWire

/// The video capability that the app knows, or has yet to get.
///
/// GetSystemCapability keeps returning the configured one, as in SDL Core; an app that has subscribed gets the changes.
struct OfferedCapability: Sendable {
  /// The most updates that are on the way at the same time.
  private static let formerCount = 8

  private let configuration: HeadUnitConfiguration
  /// The configured capability with the updates that were sent to the app.
  private var present: VideoStreamingCapability?
  /// The entry that was streamed when it was updated without a size. Libraries differ in whether such an update is about
  /// the size in use or about the capability's own, so both count.
  private var updatedInUse: VideoStreamingCapability?
  /// The capabilities before the last updates, which the app's messages may have crossed.
  private var former: [VideoStreamingCapability] = []
  /// The window has been resized: no other size is offered any more.
  private var isResized = false
  /// Whether the app has got the answer to GetSystemCapability(VIDEO_STREAMING), or an update.
  private var isKnown = false
  private var isSubscribed = false
  /// Updates, merged, that are sent once the app has subscribed.
  private var deferredUpdate: VideoStreamingCapability?

  /// The offer to an app that has just registered.
  init(_ configuration: HeadUnitConfiguration) {
    self.configuration = configuration
    present = configuration.videoCapability
  }

  // MARK: To the app

  /// Answers GetSystemCapability.
  mutating func answer(_ request: RPCMessage, _ app: RegisteredApp, _ context: inout ServedContext) {
    let name = request.parameters["systemCapabilityType"]?.string ?? ""
    let parameters = GetSystemCapability(json: request.parameters)
    guard parameters.type == .videoStreaming else { return answer(name, request, app, &context) }
    guard let configured = configuration.videoCapability else {
      return context.refuse(request, .dataNotAvailable, "This head unit has no video capability")
    }
    if let subscribe = parameters.subscribe { isSubscribed = subscribe }
    context.respond(to: request, with: SystemCapability(type: .videoStreaming, videoStreaming: configured).json)
    isKnown = true
    // An app that subscribes late still has to get earlier changes.
    if isSubscribed, let update = deferredUpdate.take() { send(update, &context) }
  }

  /// Answers for capabilities other than video. They never change, so a subscription has no effect.
  private func answer(_ name: String, _ request: RPCMessage, _ app: RegisteredApp, _ context: inout ServedContext) {
    if name == "REMOTE_CONTROL" {
      let mayControl = app.types.contains(.remoteControl)
      return mayControl
        ? context.refuse(request, .dataNotAvailable, "This head unit has nothing to control")
        : context.refuse(request, .disallowed, "The app is not of the type REMOTE_CONTROL")
    }
    guard let answer = SystemCapabilities.answer(name) else {
      return context.refuse(request, .unsupportedResource, "There is no capability \(name.quoted)")
    }
    context.respond(to: request, with: answer)
  }

  /// Sends a change to the app once it has subscribed. Absent members are unchanged.
  /// - Parameter size: of the pictures that are streamed; nil without a stream.
  mutating func update(
    _ update: VideoStreamingCapability, inUse size: VideoSize?, _ context: inout ServedContext
  ) {
    if update.preferredResolution != nil || update.additionalCapabilities != nil {
      updatedInUse = nil
    } else if let size {
      updatedInUse = entryInUse(size)?.updated(by: update)
    }
    context.demand(.capabilityAnnounced)
    guard isSubscribed else {
      deferredUpdate = deferredUpdate?.updated(by: update) ?? update
      return context.report(.capabilityUpdateDeferred)
    }
    send(update, &context)
  }

  private func entryInUse(_ size: VideoSize) -> VideoStreamingCapability? {
    [present, updatedInUse].lazy.compactMap { $0.flatMap { sizes.entries(of: $0, covering: size).first } }.first
  }

  private mutating func send(_ update: VideoStreamingCapability, _ context: inout ServedContext) {
    isKnown = true
    if let present { former = former.suffix(Self.formerCount - 1) + [present] }
    present = present?.updated(by: update) ?? update
    context.notify(
      .onSystemCapabilityUpdated, SystemCapability(type: .videoStreaming, videoStreaming: update).json)
  }

  /// The window of the app gets another size; the scale is 1…10, or nil for the present one.
  mutating func resize(to size: VideoSize, scale: Double?, _ context: inout ServedContext) {
    var update = VideoStreamingCapability()
    update.preferredResolution = size
    update.scale = scale
    isResized = true
    self.update(update, inUse: nil, &context)
  }

  // MARK: From the app

  /// SendHapticData of an app with permission.
  func check(_ request: RPCMessage, _ context: inout ServedContext) {
    guard let data = SendHapticData(validating: request.parameters) else {
      return context.refuse(request, .invalidData, "hapticRectData has an entry that can't be read")
    }
    context.respond(to: request, success: true, .success)
    for fault in hapticRules.faults(of: data.rectangles) { context.report(.haptics(fault)) }
    context.report(.hapticRectangles(data.rectangles))
  }

  private var hapticRules: HapticRules { HapticRules(capability: window ?? present, screen: configuration.screen) }

  /// The present capability without additional ones, once a resize was sent to the app; nil before.
  private var window: VideoStreamingCapability? {
    guard isResized, deferredUpdate?.preferredResolution == nil, var window = present else { return nil }
    window.additionalCapabilities = nil
    return window
  }

  /// OnAppCapabilityUpdated.
  func check(_ notification: RPCMessage, rpcVersion: RPCVersion, _ context: inout ServedContext) {
    let parameters = OnAppCapabilityUpdated(json: notification.parameters)
    guard parameters.type == .videoStreaming else { return }
    let video = parameters.videoStreaming ?? VideoStreamingCapability()
    let offered = former + [configuration.videoCapability, present].compactMap(\.self)
    for fault in AppCapabilityRules.faults(of: video, offered: offered, rpcVersion: rpcVersion) {
      context.report(.appCapability(fault))
    }
    context.report(.appCapability(video))
  }

  // MARK: For starts of video

  /// Sizes of the present capability, and of the configured one; before them that of the screen, for an app that has
  /// received neither. Once a resize was sent to the app, only that of the window.
  var sizes: VideoSizeRules {
    let sent = [present, updatedInUse, configuration.videoCapability]
    let capabilities = isKnown ? sent : [configuration.screenCapability] + sent
    return VideoSizeRules(screen: configuration.screen, capabilities: window.map { [$0] } ?? capabilities)
  }

  /// The announced rates: the highest of the entries that pictures of this size can belong to.
  func limits(for size: VideoSize) -> VideoStreamLimits {
    guard let present else { return VideoStreamLimits() }
    let entries = sizes.entries(of: present, covering: size)
    let rates = (entries.isEmpty ? [present] : entries).map { $0.preferredFPS ?? present.preferredFPS }
    let bitrates = (entries.isEmpty ? [present] : entries).map { $0.maxBitrate ?? present.maxBitrate }
    func most(_ values: [Int?]) -> Int? { values.contains(nil) ? nil : values.compactMap(\.self).max() }
    return VideoStreamLimits(picturesPerSecond: most(rates), kilobitsPerSecond: most(bitrates))
  }

  /// The formats of the entries that the requested size belongs to, each of which may have its own.
  func formats(for request: VideoServiceParameters) -> [VideoStreamingFormat]? {
    guard let present, let width = request.width, let height = request.height else { return present?.supportedFormats }
    let entries = sizes.entries(of: present, covering: VideoSize(Int(width), Int(height)))
    let formats = entries.compactMap { $0.supportedFormats ?? present.supportedFormats }
    return formats.isEmpty ? present.supportedFormats : formats.flatMap(\.self)
  }
}

/// Rules for a list of touchable rectangles that SDL Core does not check.
struct HapticRules {
  /// The present capability, with its additional ones.
  let capability: VideoStreamingCapability?
  let screen: VideoSize

  /// At most one fault of each kind.
  func faults(of rectangles: [HapticRectangle]) -> [HapticFault] {
    let entries = capability.map { [$0] + ($0.additionalCapabilities ?? []) } ?? []
    let isSupported = entries.contains { $0.hapticSpatialDataSupported ?? false }
    // Each side by itself, because it is not known here for which of the sizes the app streams.
    let sizes = entries.compactMap(\.preferredResolution)
    let display = VideoSize(
      sizes.map(\.width).max() ?? screen.width, sizes.map(\.height).max() ?? screen.height)
    let outside = rectangles.first { !Self.isWithin(display, $0) }
    return (isSupported ? [] : [.notSupported])
      + (Self.repeatedID(of: rectangles).map { [.repeatedID($0)] } ?? [])
      + (outside.map { [.outsideDisplay($0, display: display)] } ?? [])
  }

  /// For the rounding of floating-point sums, in pixels.
  private static let tolerance = 1e-6

  private static func isWithin(_ display: VideoSize, _ rectangle: HapticRectangle) -> Bool {
    rectangle.x >= 0 && rectangle.y >= 0 && rectangle.width >= 0 && rectangle.height >= 0
      && rectangle.x + rectangle.width <= Double(display.width) + tolerance
      && rectangle.y + rectangle.height <= Double(display.height) + tolerance
  }

  private static func repeatedID(of rectangles: [HapticRectangle]) -> Int? {
    var seen: Set<Int> = []
    return rectangles.first { !seen.insert($0.id).inserted }?.id
  }
}
