@testable import SDLApp
import Testing

@Suite struct HeartbeatTests {
  private static func configuration(_ interval: Duration) -> AppSession.Configuration {
    var configuration = AppDriver.configuration
    configuration.heartbeatInterval = interval
    return configuration
  }

  @Test(arguments: [0, 1, 0xFFFF_FFFF] as [UInt32]) func answeredAtOnce(messageID: UInt32) {
    for driver in [AppDriver.registering(), .ready(), .streaming()] {
      driver.control(.heartbeat, .control, messageID: messageID)
      #expect(driver.frames.map(\.header.messageID) == [messageID])
      #expect(driver.take() == ["→ HeartbeatACK control"])
    }
  }

  @Test func noneOfOurOwnByDefault() {
    let driver = AppDriver.streaming()
    driver.wait(.seconds(1000))
    #expect(driver.take().isEmpty)
    #expect(driver.session.nextDeadline == nil)
  }

  @Test func ownHeartbeat() {
    let driver = AppDriver.streaming(Self.configuration(.seconds(5)))
    for _ in 0..<3 {
      driver.wait(.milliseconds(4999))
      #expect(driver.take().isEmpty)
      driver.wait(.milliseconds(1))
      #expect(driver.take() == ["→ Heartbeat"])
      driver.control(.heartbeatACK, .control)
    }
    // Any other frame counts as an answer too.
    driver.wait(.milliseconds(4999))
    driver.notify(.onHashChange, [:])
    driver.wait(.milliseconds(4999))
    #expect(driver.take().isEmpty)
  }

  @Test func lost() {
    let driver = AppDriver.streaming(Self.configuration(.seconds(5)))
    driver.wait(.milliseconds(9999))
    #expect(driver.take() == ["→ Heartbeat"])
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["• stopped connection-lost", "• failed", "■"])
    #expect(driver.failure == .heartbeatLost)
  }

  /// A request and the heartbeat expire at the same moment: nothing is sent after the end.
  @Test func dueTogetherWithATimeOut() {
    var configuration = Self.configuration(.seconds(4))
    configuration.requestTimeout = .seconds(4)
    let driver = AppDriver.registering(configuration)
    driver.wait(.seconds(4))
    #expect(driver.take() == ["• failed", "■"])
    #expect(driver.failure == .unanswered(request: "RegisterAppInterface"))
  }

  @Test func machine() {
    var heartbeat = Heartbeat()
    #expect(heartbeat.nextDeadline == nil)
    #expect(heartbeat.advance(now: .seconds(100)) == .none)
    heartbeat.start(interval: .seconds(1), now: .zero)
    #expect(heartbeat.advance(now: .milliseconds(999)) == .none)
    #expect(heartbeat.advance(now: .seconds(1)) == .send)
    #expect(heartbeat.nextDeadline == .seconds(2))
    heartbeat.frameReceived(now: .milliseconds(1500))
    #expect(heartbeat.advance(now: .seconds(2)) == .none)
    #expect(heartbeat.advance(now: .milliseconds(2500)) == .send)
    #expect(heartbeat.advance(now: .milliseconds(3500)) == .lost)
  }
}
