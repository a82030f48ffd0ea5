import GStreamerKit
import SDLHeadUnit
import SDLMessages

/// What the user asked for. What is nil comes from the preset.
struct HeadUnitSourceSettings: Sendable {
  var address = "127.0.0.1"
  var port = HeadUnitURI.defaultPort
  var preset = HeadUnitSourcePreset.standard
  var make: String?
  var model: String?
  var screen: ImageResolution?
  var additionalSizes: [SizeWithScale]?
  /// 0 in this and the next ones: nothing is said of it.
  var scale: Double?
  /// Inches.
  var diagonal: Double?
  /// Pixels per inch.
  var pixelDensity: Double?
  var formats: [VideoStreamingFormat]?
  /// kbit/s.
  var maxBitrate: UInt32?
  var frameRate: UInt32?
  var hasHaptics: Bool?
  var isStrict = true
  var endsWithApp = false
  var hmiLevel = HMILevel.full
  var isStreamable = true
  /// What was set last and can't be read, by the property's id.
  var malformed: [UInt32: Malformed] = [:]

  /// Why the text of a property says nothing.
  struct Malformed: Error, Equatable, CustomStringConvertible {
    var description: String
  }

  /// Of no name means all addresses of this machine.
  var listeningAddress: String? { address.isEmpty || address == "*" ? nil : address }

  /// What apps are told.
  var configuration: HeadUnitConfiguration {
    var configuration = preset.configuration
    configuration.isStrict = isStrict
    if let make { configuration.vehicle.make = make }
    if let model { configuration.vehicle.model = model }
    if let screen { configuration.screen = screen }
    guard var capability = configuration.videoCapability else { return configuration }
    if let screen {
      capability.preferredResolution = screen
      // Those of the preset belong to its own screen.
      capability.additionalCapabilities = nil
    }
    if let additionalSizes { capability.additionalCapabilities = additionalSizes.map(\.capability) }
    if let scale { capability.scale = scale > 0 ? scale : nil }
    if let diagonal { capability.diagonalScreenSize = diagonal > 0 ? diagonal : nil }
    if let pixelDensity { capability.pixelPerInch = pixelDensity > 0 ? pixelDensity : nil }
    if let formats { capability.supportedFormats = formats }
    if let maxBitrate { capability.maxBitrate = maxBitrate > 0 ? Int(maxBitrate) : nil }
    if let frameRate { capability.preferredFPS = frameRate > 0 ? Int(frameRate) : nil }
    if let hasHaptics { capability.hapticSpatialDataSupported = hasHaptics }
    configuration.videoCapability = capability
    return configuration
  }

  /// The status of an app on the screen.
  var status: HMIStatus {
    let isVisible = hmiLevel == .full || hmiLevel == .limited
    return HMIStatus(
      level: hmiLevel, audioStreamingState: isVisible ? .audible : .notAudible,
      videoStreamingState: isVisible && isStreamable ? .streamable : .notStreamable)
  }
}

/// A size of the screen with the scale of the video in it.
struct SizeWithScale: Equatable, Sendable, CustomStringConvertible {
  var size: ImageResolution
  var scale: Double?

  var capability: VideoStreamingCapability {
    var capability = VideoStreamingCapability()
    capability.preferredResolution = size
    capability.scale = scale
    return capability
  }

  var description: String { size.text + (scale.map { "@\($0)" } ?? "") }

  /// "800x480" or "800x480@1.5".
  init?(text: String) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let size = ImageResolution(text: String(parts[0])) else { return nil }
    self.size = size
    guard parts.count > 1 else { return }
    guard let scale = Double(parts[1]), (1...10).contains(scale) else { return nil }
    self.scale = scale
  }

  init(_ capability: VideoStreamingCapability) {
    size = capability.preferredResolution ?? ImageResolution(0, 0)
    scale = capability.scale
  }
}

extension ImageResolution {
  /// "800x480".
  var text: String { "\(width)x\(height)" }
}

extension VideoStreamingFormat {
  /// "RAW/H264".
  var text: String { "\(videoProtocol)/\(codec)" }

  init?(text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    self.init(videoProtocol: String(parts[0]), codec: String(parts[1]))
  }
}
