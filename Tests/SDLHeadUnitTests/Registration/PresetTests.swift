import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnit

/// The head units that can be chosen by name: what they announce, and how the odd ones behave.
@Suite struct PresetTests {
  /// A size of a list, with `hapticSpatialDataSupported` true.
  private static func size(_ width: Int, _ height: Int, _ members: String) -> String {
    #"{"preferredResolution":{"resolutionWidth":\#(width),"resolutionHeight":\#(height)},"#
      + #""hapticSpatialDataSupported":true,\#(members)}"#
  }

  private static let coreFormats =
    #""supportedFormats":[{"protocol":"RAW","codec":"H264"},"#
    + #"{"protocol":"RTP","codec":"H264"},{"protocol":"RTSP","codec":"Theora"},"#
    + #"{"protocol":"RTMP","codec":"VP8"},{"protocol":"WEBM","codec":"VP9"}]"#
  private static let coreSizes = [
    size(800, 380, #""diagonalScreenSize":8,"scale":1"#),
    size(320, 200, #""diagonalScreenSize":3"#).replacing(":true", with: ":false"),
    size(480, 320, #""diagonalScreenSize":5"#), size(400, 380, #""diagonalScreenSize":4"#),
    size(800, 240, #""diagonalScreenSize":4"#), size(800, 380, #""diagonalScreenSize":5,"scale":1.5"#),
    size(800, 380, #""diagonalScreenSize":4,"scale":2"#),
  ].joined(separator: ",")
  private static let core = size(
    800, 380,
    #""diagonalScreenSize":8,"scale":1,"maxBitrate":20000,"pixelPerInch":96,"preferredFPS":15,"#
      + coreFormats + #","additionalVideoStreamingCapabilities":[\#(coreSizes)]"#)
  private static let generic = size(
    960, 600,
    #""diagonalScreenSize":7,"scale":1,"maxBitrate":400000,"preferredFPS":30,"# + coreFormats
      + #","additionalVideoStreamingCapabilities":["#
      + size(960, 600, #""diagonalScreenSize":7,"scale":1.5"#) + ","
      + size(960, 600, #""diagonalScreenSize":7,"scale":2"#) + "]")
  private static let standard = size(
    800, 480,
    #""diagonalScreenSize":8,"scale":1,"maxBitrate":10000,"pixelPerInch":117,"preferredFPS":30,"#
      + #""supportedFormats":[{"protocol":"RAW","codec":"H264"}]"#)
  private static let odd = #"{"resolutionWidth":801,"resolutionHeight":479}"#
  private static let hostile =
    #"{"preferredResolution":\#(odd),"hapticSpatialDataSupported":false,"diagonalScreenSize":0,"pixelPerInch":0,"#
    + #""preferredFPS":0,"supportedFormats":[{"protocol":"WEBM","codec":"VP9"},{"protocol":"RAW","codec":"H264"},"#
    + #"{"protocol":"RAW","codec":"H264"},{"protocol":"RTP","codec":"H264"}],"#
    + #""additionalVideoStreamingCapabilities":[{"preferredResolution":\#(odd)},{"preferredResolution":\#(odd)},"#
    + #"{"preferredResolution":{"resolutionWidth":3,"resolutionHeight":1},"scale":10},{}]}"#

  @Test(arguments: [
    (HeadUnitPreset.standard, standard), (.bluetoothAndWiFi, standard), (.core, core), (.listedInCore, core),
    (.genericHMI, generic), (.hostile, hostile),
  ])
  func capability(preset: HeadUnitPreset, json: String) throws {
    let expected = VideoStreamingCapability(json: try JSONObject(parsing: Array(json.utf8)))
    #expect(preset.configuration.videoCapability == expected)
    #expect(preset.configuration.screen == expected.preferredResolution)
  }

  @Test func versions() {
    for preset in HeadUnitPreset.allCases {
      let configuration = preset.configuration
      let isOld = preset == .legacy
      #expect(configuration.maximumProtocolVersion == (isOld ? ProtocolVersion(4) : ProtocolVersion(5, 4, 0)))
      #expect(configuration.rpcVersion == (isOld ? RPCVersion(4, 4) : RPCVersion(8, 0, 0)))
    }
  }

  @Test func policies() {
    let unlisted = HeadUnitPreset.allCases.filter { $0.configuration.policy == .unknownApp }
    #expect(unlisted == [.core])
  }

  /// Bluetooth to register, Wi-Fi for video, and either for sound.
  @Test func bluetoothAndWiFi() {
    let behaviour = HeadUnitPreset.bluetoothAndWiFi.configuration.behaviour
    #expect(behaviour.secondaryTransport == .served && behaviour.videoTransports == [.secondary])
    #expect(behaviour.audioTransports == [.secondary, .primary])
  }

  /// FULL before the permissions, notifications that nobody wants, a size of nothing, and each end of video twice.
  @Test func hostileHeadUnit() throws {
    var app = TestApp(HeadUnitPreset.hostile.configuration)
    app.startSession()
    app.register()
    #expect(
      app.rpcs.map(\.function) == [
        .registerAppInterface, .onHMIStatus, .onSystemCapabilityUpdated, .onHMIStatus, .onPermissionsChange,
        .onSystemRequest, .onDriverDistraction,
      ])
    app.wait(.milliseconds(1999))
    app.forget()
    app.wait(.milliseconds(1))
    #expect(app.rpcs.map(\.function) == [.onSystemRequest] && app.rpcs.first?.bulk.count == 140_000)
    app.forget()
    app.startVideo(VideoServiceParameters(width: 801, height: 479, videoProtocol: "RAW", videoCodec: "H264"))
    let answer = VideoServiceParameters(payload: try #require(app.payload(.startServiceACK, .video)))
    #expect(answer == VideoServiceParameters(width: 0, height: 0, mtu: 131_072))
    app.run { $0.endService(.video, now: $1) }
    #expect(app.controls == ["video startServiceACK", "video endService", "video endService"])
  }
}
