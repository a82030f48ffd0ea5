import SDLMessages
import Testing

/// The RPCs' parameters against literal JSON, both directions.
@Suite struct ParametersTests {
  @Test func registerAppInterface() throws {
    let request = RegisterAppInterface(
      rpcVersion: RPCVersion(7, 1, 0), appName: "Navi", appID: "8675309", language: "DE-DE", isMediaApplication: true,
      appTypes: [.navigation, .projection])
    let text = """
      {"appHMIType":["NAVIGATION","PROJECTION"],"appID":"8675309","appName":"Navi","fullAppID":"8675309",
       "hmiDisplayLanguageDesired":"DE-DE","isMediaApplication":true,"languageDesired":"DE-DE",
       "syncMsgVersion":{"majorVersion":7,"minorVersion":1,"patchVersion":0}}
      """
    #expect(try request.json == json(text))
    #expect(try RegisterAppInterface(json: json(text)) == request)
  }

  @Test func registerAppInterfaceResponse() throws {
    var response = RegisterAppInterfaceResponse(
      result: RPCResult(success: true, resultCode: .wrongLanguage, info: "other language"))
    response.rpcVersion = RPCVersion(8, 0, 0)
    response.language = "EN-US"
    response.displayLanguage = "EN-US"
    response.videoStreaming = true
    response.graphicSupported = true
    response.screenResolution = VideoSize(800, 480)
    response.make = "SDL"
    response.model = "Generic"
    response.modelYear = "2019"
    response.trim = "SE"
    response.systemSoftwareVersion = "1.0"
    let text = """
      {"success":true,"resultCode":"WRONG_LANGUAGE","info":"other language","language":"EN-US",
       "hmiDisplayLanguage":"EN-US","syncMsgVersion":{"majorVersion":8,"minorVersion":0,"patchVersion":0},
       "hmiCapabilities":{"videoStreaming":true},"systemSoftwareVersion":"1.0",
       "vehicleType":{"make":"SDL","model":"Generic","modelYear":"2019","trim":"SE"},
       "displayCapabilities":{"displayType":"SDL_GENERIC","displayName":"SDL","graphicSupported":true,
         "mediaClockFormats":[],
         "textFields":[{"name":"mainField1","characterSet":"UTF_8","width":40,"rows":1}],
         "screenParams":{"resolution":{"resolutionWidth":800,"resolutionHeight":480},
           "touchEventAvailable":{"pressAvailable":true,"multiTouchAvailable":true,"doublePressAvailable":false}}}}
      """
    #expect(try response.json == json(text))
    #expect(try RegisterAppInterfaceResponse(json: json(text)) == response)
  }

  @Test func refusedRegistration() throws {
    let text = #"{"success":false,"resultCode":"TOO_MANY_APPLICATIONS"}"#
    let response = RegisterAppInterfaceResponse(result: RPCResult(success: false, resultCode: .tooManyApplications))
    #expect(try response.json == json(text))
    #expect(try RegisterAppInterfaceResponse(json: json(text)) == response)
  }

  @Test func results() throws {
    #expect(try RPCResult(json: json(#"{"success":true,"resultCode":"SOMETHING_NEW"}"#)).success)
    #expect(try RPCResult(json: json(#"{"success":true,"resultCode":"SOMETHING_NEW"}"#)).resultCode == "SOMETHING_NEW")
    #expect(try !RPCResult(json: json(#"{"resultCode":"SUCCESS"}"#)).success)
    #expect(try !RPCResult(json: json(#"{"success":1}"#)).success)
  }

  @Test func versionsInOrder() {
    #expect(RPCVersion(4, 5, 1) < RPCVersion(5) && RPCVersion(8).description == "8.0.0")
    #expect(RPCVersion(5, 0, 9) < RPCVersion(5, 1))
  }

  @Test(arguments: HMILevel.allCases, VideoStreamingState.allCases)
  func onHMIStatus(level: HMILevel, state: VideoStreamingState) throws {
    let status = HMIStatus(
      level: level, audioStreamingState: .attenuated, systemContext: .obscured, videoStreamingState: state, windowID: 1)
    let text = """
      {"hmiLevel":"\(level.rawValue)","audioStreamingState":"ATTENUATED","systemContext":"HMI_OBSCURED",
       "videoStreamingState":"\(state.rawValue)","windowID":1}
      """
    #expect(try status.json == json(text))
    #expect(try HMIStatus(json: json(text)) == status)
    #expect(status.allowsVideo == ((level == .full || level == .limited) && state == .streamable))
    #expect(status.allowsAudio(isMedia: false) == (level == .full || level == .limited))
    #expect(status.allowsAudio(isMedia: true) == (level != HMILevel.none))
    #expect(status.isAudible)
  }

