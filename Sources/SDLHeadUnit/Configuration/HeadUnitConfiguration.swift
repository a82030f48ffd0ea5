import SDLMessages
import SDLWire

/// The properties of a head unit: its versions, its screen and its video capability.
package struct HeadUnitConfiguration: Equatable, Sendable {
  /// Sent in the first StartServiceACK (protocol 5.4) and in the registration response.
  package var vehicle = VehicleDescription()
  /// 2.0.0…5.4.0 in practice; below 5 there is no video format negotiation.
  package var maximumProtocolVersion = ProtocolVersion(5, 4, 0)
  /// Highest RPC version; functions newer than the negotiated version are unsupported.
  package var rpcVersion = RPCVersion(8, 0, 0)
  /// Language tag of the head unit; an app with another one gets WRONG_LANGUAGE.
  package var language = "EN-US"
  /// `displayCapabilities.screenParams.resolution`, in pixels.
  package var screen: VideoSize
  /// Answer to GetSystemCapability(VIDEO_STREAMING); nil on head units that tell apps only the size of their screen.
  package var videoCapability: VideoStreamingCapability?
  /// The format of the sound (`pcmStreamCapabilities`); nil announces none, and plays the format that apps then assume.
  package var pcmFormat: PCMFormat? = PCMFormat()
  /// The sound that apps record (PerformAudioPassThru), each time from the beginning, then silence; nil is silence
  /// only.
  package var microphone: WAVSound?
  /// Largest frame payload that is accepted, in bytes; announced as `mtu`.
  package var maximumPayload = FrameLimits.corePayload
  /// Whether an app that streams without permission is unregistered with PROTOCOL_VIOLATION, and the next start of an
  /// app that has not acknowledged an EndService is refused, as by SDL Core. When false the violation is only reported.
  package var isStrict = true
  /// Whether a video size that no capability offers is refused, as HMIs usually do. When false any size is accepted, as
  /// by SDL Core itself.
  package var refusesUnknownSizes = true
  /// Whether an app with the id or name of another app of the same phone is refused, as by SDL Core. An app that
  /// restarts while its former session is still ending is refused as well.
  package var refusesTakenNames = true
  /// The time from StartService(video) with parameters to the answer, in which SDL Core asks the HMI (SetVideoConfig):
  /// up to 57 ms were observed. Earlier video is a violation. Nil answers at once.
  package var videoStartTime: Duration? = .milliseconds(10)
  /// The RPCs that apps may use, and in which levels.
  package var policy = PolicyTable.listedApp
  /// From the registration until the user opens the app (HMI level FULL); nil leaves the app at NONE.
  package var activation: Duration?
  /// The handling of starts with the E bit. Needs a ``SecureChannelFactory``.
  package var security = HeadUnitSecurity.refuse
  /// Whether the head unit is the TLS client, as in SDL Core's default; otherwise it waits for the app to begin.
  package var beginsHandshake = true
  /// Whether apps must encrypt the RPC service, except for the first messages (SDL-0207). Needs a
  /// ``SecureChannelFactory``.
  package var requiresRPCEncryption = false
  /// Whether each RPC and control frame is an event (``HeadUnitSession/Event/message(_:)``).
  package var reportsMessages = false
  /// Whether the session's start may be acknowledged with secondary transports: not over WebSocket, as by SDL Core.
  package var offersSecondaryTransport = true
  /// Sent to apps in a cloud when their session starts; nil for none.
  package var authToken: String?
  /// Deviations from a healthy SDL Core; a behaviour script may change them later.
  package var behaviour = HeadUnitBehaviour()

  /// A protocol 5.4 head unit with the given screen.
  package init(
    screen: VideoSize, videoCapability: VideoStreamingCapability?, activation: Duration? = .milliseconds(100)
  ) {
    self.screen = screen
    self.videoCapability = videoCapability
    self.activation = activation
  }

  /// Another screen, which video has to fill: additional sizes belong to the former one.
  package mutating func setScreen(_ size: VideoSize) {
    screen = size
    videoCapability?.preferredResolution = size
    videoCapability?.additionalCapabilities = nil
  }

  /// Limits for the ``FrameDecoder`` that feeds the session.
  package var frameLimits: FrameLimits { FrameLimits(payload: maximumPayload) }

  /// The display as it appears to an app that knows only the screen's size. SDL's libraries (sdl_ios and
  /// sdl_java_suite) divide it by 4/3 for the makes Ford and Lincoln if a side is longer than 800 pixels.
  var screenCapability: VideoStreamingCapability {
    let isLarge = screen.width > 800 || screen.height > 800
    var capability = VideoStreamingCapability()
    capability.preferredResolution = screen
    capability.scale = isLarge && ["Ford", "Lincoln"].contains { vehicle.make.contains($0) } ? 1 / 0.75 : nil
    return capability
  }

  /// The highest frame header version, 2…5; protocol 1 alone is not supported.
  var maximumHeaderVersion: UInt8 { UInt8(clamping: min(max(maximumProtocolVersion.major, 2), 5)) }
}

