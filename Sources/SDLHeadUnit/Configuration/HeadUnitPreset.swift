import SDLMessages
import SDLWire

package enum HeadUnitPreset: String, CaseIterable, Sendable {
  /// An 800×480 screen that takes H.264 as a byte stream alone.
  case standard = "default"
  /// SDL Core as it is shipped: its capabilities (`hmi_capabilities.json`), and its policies, which name no app.
  case core
  /// ``core`` of a maker whose policies list the app.
  case listedInCore = "core-listed"
  /// SDL's generic web HMI: 960×600, with three scales to choose from.
  case genericHMI = "generic-hmi"
  /// Protocol 4, RPC 4.4: no video capability, only the size of the screen.
  case legacy
  /// ``standard`` as a car that connects to phones over Bluetooth, and takes video only over Wi-Fi; sound may use
  /// either.
  case bluetoothAndWiFi = "bluetooth-and-wifi"
  /// All deviations that were observed on head units, at once.
  case hostile

  /// The head unit's configuration; only that of ``hostile`` deviates from a healthy SDL Core.
  package var configuration: HeadUnitConfiguration {
    switch self {
    case .standard:
      var capability = VideoStreamingCapability(800, 480, inches: 8, scale: 1)
      capability.maxBitrate = 10_000
      capability.supportedFormats = [.rawH264]
      capability.pixelPerInch = 117
      capability.preferredFPS = 30
      return HeadUnitConfiguration(screen: VideoSize(800, 480), videoCapability: capability)
    case .core:
      var configuration = Self.listedInCore.configuration
      configuration.policy = .unknownApp
      return configuration
    case .listedInCore:
      return HeadUnitConfiguration(screen: VideoSize(800, 380), videoCapability: Self.coreCapability)
    case .genericHMI:
      return HeadUnitConfiguration(screen: VideoSize(960, 600), videoCapability: Self.genericCapability)
    case .legacy:
      var configuration = HeadUnitConfiguration(screen: VideoSize(800, 480), videoCapability: nil)
      configuration.maximumProtocolVersion = ProtocolVersion(4)
      configuration.rpcVersion = RPCVersion(4, 4)
      return configuration
    case .bluetoothAndWiFi:
      var configuration = Self.standard.configuration
      configuration.behaviour.secondaryTransport = .served
      configuration.behaviour.videoTransports = [.secondary]
      configuration.behaviour.audioTransports = [.secondary, .primary]
      return configuration
    case .hostile: return .hostile
    }
  }

  private static let coreFormats: [VideoStreamingFormat] = [
    .rawH264, .rtpH264, VideoStreamingFormat(videoProtocol: "RTSP", codec: "Theora"),
    VideoStreamingFormat(videoProtocol: "RTMP", codec: "VP8"),
    VideoStreamingFormat(videoProtocol: "WEBM", codec: "VP9"),
  ]

  private static var coreCapability: VideoStreamingCapability {
    var root = VideoStreamingCapability(800, 380, inches: 8, scale: 1)
    root.maxBitrate = 20_000
    root.supportedFormats = coreFormats
    root.pixelPerInch = 96
    root.preferredFPS = 15
    var withoutHaptics = VideoStreamingCapability(320, 200, inches: 3)
    withoutHaptics.hapticSpatialDataSupported = false
    root.additionalCapabilities = [
      VideoStreamingCapability(800, 380, inches: 8, scale: 1),
      withoutHaptics,
      VideoStreamingCapability(480, 320, inches: 5),
      VideoStreamingCapability(400, 380, inches: 4),
      VideoStreamingCapability(800, 240, inches: 4),
      VideoStreamingCapability(800, 380, inches: 5, scale: 1.5),
      VideoStreamingCapability(800, 380, inches: 4, scale: 2),
    ]
    return root
  }

  private static var genericCapability: VideoStreamingCapability {
    var root = VideoStreamingCapability(960, 600, inches: 7, scale: 1)
    // In kbit/s, as the real one says; bit/s were meant.
    root.maxBitrate = 400_000
    root.supportedFormats = coreFormats
    root.preferredFPS = 30
    root.additionalCapabilities = [
      VideoStreamingCapability(960, 600, inches: 7, scale: 1.5),
      VideoStreamingCapability(960, 600, inches: 7, scale: 2),
    ]
    return root
  }
}

extension VideoStreamingCapability {
  fileprivate init(_ width: Int, _ height: Int, inches: Double, scale: Double? = nil) {
    self.init()
    preferredResolution = VideoSize(width, height)
    hapticSpatialDataSupported = true
    diagonalScreenSize = inches
    self.scale = scale
  }
}

extension HeadUnitConfiguration {
  /// All deviations that were observed on head units, as far as an app can still stream: an odd size, which is
  /// acknowledged as 0×0, duplicate and invalid additional capabilities, 0 frames per second, FULL before the
  /// permissions, unrequested notifications, and every EndService twice.
  package static var hostile: HeadUnitConfiguration {
    var capability = VideoStreamingCapability()
    capability.preferredResolution = VideoSize(801, 479)
    capability.supportedFormats = [
      VideoStreamingFormat(videoProtocol: "WEBM", codec: "VP9"), .rawH264, .rawH264, .rtpH264,
    ]
    capability.hapticSpatialDataSupported = false
    capability.diagonalScreenSize = 0
    capability.pixelPerInch = 0
    capability.preferredFPS = 0
    var duplicate = VideoStreamingCapability()
    duplicate.preferredResolution = capability.preferredResolution
    var tiny = VideoStreamingCapability()
    tiny.preferredResolution = VideoSize(3, 1)
    tiny.scale = 10
    capability.additionalCapabilities = [duplicate, duplicate, tiny, VideoStreamingCapability()]
    var configuration = HeadUnitConfiguration(screen: VideoSize(801, 479), videoCapability: capability)
    configuration.behaviour.videoStarts = [.acknowledge(VideoServiceParameters(width: 0, height: 0))]
    configuration.behaviour.endsVideoServiceTwice = true
    configuration.behaviour.sendsCoreNotifications = true
    configuration.behaviour.policyUpdateSize = 140_000
    configuration.behaviour.activatesBeforePermissions = true
    return configuration
  }
}
