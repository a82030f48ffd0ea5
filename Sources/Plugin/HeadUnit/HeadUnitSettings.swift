import Bluetooth
import GStreamerKit
import HeadUnitControl
import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import SDLWire

/// The settings of an element that is a head unit, or part of one. The initial values are the properties' defaults.
struct HeadUnitElementSettings: PropertySettings {
  var headUnit = HeadUnitSettings()
  /// The settings of an element for video.
  var video = HeadUnitVideoSettings()
  /// Whether the stream ends when the app has gone.
  var endsWithApp = false
  // The settings of an element for sound.
  var silence = SilenceFilling.samples
  /// Milliseconds.
  var latency: UInt32 = 60
  /// Milliseconds.
  var playoutDelay: UInt32 = 0

  /// How late sound may come without a gap.
  var tolerance: Duration { .milliseconds(latency) }

  /// The settings of an element for one service.
  func setup(for service: ServiceType) -> HeadUnitSetup {
    HeadUnitSetup(settings: headUnit, video: service == .video ? video : nil)
  }
}

/// The user's settings of a head unit, on any of its elements. Values that are nil come from the preset.
struct HeadUnitSettings: Sendable {
  var address = "127.0.0.1"
  var port = HeadUnitURI.defaultPort
  /// On the local network.
  var isAnnounced = false
  var preset = HeadUnitPreset.standard
  var make: String?
  var model: String?
  var sound: AnnouncedSound?
  var isStrict = true
  var hmiLevel = HMILevel.full
  /// The audio state of an app on the screen.
  var audioStreaming = AudioStreamingState.audible
  /// Path of a behaviour script.
  var script: String?
  var conversation = ConversationLogSettings()
  /// Where the page for browsers is served, as ``ControlAddress/init(text:)`` reads it.
  var web: String?
  /// What requests to it have to know; nil for a new one at each start.
  var webToken: String?
  /// The port of secondary transports; 0 is any free one, below 0 none is offered.
  var secondaryPort: Int32?
  /// The addresses from which secondary transports may come.
  var secondaryOrigin = SecondaryOrigin.same
  /// The transports for video, in order of preference.
  var videoTransports: [TransportRole]?
  var audioTransports: [TransportRole]?

  /// The audio format that a head unit announces.
  enum AnnouncedSound: Equatable, Sendable {
    /// Nothing: apps assume the default of ``PCMFormat``.
    case nothing
    case format(PCMFormat)
  }

  /// Nil for all addresses of this machine.
  var listeningAddress: String? { address == "*" ? nil : address }

  /// Nil if no page is served.
  var pageAddress: ControlAddress? {
    guard var address = web.flatMap(ControlAddress.init(text:)) else { return nil }
    address.token = webToken ?? ControlAddress.newToken
    return address
  }

  /// The phone to whose apps it connects over Bluetooth, instead of listening; nil to listen.
  ///
  /// - Throws: if the property is not a phone's address.
  func phone() throws(ElementError) -> BluetoothAddress? {
    let prefix = "bluetooth:"
    guard address.lowercased().hasPrefix(prefix) else { return nil }
    guard let phone = BluetoothAddress(String(address.dropFirst(prefix.count))) else {
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "The property address can't be used: '\(address)' names no phone; write bluetooth:AA:BB:CC:DD:EE:FF")
    }
    return phone
  }

  var configuration: HeadUnitConfiguration {
    var configuration = preset.configuration
    configuration.isStrict = isStrict
    configuration.reportsMessages = conversation.path != nil || web != nil
    if let make { configuration.vehicle.make = make }
    if let model { configuration.vehicle.model = model }
    switch sound {
    case .format(let format)?: configuration.pcmFormat = format
    case .nothing?: configuration.pcmFormat = nil
    case nil: break
    }
    if let secondaryPort { configuration.behaviour.secondaryTransport = secondaryPort < 0 ? .off : .served }
    if let videoTransports { configuration.behaviour.videoTransports = videoTransports }
    if let audioTransports { configuration.behaviour.audioTransports = audioTransports }
    return configuration
  }

  var soundFormat: PCMFormat { configuration.pcmFormat ?? PCMFormat() }
}