/// The state of a head unit that affects all apps, also those that connect later.
package struct HeadUnitConditions: Sendable {
  package enum Change: Equatable, Sendable {
    case event(HMIEvent, isActive: Bool)
    /// Whether StartService and EndService of video get no answer. A start is ignored, an end is carried out.
    case videoSilence(Bool)
    /// The status of an app that the driver opens, or that is opened automatically after its registration.
    case activationStatus(HMIStatus)
    case vehicle(VehicleReading)
    /// A language tag, instead of ``HeadUnitConfiguration/language``.
    case language(String)
    case policy(PolicyTable.Change)
  }

  private var events: Set<HMIEvent> = []
  private var isSilentOnVideo = false
  private var activationStatus: Change?
  private var language: Change?
  private var readings: [String: VehicleReading] = [:]
  /// By the RPC, or the group.
  private var policies: [String: Change] = [:]

  /// Creates the default: no active event, answers to video starts, and apps are opened at FULL and audible.
  package init() {}

  /// Applies a change, for sessions that start later.
  package mutating func apply(_ change: Change) {
    switch change {
    case .event(let event, let isActive): if isActive { events.insert(event) } else { events.remove(event) }
    case .videoSilence(let isSilent): isSilentOnVideo = isSilent
    case .activationStatus: activationStatus = change
    case .language: language = change
    case .vehicle(let reading): readings[reading.name] = reading
    case .policy(.permit(let function, _)): policies[function.description] = change
    case .policy(.group(let name, _)): policies["group \(name)"] = change
    }
  }

  /// The differences from the default, to be applied to a new session.
  package var changes: [Change] {
    var changes: [Change] = HMIEvent.allCases.filter(events.contains).map { .event($0, isActive: true) }
    if isSilentOnVideo { changes.append(.videoSilence(true)) }
    changes += [activationStatus, language].compactMap(\.self)
    changes += readings.values.map { .vehicle($0) }
    changes += policies.values
    return changes
  }
}

/// Make and model, as head units announce them; by default SDL Core's.
package struct VehicleDescription: Equatable, Sendable {
  package var make = "SDL"
  package var model = "Generic"
  package var modelYear = "2019"
  package var trim = "SE"
  package var systemSoftwareVersion = "1.0"
  package var systemHardwareVersion = "1.0"
}

/// A size of the screen with the scale of the video in it.
package struct SizeWithScale: Equatable, Sendable, CustomStringConvertible {
  package var size: VideoSize
  /// 1…10; nil if it is not stated.
  package var scale: Double?

  /// A capability with these two members.
  package var capability: VideoStreamingCapability {
    var capability = VideoStreamingCapability()
    capability.preferredResolution = size
    capability.scale = scale
    return capability
  }

  /// "800x480" or "800x480@1.5".
  package var description: String { size.text + (scale.map { "@\($0)" } ?? "") }

  /// Parses a ``description``; nil if it is malformed.
  package init?(text: String) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let size = VideoSize(text: String(parts[0])) else { return nil }
    self.size = size
    guard parts.count > 1 else { return }
    guard let scale = Double(parts[1]), (1...10).contains(scale) else { return nil }
    self.scale = scale
  }

  /// The size and scale of `capability`; 0×0 if it has no size.
  package init(_ capability: VideoStreamingCapability) {
    size = capability.preferredResolution ?? VideoSize(0, 0)
    scale = capability.scale
  }
}

/// The head unit's handling of a StartService with the E bit.
package enum HeadUnitSecurity: String, CaseIterable, Sendable {
  /// Acknowledges it in clear, as SDL Core does without certificates.
  case refuse
  /// Encrypts if the app requests it; in clear after a failed handshake.
  case accept
  /// Accepts video and sound only encrypted (SDL Core's ForceProtectedService): refuses everything else, also single
  /// frames.
  case require
}

extension VideoSize {
  /// "800x480".
  package var text: String { "\(width)x\(height)" }

  /// "800x480", with sides of 1…10000.
  package init?(text: String) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard sides.count == 2, let width = sides[0], let height = sides[1], (1...10_000).contains(width),
      (1...10_000).contains(height)
    else { return nil }
    self.init(width, height)
  }
}

extension VideoStreamingFormat {
  /// "RAW/H264".
  package var text: String { "\(videoProtocol)/\(codec)" }

  /// Parses a ``text``; nil if it is malformed.
  package init?(text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    self.init(videoProtocol: String(parts[0]), codec: String(parts[1]))
  }
}
