@testable import SDLApp
import Testing

@Suite struct HeartbeatTests {
  private static func configuration(_ interval: Duration) -> AppSession.Configuration {
    var configuration = AppDriver.configuration
    configuration.heartbeatInterval = interval
    return configuration
  }

  /// A stream to a head unit that has answered a heartbeat; the next is due in 5 s.
  private static func answering() -> AppDriver {
    let driver = AppDriver.streaming(configuration(.seconds(5)))
    driver.wait(.seconds(1))
    driver.control(.heartbeatACK, .control)
    _ = driver.take()
    return driver
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
    let driver = Self.answering()
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

  /// Over a slow link a frame may take longer than two intervals.
  @Test func partsOfAFrame() {
    let driver = Self.answering()
    for _ in 0..<4 {
      driver.wait(.milliseconds(4999))
      driver.receivePart()
      #expect(driver.take().isEmpty)
    }
  }

  /// The first heartbeat comes soon, whatever the head unit sends.
  @Test func first() {
    let driver = AppDriver.streaming(Self.configuration(.seconds(5)))
    driver.wait(.milliseconds(999))
    driver.notify(.onHashChange, [:])
    #expect(driver.take().isEmpty)
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["→ Heartbeat"])
  }

  /// A head unit without heartbeats is sent one, stays connected, and can still begin to answer.
  @Test func neverAnswered() {
    let driver = AppDriver.streaming(Self.configuration(.seconds(5)))
    // An answer to nothing.
    driver.control(.heartbeatACK, .control)
    driver.wait(.seconds(1))
    #expect(driver.take() == ["→ Heartbeat"])
    for _ in 0..<3 {
      driver.wait(.seconds(100))
      driver.notify(.onHashChange, [:])
      #expect(driver.take().isEmpty && driver.session.nextDeadline == nil)
    }
    driver.control(.heartbeatACK, .control)
    driver.wait(.seconds(5))
    #expect(driver.take() == ["→ Heartbeat"])
  }

  @Test func lost() {
    let driver = Self.answering()
    driver.wait(.milliseconds(9999))
    #expect(driver.take() == ["→ Heartbeat"])
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["• stopped connection-lost", "• failed", "■"])
    #expect(driver.failure == .heartbeatLost)
  }

  /// A request and the heartbeat expire at the same moment: nothing is sent after the end.
  @Test func dueTogetherWithATimeOut() {
    var configuration = Self.configuration(.seconds(4))
    configuration.requestTimeout = Heartbeat.firstTime
    let driver = AppDriver.registering(configuration)
    driver.wait(Heartbeat.firstTime)
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
    #expect(heartbeat.nextDeadline == nil)
    heartbeat.answered(now: .milliseconds(1200))
    #expect(heartbeat.roundTrip == .milliseconds(200) && heartbeat.nextDeadline == .milliseconds(2200))
    #expect(heartbeat.advance(now: .milliseconds(2200)) == .send)
    heartbeat.bytesReceived(now: .milliseconds(2500))
    #expect(heartbeat.advance(now: .milliseconds(3200)) == .none)
    #expect(heartbeat.advance(now: .milliseconds(3500)) == .send)
    #expect(heartbeat.advance(now: .milliseconds(4500)) == .lost)
  }
}
