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
  /// Path of a behaviour script.
  var script: String?
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
