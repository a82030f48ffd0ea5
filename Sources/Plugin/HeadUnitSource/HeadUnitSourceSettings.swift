import GStreamerKit
import SDLHeadUnit
import SDLMessages

/// What the user asked for. What is nil comes from the preset.
struct HeadUnitSourceSettings: PropertySettings {
  var address = "127.0.0.1"
  var port = HeadUnitURI.defaultPort
  var preset = HeadUnitSourcePreset.standard
  var make: String?
  var model: String?
  var screen: ImageResolution?
  var additionalSizes: [SizeWithScale]?
  /// In this and the following ones, 0 leaves the value out of the capability.
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
  var encryption = HeadUnitSecurity.refuse
  var tls = TLSSettings()

  /// An empty name means all addresses of this machine.
  var listeningAddress: String? { address.isEmpty || address == "*" ? nil : address }

  /// What the head unit is to apps.
  var configuration: HeadUnitConfiguration {
    var configuration = preset.configuration
    configuration.isStrict = isStrict
    configuration.security = encryption
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

/// Properties whose values come from the preset until they are set.
extension HeadUnitSourceSettings {
  private var capability: VideoStreamingCapability { configuration.videoCapability ?? VideoStreamingCapability() }

  var effectiveMake: String? {
    get { configuration.vehicle.make }
    set { make = newValue }
  }
  var effectiveModel: String? {
    get { configuration.vehicle.model }
    set { model = newValue }
  }
  var effectiveScreen: ImageResolution? {
    get { configuration.screen }
    set { screen = newValue }
  }
  var effectiveAdditionalSizes: [SizeWithScale]? {
    get { (capability.additionalCapabilities ?? []).filter { $0.preferredResolution != nil }.map(SizeWithScale.init) }
    set { additionalSizes = newValue }
  }
  var effectiveScale: Double {
    get { capability.scale ?? 0 }
    set { scale = newValue }
  }
  var effectiveDiagonal: Double {
    get { capability.diagonalScreenSize ?? 0 }
    set { diagonal = newValue }
  }
  var effectivePixelDensity: Double {
    get { capability.pixelPerInch ?? 0 }
    set { pixelDensity = newValue }
  }
  var effectiveFormats: [VideoStreamingFormat]? {
    get { capability.supportedFormats }
    set { formats = newValue }
  }
  var effectiveMaxBitrate: UInt32 {
    get { UInt32(clamping: capability.maxBitrate ?? 0) }
    set { maxBitrate = newValue }
  }
  var effectiveFrameRate: UInt32 {
    get { UInt32(clamping: capability.preferredFPS ?? 0) }
    set { frameRate = newValue }
  }
  var effectiveHaptics: Bool {
    get { capability.hapticSpatialDataSupported ?? false }
    set { hasHaptics = newValue }
  }
}