  /// What the car's and the app's own rules ask for together.
  @Test func protectionOfRPCs() {
    typealias Protection = OnPermissionsChange.Protection
    let (some, others) = (Protection.functions([.show]), Protection.functions([.alert]))
    #expect(some.includes(.show) && !some.includes(.alert) && Protection.all.includes(.alert))
    #expect(some.union(others) == .functions([.show, .alert]))
    #expect(some.union(.all) == .all && Protection.all.union(some) == .all)
    for (protection, isRequired) in [(some, true), (.all, true), (.functions([]), false)] {
      var permissions = OnPermissionsChange(allowedLevels: [:])
      permissions.protection = protection
      #expect(permissions.requiresEncryption == isRequired)
    }
  }

  @Test func hmiStatusOfOldHeadUnits() throws {
    let text = #"{"hmiLevel":"FULL","audioStreamingState":"AUDIBLE","systemContext":"MAIN"}"#
    #expect(try HMIStatus(json: json(text)).allowsVideo, "absent means STREAMABLE")
    #expect(try HMIStatus(json: json(text)).windowID == 0)
  }

  @Test func getSystemCapability() throws {
    for (request, text) in [
      (
        GetSystemCapability(type: .videoStreaming, subscribe: true),
        #"{"systemCapabilityType":"VIDEO_STREAMING","subscribe":true}"#
      ),
      (GetSystemCapability(type: .displays, subscribe: nil), #"{"systemCapabilityType":"DISPLAYS"}"#),
    ] {
      #expect(try request.json == json(text))
      #expect(try GetSystemCapability(json: json(text)) == request)
    }
    #expect(try GetSystemCapability(json: json(#"{"systemCapabilityType":"PHONE_CALL"}"#)).type == nil)
  }

  @Test func systemCapability() throws {
    var root = VideoStreamingCapability()
    root.preferredResolution = VideoSize(800, 380)
    root.maxBitrate = 20000
    root.supportedFormats = [.rawH264, .rtpH264, VideoStreamingFormat(videoProtocol: "RTSP", codec: "Theora")]
    root.hapticSpatialDataSupported = true
    root.diagonalScreenSize = 8
    root.pixelPerInch = 96
    root.scale = 1.5
    root.preferredFPS = 15
    var additional = VideoStreamingCapability()
    additional.preferredResolution = VideoSize(480, 320)
    root.additionalCapabilities = [additional]
    let capability = SystemCapability(type: .videoStreaming, videoStreaming: root)
    let text = """
      {"systemCapability":{"systemCapabilityType":"VIDEO_STREAMING","videoStreamingCapability":{
        "preferredResolution":{"resolutionWidth":800,"resolutionHeight":380},"maxBitrate":20000,
        "supportedFormats":[{"protocol":"RAW","codec":"H264"},{"protocol":"RTP","codec":"H264"},
          {"protocol":"RTSP","codec":"Theora"}],
        "hapticSpatialDataSupported":true,"diagonalScreenSize":8.0,"pixelPerInch":96.0,"scale":1.5,"preferredFPS":15,
        "additionalVideoStreamingCapabilities":[
          {"preferredResolution":{"resolutionWidth":480,"resolutionHeight":320}}]}}}
      """
    #expect(try SystemCapability(json: json(text)) == capability)
    #expect(SystemCapability(json: capability.json) == capability)
    // Compared as text, because 8.0 is written, and read again, as 8.
    let written = capability.json.serialized
    #expect(try written == json(text).serialized)
    #expect(try SystemCapability(json: JSONObject(parsing: written)) == capability)
  }

  @Test func partialCapability() throws {
    let text =
      #"{"systemCapability":{"systemCapabilityType":"VIDEO_STREAMING","videoStreamingCapability":{"scale":2.5}}}"#
    var expected = VideoStreamingCapability()
    expected.scale = 2.5
    #expect(try SystemCapability(json: json(text)).videoStreaming == expected)
    #expect(try SystemCapability(json: json("{}")) == SystemCapability(type: nil))
  }

  @Test func onDriverDistraction() throws {
    let text = #"{"state":"DD_ON","lockScreenDismissalEnabled":true,"lockScreenDismissalWarning":"Swipe down"}"#
    let notification = OnDriverDistraction(
      isDistractionLimited: true, lockScreenDismissalEnabled: true, lockScreenDismissalWarning: "Swipe down")
    #expect(try notification.json == json(text))
    #expect(try OnDriverDistraction(json: json(text)) == notification)
    let off = OnDriverDistraction(isDistractionLimited: false)
    #expect(try off.json == json(#"{"state":"DD_OFF"}"#))
    #expect(try OnDriverDistraction(json: json(#"{"state":"DD_OFF"}"#)) == off)
  }

  @Test(arguments: UnregisteredReason.allCases) func onAppInterfaceUnregistered(reason: UnregisteredReason) throws {
    let text = #"{"reason":"\#(reason.rawValue)"}"#
    #expect(try OnAppInterfaceUnregistered(reason: reason).json == json(text))
    #expect(try OnAppInterfaceUnregistered(json: json(text)).reason == reason)
  }

  @Test func unknownReasonIsKept() throws {
    let notification = try OnAppInterfaceUnregistered(json: json(#"{"reason":"MOON_PHASE"}"#))
    #expect(notification.reason == nil && notification.reasonText == "MOON_PHASE")
  }

  @Test func onPermissionsChange() throws {
    let notification = OnPermissionsChange(
      allowedLevels: ["SendHapticData": [.full, .limited], "Alert": []], requiresEncryption: true)
    let text = """
      {"permissionItem":[
        {"rpcName":"Alert","hmiPermissions":{"allowed":[],"userDisallowed":[]},
         "parameterPermissions":{"allowed":[],"userDisallowed":[]}},
        {"rpcName":"SendHapticData","hmiPermissions":{"allowed":["FULL","LIMITED"],"userDisallowed":[]},
         "parameterPermissions":{"allowed":[],"userDisallowed":[]}}],
       "requireEncryption":true}
      """
    #expect(try notification.json == json(text))
    #expect(try OnPermissionsChange(json: json(text)) == notification)
  }

  @Test func onPermissionsChangeOfSingleFunctions() throws {
    var notification = OnPermissionsChange(allowedLevels: ["GetVehicleData": [.full], "Show": [.full]])
    notification.allowedParameters = ["GetVehicleData": ["gps"]]
    notification.protection = .functions([.show])
    let text = """
      {"permissionItem":[
        {"rpcName":"GetVehicleData","hmiPermissions":{"allowed":["FULL"],"userDisallowed":[]},
         "parameterPermissions":{"allowed":["gps"],"userDisallowed":[]}},
        {"rpcName":"Show","hmiPermissions":{"allowed":["FULL"],"userDisallowed":[]},
         "parameterPermissions":{"allowed":[],"userDisallowed":[]},"requireEncryption":true}],
       "requireEncryption":true}
      """
    #expect(try notification.json == json(text))
    #expect(try OnPermissionsChange(json: json(text)).protection == .functions([.show]))
  }

  /// What is known of the display, though it is one of both.
  @Test func displayOfARegistration() throws {
    func display(_ change: (inout RegisterAppInterfaceResponse) -> Void) -> JSONObject? {
      var response = RegisterAppInterfaceResponse(result: RPCResult(success: true, resultCode: .success))
      change(&response)
      return response.json["displayCapabilities"]?.object
    }
    let resolution = try #require(display { $0.screenResolution = VideoSize(800, 480) })
    #expect(resolution["graphicSupported"] == .bool(true) && resolution["screenParams"]?.object?.count == 2)
    let graphics = try #require(display { $0.graphicSupported = false })
    #expect(graphics["graphicSupported"] == .bool(false) && graphics["screenParams"] == nil)
    #expect(display { _ in } == nil)
  }

  /// What a partial update leaves of the capability of before.
  @Test func updatedCapability() throws {
    func entries(_ range: Range<Int>) -> String {
      range.map { #"{"preferredResolution":{"resolutionWidth":\#($0),"resolutionHeight":10}}"# }.joined(separator: ",")
    }
    func capability(_ members: String) throws -> VideoStreamingCapability {
      VideoStreamingCapability(json: try json("{\(members)}"))
    }
    let size = #""preferredResolution":{"resolutionWidth":99,"resolutionHeight":99}"#
    let large = try capability(#""scale":2,"additionalVideoStreamingCapabilities":[\#(entries(1..<106))]"#)
    #expect(large.unreadCapabilityCount == 5)
    // Neither a rate nor a scale is another layout.
    let rate = large.updated(by: try capability(#""preferredFPS":10,"scale":3"#))
    #expect(rate.additionalCapabilities == large.additionalCapabilities && rate.unreadCapabilityCount == 5)
    #expect(rate.preferredFPS == 10 && rate.scale == 3)
    let resized = rate.updated(by: try capability(size))
    #expect(resized.additionalCapabilities == nil && resized.unreadCapabilityCount == 0)
    #expect(resized.formerCapabilities == large.additionalCapabilities && resized.scale == 3)
    let listed = resized.updated(
      by: try capability(#""additionalVideoStreamingCapabilities":[\#(entries(1..<103))]"#))
    #expect(listed.formerCapabilities == [] && listed.unreadCapabilityCount == 2)
    #expect(listed.additionalCapabilities?.count == 100)
    // An update of several at once may have replaced a newer list.
    let combined = try capability(#""additionalVideoStreamingCapabilities":[\#(entries(7..<9))]"#).updated(
      by: try capability(size))
    let other = try capability(#""preferredResolution":{"resolutionWidth":98,"resolutionHeight":98}"#)
    #expect(listed.updated(by: other).updated(by: combined).formerCapabilities == combined.formerCapabilities)
    #expect(combined.formerCapabilities.count == 2)
  }
}
