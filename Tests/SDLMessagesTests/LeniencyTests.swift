import SDLMessages
import Testing

/// Members that are unknown or of the wrong type are left out, and nothing else.
@Suite struct LeniencyTests {
  private static let capability = """
    {"preferredResolution":{"resolutionWidth":800,"resolutionHeight":380},"maxBitrate":20000,
     "supportedFormats":[{"protocol":"RAW","codec":"H264"}],"hapticSpatialDataSupported":true,
     "diagonalScreenSize":8.0,"pixelPerInch":96.0,"scale":1.5,"preferredFPS":15,
     "additionalVideoStreamingCapabilities":[{"scale":2.0}]}
    """
  private static let registration = """
    {"success":true,"resultCode":"SUCCESS","info":"i","language":"EN-US",
     "syncMsgVersion":{"majorVersion":8,"minorVersion":0},"hmiCapabilities":{"videoStreaming":true},
     "displayCapabilities":{"graphicSupported":true,
       "screenParams":{"resolution":{"resolutionWidth":800,"resolutionHeight":480}}},
     "vehicleType":{"make":"a","model":"b","modelYear":"c","trim":"d"},"systemSoftwareVersion":"e"}
    """
  private static let status = """
    {"hmiLevel":"FULL","audioStreamingState":"AUDIBLE","systemContext":"ALERT","videoStreamingState":"NOT_STREAMABLE",
     "windowID":3}
    """
  private static let wrongValues: [JSONValue] = [
    .null, .bool(true), .integer(-7), .integer(.max), .integer(.min), .number(.infinity), .number(1e300),
    .number(-0.5), .string(""), .string("WRONG"), .array([]), .array([.null, .array([]), .integer(1)]), .object([:]),
    .object(["resolutionWidth": .string("800"), "resolutionHeight": .integer(-1)]),
  ]

  /// Replaces one member after the other by values of other types; the rest must read as before.
  private func replaceEachMember<T: RPCParameters>(of text: String, as type: T.Type) throws {
    let original = try json(text)
    // All that is there is read, and written again.
    let expected = T(json: original).json
    #expect(JSONValue.object(expected).holds(.object(original)), "\(expected)")
    for (key, value) in original {
      for wrong in Self.wrongValues where wrong != value {
        var changed = original
        changed[key] = wrong
        let read = T(json: changed)
        for other in original.keys where other != key {
          #expect(read.json[other] == expected[other], "\(key) = \(wrong) changes \(other)")
        }
        // What was read can be written and read again.
        #expect(T(json: read.json) == read, "\(key) = \(wrong)")
      }
    }
  }

