import GStreamerKit
import SDLHeadUnit
import SDLMessages

/// What the user asked for. What is nil comes from the preset.
struct HeadUnitSourceSettings: HeadUnitElementSettings {
  var headUnit = HeadUnitSettings()
  var video = HeadUnitVideoSettings()
  var endsWithApp = false

  var headUnitVideo: HeadUnitVideoSettings? { video }
}

/// Properties whose values come from the preset until they are set.
extension HeadUnitSourceSettings {
  private var capability: VideoStreamingCapability { setup.configuration.videoCapability ?? VideoStreamingCapability() }

  var effectiveScreen: ImageResolution? {
    get { setup.configuration.screen }
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
