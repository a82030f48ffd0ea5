/// OnAppCapabilityUpdated, from the app (RPC 7.1): what it can stream, so that the head unit knows to which sizes it may
/// change.
public struct OnAppCapabilityUpdated: RPCParameters {
  /// Nil when the type is not known here.
  public var type: SystemCapabilityType?
  public var videoStreaming: VideoStreamingCapability?

  /// Memberwise.
  public init(type: SystemCapabilityType?, videoStreaming: VideoStreamingCapability?) {
    self.type = type
    self.videoStreaming = videoStreaming
  }

  /// Lists what the app supports of the head unit's own entries, as the mobile libraries do: all of them as additional
  /// ones, also the root's.
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