  @Test func wrongTypesOfEachMember() throws {
    try replaceEachMember(of: Self.capability, as: VideoStreamingCapability.self)
    try replaceEachMember(of: Self.registration, as: RegisterAppInterfaceResponse.self)
    try replaceEachMember(of: Self.status, as: HMIStatus.self)
    try replaceEachMember(
      of: #"{"state":"DD_ON","lockScreenDismissalEnabled":true,"lockScreenDismissalWarning":"w"}"#,
      as: OnDriverDistraction.self)
    try replaceEachMember(
      of: #"{"systemCapabilityType":"DISPLAYS","subscribe":false}"#, as: GetSystemCapability.self)
    try replaceEachMember(
      of: #"{"permissionItem":[{"rpcName":"A","hmiPermissions":{"allowed":["FULL"]}}],"requireEncryption":true}"#,
      as: OnPermissionsChange.self)
    try replaceEachMember(
      of: #"{"success":true,"resultCode":"SUCCESS","info":"i"}"#, as: RPCResult.self)
  }

  @Test func unknownKeys() throws {
    var extended = try json(Self.capability)
    let plain = VideoStreamingCapability(json: extended)
    extended["newInVersion9"] = .object(["deep": .array([.null])])
    #expect(VideoStreamingCapability(json: extended) == plain)
  }

  @Test func unknownEnumValues() throws {
    let status = try HMIStatus(
      json: json(
        """
        {"hmiLevel":"HALF","audioStreamingState":"LOUD","systemContext":"X","videoStreamingState":"MAYBE"}
        """))
    #expect(status.level == nil && !status.allowsVideo)
    #expect(status.audioStreamingState == .notAudible && status.systemContext == .main)
    let registration = try RegisterAppInterface(json: json(#"{"appHMIType":["NEW_IN_9","NAVIGATION",7]}"#))
    #expect(registration.appTypes == [.navigation])
    let permissions = try OnPermissionsChange(
      json: json(#"{"permissionItem":[{"rpcName":"A","hmiPermissions":{"allowed":["FULL","HALF"]}},{"x":1},7]}"#))
    #expect(permissions.allowedLevels == ["A": [.full]])
  }

  @Test func numbersInOtherSpellings() throws {
    let capability = try VideoStreamingCapability(
      json: json(
        """
        {"preferredResolution":{"resolutionWidth":800.0,"resolutionHeight":3.8e2},"maxBitrate":20000.0,
         "preferredFPS":15.0,"scale":1,"diagonalScreenSize":8}
        """))
    #expect(capability.preferredResolution == VideoSize(800, 380))
    #expect(capability.maxBitrate == 20000 && capability.preferredFPS == 15)
    #expect(capability.scale == 1 && capability.diagonalScreenSize == 8)
  }

  @Test(arguments: ["1e999", "-1e999", "99999999999999999999999", "2147483648", "-1", "9223372036854775807"])
  func numbersOutOfRange(text: String) throws {
    let capability = try VideoStreamingCapability(
      json: json(
        """
        {"preferredResolution":{"resolutionWidth":\(text),"resolutionHeight":380},"maxBitrate":\(text),
         "preferredFPS":\(text),"hapticSpatialDataSupported":true}
        """))
    var expected = VideoStreamingCapability()
    expected.hapticSpatialDataSupported = true
    #expect(capability == expected)
  }

  @Test(arguments: [(0, 380), (800, 0), (10_001, 380), (800, 10_001), (-800, 380)])
  func resolutionsOutOfRange(width: Int, height: Int) throws {
    let text = #"{"preferredResolution":{"resolutionWidth":\#(width),"resolutionHeight":\#(height)}}"#
    #expect(try VideoStreamingCapability(json: json(text)).preferredResolution == nil)
  }

  @Test func negativeMeasures() throws {
    let capability = try VideoStreamingCapability(json: json(#"{"diagonalScreenSize":-1,"pixelPerInch":-0.1}"#))
    #expect(capability == VideoStreamingCapability())
  }

  @Test func thousandsOfAdditionalCapabilities() throws {
    let entries = (0..<5000).map { #"{"preferredResolution":{"resolutionWidth":\#($0 + 1),"resolutionHeight":10}}"# }
    let text = #"{"additionalVideoStreamingCapabilities":[\#(entries.joined(separator: ","))]}"#
    let capability = try VideoStreamingCapability(json: json(text))
    #expect(capability.additionalCapabilities?.count == 100)
    #expect(capability.additionalCapabilities?.last?.preferredResolution == VideoSize(100, 10))
  }

  @Test func nestedAdditionalCapabilitiesAreIgnored() throws {
    let text = """
      {"additionalVideoStreamingCapabilities":[7,{"scale":2,"additionalVideoStreamingCapabilities":[{"scale":3}]},null]}
      """
    var inner = VideoStreamingCapability()
    inner.scale = 2
    #expect(try VideoStreamingCapability(json: json(text)).additionalCapabilities == [inner])
  }

  @Test func thousandsOfPermissions() throws {
    let items = (0..<2000).map { #"{"rpcName":"rpc\#($0)","hmiPermissions":{"allowed":["FULL"]}}"# }
    let text = #"{"permissionItem":[\#(items.joined(separator: ","))]}"#
    #expect(try OnPermissionsChange(json: json(text)).allowedLevels.count == 500)
  }

  @Test func lastPermissionOfEqualNamesCounts() throws {
    let text = """
      {"permissionItem":[{"rpcName":"A","hmiPermissions":{"allowed":["FULL"]}},
        {"rpcName":"A","hmiPermissions":{"allowed":["NONE"]}}]}
      """
    #expect(try OnPermissionsChange(json: json(text)).allowedLevels == ["A": [.none]])
  }
}

extension JSONValue {
  /// Whether it has all members of another value, and perhaps more.
  fileprivate func holds(_ other: JSONValue) -> Bool {
    switch (self, other) {
    case (.object(let all), .object(let some)):
      some.allSatisfy { key, value in all[key].map { $0.holds(value) } ?? false }
    case (.array(let all), .array(let some)):
      all.count == some.count && zip(all, some).allSatisfy { $0.holds($1) }
    default: self == other
    }
  }
}
