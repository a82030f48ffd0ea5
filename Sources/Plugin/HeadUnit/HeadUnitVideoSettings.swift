import SDLHeadUnit
import SDLMessages

/// The user's settings of a head unit's video. Values that are nil come from the preset.
struct HeadUnitVideoSettings: Equatable, Sendable {
  var screen: VideoSize?
  var additionalSizes: [SizeWithScale]?
  /// Here and below, 0 leaves the value out of the capability.
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
  var isStreamable = true
  var encryption = HeadUnitSecurity.refuse
  /// Whether RPCs have to be encrypted as well, if video may be encrypted.
  var requiresRPCEncryption = false
  var tls = TLSSettings(role: .client)
  /// Groups of policies beside those of the preset.
  var grants: Set<PolicyGroup> = []

  /// These settings with the protection of `running`: a head unit gets its certificates when it begins to listen.
  ///
  /// - Parameter running: the present settings for video; nil if there was no element for video.
  func keepingProtection(of running: HeadUnitVideoSettings?) -> HeadUnitVideoSettings {
    var video = self
    video.encryption = running?.encryption ?? .refuse
    video.requiresRPCEncryption = running?.requiresRPCEncryption ?? false
    if let running { video.tls = running.tls }
    return video
  }

  /// Writes the values that are set into the head unit's configuration.
  func apply(to configuration: inout HeadUnitConfiguration) {
    configuration.security = encryption
    configuration.beginsHandshake = tls.role == .client
    configuration.requiresRPCEncryption = requiresRPCEncryption && encryption != .refuse
    configuration.policy.grant(grants)
    if let screen { configuration.setScreen(screen) }
    guard var capability = configuration.videoCapability else { return }
    if let additionalSizes { capability.additionalCapabilities = additionalSizes.map(\.capability) }
    if let scale { capability.scale = scale > 0 ? scale : nil }
    if let diagonal { capability.diagonalScreenSize = diagonal > 0 ? diagonal : nil }
    if let pixelDensity { capability.pixelPerInch = pixelDensity > 0 ? pixelDensity : nil }
    if let formats { capability.supportedFormats = formats }
    if let maxBitrate { capability.maxBitrate = maxBitrate > 0 ? Int(maxBitrate) : nil }
    if let frameRate { capability.preferredFPS = frameRate > 0 ? Int(frameRate) : nil }
    if let hasHaptics { capability.hapticSpatialDataSupported = hasHaptics }
    configuration.videoCapability = capability
  }
}

/// Properties whose values come from the preset until they are set.
extension HeadUnitElementSettings {
  private var configuration: HeadUnitConfiguration { setup(for: .video).configuration }
  private var capability: VideoStreamingCapability { configuration.videoCapability ?? VideoStreamingCapability() }

  var effectiveScreen: VideoSize? {
    get { configuration.screen }
    set { video.screen = newValue }
  }
  var effectiveAdditionalSizes: [SizeWithScale]? {
    get { (capability.additionalCapabilities ?? []).filter { $0.preferredResolution != nil }.map(SizeWithScale.init) }
    set { video.additionalSizes = newValue }
  }
  var effectiveScale: Double {
    get { capability.scale ?? 0 }
    set { video.scale = newValue }
  }
  var effectiveDiagonal: Double {
    get { capability.diagonalScreenSize ?? 0 }
    set { video.diagonal = newValue }
  }
  var effectivePixelDensity: Double {
    get { capability.pixelPerInch ?? 0 }
    set { video.pixelDensity = newValue }
  }
  var effectiveFormats: [VideoStreamingFormat]? {
    get { capability.supportedFormats }
    set { video.formats = newValue }
  }
  var effectiveMaxBitrate: UInt32 {
    get { UInt32(clamping: capability.maxBitrate ?? 0) }
    set { video.maxBitrate = newValue }
  }
  var effectiveFrameRate: UInt32 {
    get { UInt32(clamping: capability.preferredFPS ?? 0) }
    set { video.frameRate = newValue }
  }
  var effectiveHaptics: Bool {
    get { capability.hapticSpatialDataSupported ?? false }
    set { video.hasHaptics = newValue }
  }
}
