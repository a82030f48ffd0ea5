import SDLApp
import Testing

/// The largest payload in the grant: valid whether the head unit means payloads or whole frames, and always in range.
@Suite struct PayloadLimitTests {
  @Test(
    arguments: [
      (131_072, 131_060), (1500, 1488), (1012, 1000), (256, 244), (255, 244), (12, 244), (0, 244), (-1, 244),
      (.min, 244), (.max, (4 << 20) - 12), (4 << 20, (4 << 20) - 12),
    ] as [(Int64, Int)])
  func announcedForVideo(mtu: Int64, payload: Int) {
    let driver = AppDriver.starting()
    driver.acknowledgeVideo(VideoServiceParameters(mtu: mtu))
    #expect(driver.session.status.video.grant?.maximumPayload == payload)
  }

  @Test func announcedForTheSessionOnly() {
    let driver = AppDriver()
    driver.connect()
    driver.acknowledgeSession { $0.mtu = 2000 }
    driver.acceptRegistration()
    driver.answerCapability()
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    driver.acknowledgeVideo()
    #expect(driver.session.status.video.grant?.maximumPayload == 1988)
  }

  @Test(arguments: [3, 4, 5] as [UInt8]) func neverAnnounced(version: UInt8) {
    let driver = AppDriver()
    driver.version = version
    driver.connect()
    driver.acknowledgeSession { $0.mtu = nil }
    driver.acceptRegistration { $0.rpcVersion = RPCVersion(4, 4) }
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    driver.acknowledgeVideo()
    #expect(driver.session.status.video.grant?.maximumPayload == 131_060)
  }

  /// A tiny limit cuts the app's own requests as well.
  @Test func requestsAreCut() {
    let driver = AppDriver()
    driver.connect()
    _ = driver.take()
    driver.acknowledgeSession { $0.mtu = 1 }
    #expect(driver.frames.map(\.header.frameType).contains(.consecutive))
    #expect(driver.frames.allSatisfy { $0.payload.count <= 244 })
    #expect(driver.take() == ["• session 5.4.0", "→ RegisterAppInterface request"])
  }
}
