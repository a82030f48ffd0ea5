/// GetSystemCapability, request.
package struct GetSystemCapability: RPCParameters {
  /// Nil when the type is not known here.
  package var type: SystemCapabilityType?
  /// True subscribes to OnSystemCapabilityUpdated, false ends the subscription, nil leaves it as it is.
  package var subscribe: Bool?

  package init(type: SystemCapabilityType?, subscribe: Bool?) {
    self.type = type
    self.subscribe = subscribe
  }

  package init(json: JSONObject) {
    self.init(type: json.enumeration("systemCapabilityType"), subscribe: json["subscribe"]?.bool)
  }

  package var json: JSONObject {
    JSONObject(present: [
      "systemCapabilityType": type.map { .string($0.rawValue) }, "subscribe": subscribe.map(JSONValue.bool),
    ])
  }
}

/// The `systemCapability` member of the answer to GetSystemCapability and of OnSystemCapabilityUpdated.
package struct SystemCapability: RPCParameters {
  /// Nil when the type is not known here.
  package var type: SystemCapabilityType?
  package var videoStreaming: VideoStreamingCapability?
  /// Of `displayCapabilities`: the buttons that can be subscribed to in the main window.
  package var buttons: [ButtonName]?

  package init(
    type: SystemCapabilityType?, videoStreaming: VideoStreamingCapability? = nil, buttons: [ButtonName]? = nil
  ) {
    self.type = type
    self.videoStreaming = videoStreaming
    self.buttons = buttons
  }

  /// Reads the parameters that contain `systemCapability`.
  package init(json: JSONObject) {
    let capability = json["systemCapability"]?.object ?? [:]
    self.init(
      type: capability.enumeration("systemCapabilityType"),
      videoStreaming: capability["videoStreamingCapability"]?.object.map(VideoStreamingCapability.init(json:)),
      buttons: Self.buttons(of: capability["displayCapabilities"]?.array?.first?.object))
  }

  /// The first display is the one that apps are shown on; windows other than 0 are widgets.
  private static func buttons(of display: JSONObject?) -> [ButtonName]? {
    let windows = (display?["windowCapabilities"]?.array ?? []).lazy.compactMap(\.object)
    let main = windows.first { ($0["windowID"]?.integer ?? 0) == 0 }
    return ButtonName.list(in: main?["buttonCapabilities"])
  }

  package var json: JSONObject {
    [
      "systemCapability": .object(
        JSONObject(present: [
          "systemCapabilityType": type.map { .string($0.rawValue) },
          "videoStreamingCapability": videoStreaming.map { .object($0.json) },
          "displayCapabilities": buttons.map { buttons in
            .array([
              .object([
                "windowCapabilities": .array([.object(["buttonCapabilities": ButtonName.capabilities(buttons)])])
              ])
            ])
          },
        ]))
    ]
  }
}

/// OnAppCapabilityUpdated, from the app (RPC 7.1): the sizes that it can stream, so that the head unit changes only to
/// those.
package struct OnAppCapabilityUpdated: RPCParameters {
  /// Nil when the type is not known here.
  package var type: SystemCapabilityType?
  package var videoStreaming: VideoStreamingCapability?

  package init(type: SystemCapabilityType?, videoStreaming: VideoStreamingCapability?) {
    self.type = type
    self.videoStreaming = videoStreaming
  }

  /// Creates the list of those entries of the head unit's capability that the app supports. As in the mobile libraries,
  /// all of them are additional ones, the capability's own too.
  package init(supported entries: [VideoStreamingCapability]) {
    var capability = VideoStreamingCapability()
    capability.additionalCapabilities = entries
    self.init(type: .videoStreaming, videoStreaming: capability)
  }

  package init(json: JSONObject) {
    let capability = json["appCapability"]?.object ?? [:]
    self.init(
      type: capability.enumeration("appCapabilityType"),
      videoStreaming: capability["videoStreamingCapability"]?.object.map(VideoStreamingCapability.init(json:)))
  }

  package var json: JSONObject {
    [
      "appCapability": .object(
        JSONObject(present: [
          "appCapabilityType": type.map { .string($0.rawValue) },
          "videoStreamingCapability": videoStreaming.map { .object($0.json) },
        ]))
    ]
  }
}
