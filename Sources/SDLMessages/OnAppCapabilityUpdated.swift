/// OnAppCapabilityUpdated, from the app (RPC 7.1): what it can stream, so that the head unit changes only to such sizes.
public struct OnAppCapabilityUpdated: RPCParameters {
  /// Nil when the type is not known here.
  public var type: SystemCapabilityType?
  public var videoStreaming: VideoStreamingCapability?

  /// Creates the notification for the capability of `type`.
  public init(type: SystemCapabilityType?, videoStreaming: VideoStreamingCapability?) {
    self.type = type
    self.videoStreaming = videoStreaming
  }

  /// Creates the list of those entries of the head unit's capability that the app supports. As in the mobile libraries,
  /// all of them are additional ones, the capability's own too.
  public init(supported entries: [VideoStreamingCapability]) {
    var capability = VideoStreamingCapability()
    capability.additionalCapabilities = entries
    self.init(type: .videoStreaming, videoStreaming: capability)
  }

  public init(json: JSONObject) {
    let capability = json["appCapability"]?.object ?? [:]
    self.init(
      type: capability.enumeration("appCapabilityType"),
      videoStreaming: capability["videoStreamingCapability"]?.object.map(VideoStreamingCapability.init(json:)))
  }

  public var json: JSONObject {
    [
      "appCapability": .object(
        JSONObject(present: [
          "appCapabilityType": type.map { .string($0.rawValue) },
          "videoStreamingCapability": videoStreaming.map { .object($0.json) },
        ]))
    ]
  }
}
