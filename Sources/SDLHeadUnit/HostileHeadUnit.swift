import SDLMessages
import SDLWire

extension HeadUnitConfiguration {
  /// All deviations that were observed on head units, as far as an app can still stream: an odd size, which is acknowledged
  /// as 0×0, duplicate and invalid additional capabilities, 0 frames per second, FULL before the permissions, unrequested
  /// notifications, and every EndService twice.
  public static var hostile: HeadUnitConfiguration {
    var capability = VideoStreamingCapability()
    capability.preferredResolution = ImageResolution(801, 479)
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
    tiny.preferredResolution = ImageResolution(3, 1)
    tiny.scale = 10
    capability.additionalCapabilities = [duplicate, duplicate, tiny, VideoStreamingCapability()]
    var configuration = HeadUnitConfiguration(screen: ImageResolution(801, 479), videoCapability: capability)
    configuration.behaviour.videoStarts = [.acknowledge(VideoServiceParameters(width: 0, height: 0))]
    configuration.behaviour.endsVideoServiceTwice = true
    configuration.behaviour.sendsCoreNotifications = true
    configuration.behaviour.policyUpdateSize = 140_000
    configuration.behaviour.activatesBeforePermissions = true
    return configuration
  }
}
