import SDLApp
import SDLHeadUnit
import Testing

/// OnAppCapabilityUpdated: the displays that the app announces as supported.
@Suite struct SupportedDisplaysTests {
  private static let core = HeadUnitPreset.core.configuration.videoCapability ?? VideoStreamingCapability()
  private static let displays = VideoDisplay.displays(of: core)
  /// The first of SDL Core's displays without its list, then the others.
  private static var entries: [VideoStreamingCapability] {
    var root = core
    root.additionalCapabilities = nil
    return [root] + (core.additionalCapabilities ?? [])
  }

  private static func registered(rpcVersion: RPCVersion = RPCVersion(8, 0, 0)) -> AppDriver {
    let driver = AppDriver.registering()
    driver.acceptRegistration { $0.rpcVersion = rpcVersion }
    driver.answerCapability(core)
    driver.status(.none, .notStreamable)
    _ = driver.take()
    return driver
  }

  private static func notifications(_ driver: AppDriver) -> [RPCMessage] {
    driver.frames.compactMap { try? RPCMessage(payload: $0.payload) }.filter { $0.function == .onAppCapabilityUpdated }
  }

  @Test("once per session, before the first start, with the head unit's entries") func once() throws {
    let driver = Self.registered()
    // Those that the app's ranges accept.
    driver.setSupportedDisplays([0, 1, 5, 6].map { Self.displays[$0] })
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(800, 380)))
    #expect(driver.take().isEmpty)
    driver.status(.full, .streamable)
    let message = try #require(Self.notifications(driver).first)
    #expect(message.type == .notification && message.bulk.isEmpty)
    let parameters = OnAppCapabilityUpdated(json: message.parameters)
    #expect(parameters.type == .videoStreaming)
    var expected = VideoStreamingCapability()
    expected.additionalCapabilities = [0, 1, 5, 6].map { Self.entries[$0] }
    #expect(parameters.videoStreaming == expected)
    #expect(
      driver.take() == [
        "• status FULL STREAMABLE", "→ OnAppCapabilityUpdated", "→ StartService video 800×380 RAW H264",
      ])
    driver.acknowledgeVideo()
    // Neither a second start nor an update repeats it.
    driver.status(.none, .notStreamable)
    driver.control(.endServiceACK, .video)
    driver.updateCapability(AppDriver.capability)
    driver.setSupportedDisplays([VideoDisplay(size: VideoSize(800, 480))])
    driver.status(.full, .streamable)
    #expect(!driver.take().contains("→ OnAppCapabilityUpdated"))
  }

  /// A former session's request says nothing about the display that this head unit means.
  @Test func anUpdateBeforeTheFirstServiceIsAboutTheFirstDisplay() throws {
    let driver = Self.registered()
    driver.setSupportedDisplays(Self.displays)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(320, 200)))
    var update = VideoStreamingCapability()
    update.scale = 2
    driver.updateCapability(update)
    driver.status(.full, .streamable)
    let message = try #require(Self.notifications(driver).first)
    let entries = OnAppCapabilityUpdated(json: message.parameters).videoStreaming?.additionalCapabilities
    #expect(entries == Array(Self.entries.dropFirst()))
  }

  @Test("only from RPC 7.1 on", arguments: [((8, 0), true), ((7, 1), true), ((7, 0), false), ((5, 1), false)])
  func versions(_ version: (Int, Int), _ isTold: Bool) {
    let driver = Self.registered(rpcVersion: RPCVersion(version.0, version.1))
    driver.setSupportedDisplays(Self.displays)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(800, 380)))
    driver.status(.full, .streamable)
    #expect(driver.take().contains("→ OnAppCapabilityUpdated") == isTold)
  }

  @Test("none while the list is empty; sent later, once it is not") func empty() {
    let driver = Self.registered()
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(800, 380)))
    driver.status(.full, .streamable)
    #expect(driver.take().last == "→ StartService video 800×380 RAW H264")
    driver.acknowledgeVideo()
    driver.setSupportedDisplays(Self.displays)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(480, 320)))
    driver.control(.endServiceACK, .video)
    #expect(driver.take().suffix(2) == ["→ OnAppCapabilityUpdated", "→ StartService video 480×320 RAW H264"])
  }

  /// The displays that were chosen may be those of a capability that is outdated by now.
  @Test func nothingOutsideTheList() throws {
    let driver = Self.registered()
    driver.setSupportedDisplays(Self.displays + [VideoDisplay(size: VideoSize(123, 456))] + Self.displays)
    var update = VideoStreamingCapability()
    update.additionalCapabilities = Array(Self.entries[3...4])
    driver.updateCapability(update)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(480, 320)))
    driver.status(.full, .streamable)
    let message = try #require(Self.notifications(driver).first)
    let announced = OnAppCapabilityUpdated(json: message.parameters).videoStreaming?.additionalCapabilities
    #expect(announced == [0, 3, 4].map { Self.entries[$0] })
  }

  @Test func bytes() throws {
    let driver = AppDriver.ready(request: nil)
    driver.setSupportedDisplays(VideoDisplay.displays(of: AppDriver.capability))
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    let frame = try #require(driver.frames.first { $0.header.frameType == .single })
    let json =
      #"{"appCapability":{"appCapabilityType":"VIDEO_STREAMING","videoStreamingCapability":"#
      + #"{"additionalVideoStreamingCapabilities":[{"maxBitrate":10000,"preferredFPS":30,"preferredResolution":"#
      + #"{"resolutionHeight":480,"resolutionWidth":800},"scale":1}]}}}"#
    // A notification (2) of function 0x8017 with correlation id 0, and the length of the JSON.
    let header: [UInt8] = [0x20, 0x00, 0x80, 0x17, 0, 0, 0, 0, 0, 0, 0, UInt8(json.utf8.count)]
    #expect(Array(frame.payload.prefix(12)) == header)
    let expected = try JSONObject(parsing: Array(json.utf8))
    #expect(try JSONObject(parsing: frame.payload.dropFirst(12)) == expected)
  }

  @Test(arguments: JoinedSessions.seeds) func headUnitFindsNoFault(seed: UInt64) {
    let sessions = JoinedSessions(JoinedSessions.configuration(.core), seed: seed)
    sessions.connect()
    sessions.setSupportedDisplays(Self.displays)
    sessions.setVideoRequest(VideoStartRequest(size: VideoSize(800, 380)))
    sessions.wait(.seconds(1))
    #expect(sessions.take().count { $0 == "→ OnAppCapabilityUpdated" } == 1)
    #expect(sessions.violations.isEmpty)
  }

  @Test("5000 capabilities: cut to 100, with a diagnostic") func cutList() {
    let driver = AppDriver.registering()
    driver.acceptRegistration()
    var capability = AppDriver.capability
    capability.additionalCapabilities = (0..<5000).map { index in
      var entry = VideoStreamingCapability()
      entry.preferredResolution = VideoSize(100 + index, 480)
      return entry
    }
    driver.answerCapability(capability)
    #expect(driver.diagnostics.contains { $0.contains("4900 were cut off") }, "\(driver.diagnostics)")
    #expect(driver.capabilities.last??.additionalCapabilities?.count == 100)
  }
}