/// Properties whose values come from the preset until they are set.
extension HeadUnitSettings {
  var effectiveMake: String? {
    get { configuration.vehicle.make }
    set { make = newValue }
  }
  var effectiveModel: String? {
    get { configuration.vehicle.model }
    set { model = newValue }
  }
  var effectiveSecondaryPort: Int32 {
    get { secondaryPort ?? (configuration.behaviour.secondaryTransport == .served ? 0 : -1) }
    set { secondaryPort = newValue }
  }
  var effectiveVideoTransports: [TransportRole]? {
    get { configuration.behaviour.videoTransports }
    set { videoTransports = newValue }
  }
  var effectiveAudioTransports: [TransportRole]? {
    get { configuration.behaviour.audioTransports }
    set { audioTransports = newValue }
  }
  var effectiveSound: AnnouncedSound? {
    get { configuration.pcmFormat.map { .format($0) } ?? .nothing }
    set { sound = newValue }
  }
}

/// Several elements that are one head unit.
extension HeadUnitSettings {
  /// A property that elements of one head unit have in common.
  private struct Common: Sendable {
    var name: String
    var isDefault: @Sendable (HeadUnitSettings) -> Bool
    var isSame: @Sendable (HeadUnitSettings, HeadUnitSettings) -> Bool
    var copy: @Sendable (HeadUnitSettings, inout HeadUnitSettings) -> Void

    init<Value: Equatable & SendableMetatype>(
      _ name: String, _ path: WritableKeyPath<HeadUnitSettings, Value> & Sendable
    ) {
      self.name = name
      isDefault = { $0[keyPath: path] == HeadUnitSettings()[keyPath: path] }
      isSame = { $0[keyPath: path] == $1[keyPath: path] }
      copy = { $1[keyPath: path] = $0[keyPath: path] }
    }
  }

  private static let common: [Common] = [
    Common("announce", \.isAnnounced), Common("preset", \.preset), Common("make", \.make), Common("model", \.model),
    Common("pcm-capabilities", \.sound), Common("strict", \.isStrict), Common("hmi-level", \.hmiLevel),
    Common("audio-streaming", \.audioStreaming), Common("script", \.script),
    Common("conversation-log", \.conversation.path), Common("conversation-blank", \.conversation.isBlank),
    Common("web", \.web), Common("web-token", \.webToken), Common("secondary-port", \.secondaryPort),
    Common("secondary-from", \.secondaryOrigin),
    Common("video-transports", \.videoTransports),
    Common("audio-transports", \.audioTransports),
  ]

  /// These settings, completed with those that only `other` has set.
  func completed(by other: HeadUnitSettings) -> HeadUnitSettings {
    var completed = self
    for property in Self.common where property.isDefault(completed) { property.copy(other, &completed) }
    return completed
  }

  /// The properties that `other` has set to other values.
  func contradictions(by other: HeadUnitSettings) -> [String] {
    Self.common.filter { !$0.isDefault(other) && !$0.isSame(self, other) }.map(\.name)
  }
}

/// Values of the property `preset`.
extension HeadUnitPreset: ObjectEnumeration {
  package static let objectType = EnumerationType<HeadUnitPreset>("GstSdlHeadUnitPreset")

  package var row: EnumerationRow {
    switch self {
    case .standard: .init(0, "default", "800×480, a plain H.264 byte stream")
    case .core: .init(1, "core", "SDL Core as shipped, for an app that its policies do not list: no touches")
    case .genericHMI: .init(2, "generic-hmi", "SDL's generic web HMI: 960×600, three scales")
    case .legacy: .init(3, "legacy", "Protocol 4, without a video capability")
    case .hostile: .init(4, "hostile", "All known faults of head units at once")
    case .bluetoothAndWiFi:
      .init(5, "bluetooth-and-wifi", "As default, with a secondary transport that video has to use")
    case .listedInCore: .init(6, "core-listed", "As core, for an app that the maker has listed: with touches")
    }
  }
}

/// Values of the property `secondary-from`.
extension SecondaryOrigin: ObjectEnumeration {
  package static let objectType = EnumerationType<SecondaryOrigin>("GstSdlHeadUnitSecondaryOrigin")

  package var row: EnumerationRow {
    switch self {
    case .same: .init(0, "same", "The address of the app's first connection")
    case .any: .init(1, "any", "Any address, for phones that have several")
    }
  }
}