/// Head units that have no video capability.
@Suite struct LegacyStartTests {
  private static func registered(delay: Duration = .milliseconds(250), version: UInt8 = 4) -> AppDriver {
    var configuration = AppDriver.configuration
    configuration.legacyStartDelay = delay
    let driver = AppDriver(configuration)
    driver.version = version
    driver.connect()
    driver.control(.startServiceACK, .rpc, payload: [0, 1, 0, 1])
    driver.acceptRegistration {
      $0.rpcVersion = RPCVersion(4, 4)
      $0.screenResolution = VideoSize(800, 480)
    }
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.setSupportedDisplays([VideoDisplay(size: VideoSize(800, 480))])
    _ = driver.take()
    return driver
  }

  private static let start = "→ StartService video"

  @Test("StartService after 250 ms, and nothing else", arguments: [3, 4] as [UInt8]) func delay(version: UInt8) {
    let driver = Self.registered(version: version)
    driver.status(.full, .streamable)
    #expect(driver.take() == ["• status FULL STREAMABLE"])
    driver.wait(milliseconds: 249)
    #expect(driver.take().isEmpty)
    driver.wait(milliseconds: 1)
    #expect(driver.take() == [Self.start])
    driver.acknowledgeVideo()
    #expect(driver.isStreaming)
  }

  @Test func defaultDelay() {
    let configuration = AppSession.Configuration(appName: "", appID: "", appType: .navigation, language: "")
    #expect(configuration.legacyStartDelay == .milliseconds(250))
  }

  @Test func noDelay() {
    let driver = Self.registered(delay: .zero)
    driver.status(.full, .streamable)
    #expect(driver.take().last == Self.start)
  }

  @Test func driverWhoLeavesMeanwhile() {
    let driver = Self.registered()
    driver.status(.full, .streamable)
    driver.wait(milliseconds: 200)
    driver.status(.none, .notStreamable)
    driver.wait(.seconds(1))
    driver.status(.full, .streamable)
    driver.wait(milliseconds: 249)
    #expect(!driver.take().contains(Self.start))
    driver.wait(milliseconds: 1)
    #expect(driver.take() == [Self.start])
  }

  /// The delay counts from when the head unit showed the app.
  @Test func requestThatChangesMeanwhile() {
    let driver = Self.registered()
    driver.status(.full, .streamable)
    driver.wait(milliseconds: 200)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(640, 360)))
    driver.wait(milliseconds: 50)
    #expect(driver.take().contains(Self.start))
  }

  @Test func eachStartWaits() {
    let driver = Self.registered()
    driver.status(.full, .streamable)
    driver.wait(milliseconds: 250)
    driver.acknowledgeVideo()
    driver.status(.none, .notStreamable)
    driver.control(.endServiceACK, .video)
    driver.status(.full, .streamable)
    _ = driver.take()
    driver.wait(milliseconds: 249)
    #expect(driver.take().isEmpty)
    driver.wait(milliseconds: 1)
    #expect(driver.take() == [Self.start])
  }

  /// The longer of both pauses holds.
  @Test func retry() {
    let driver = Self.registered()
    driver.status(.full, .streamable)
    driver.wait(milliseconds: 250)
    driver.refuseVideo()
    _ = driver.take()
    driver.wait(milliseconds: 1999)
    #expect(driver.take().isEmpty)
    driver.wait(milliseconds: 1)
    #expect(driver.take() == [Self.start])
  }

  @Test func capabilityThatComesAfterAll() {
    let driver = Self.registered()
    driver.updateCapability(AppDriver.capability)
    driver.status(.full, .streamable)
    #expect(driver.take().last == Self.start)
  }
}
