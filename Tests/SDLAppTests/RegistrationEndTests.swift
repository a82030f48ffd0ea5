import SDLApp
import Testing

/// The end of a session whose registration is not answered yet.
///
/// SDL Core registers an app whose session has ended before the answer, and refuses every later registration of it.
@Suite struct RegistrationEndTests {
  private static let unregistration = "→ UnregisterAppInterface request"
  private static let end = "→ EndService rpc hash 65537"

  private func finishing() -> AppDriver {
    let driver = AppDriver.registering()
    driver.wait(.seconds(2))
    driver.finish()
    #expect(driver.take().isEmpty)
    #expect(driver.session.isRegistrationPending == true)
    return driver
  }

  /// Longer than all the other steps of the end together may take.
  @Test func waitsForTheAnswer() {
    let driver = finishing()
    driver.wait(.seconds(9))
    #expect(driver.take().isEmpty)
    driver.acceptRegistration()
    #expect(driver.take() == [Self.unregistration])
    #expect(driver.session.isRegistrationPending == false)
    driver.wait(milliseconds: 900)
    driver.respond(.unregisterAppInterface, RPCResult(success: true, resultCode: .success).json)
    #expect(driver.take() == [Self.end])
    driver.control(.endServiceACK, .rpc)
    #expect(driver.take() == ["■"])
    #expect(driver.failure == nil)
  }

  /// From the answer on, the end takes one second at most.
  @Test func waitsNoLongerForTheRest() {
    let driver = finishing()
    driver.wait(.seconds(9))
    driver.acceptRegistration()
    driver.wait(milliseconds: 999)
    #expect(driver.take() == [Self.unregistration])
    driver.wait(milliseconds: 1)
    #expect(driver.take() == ["■"])
  }

  @Test(arguments: [ResultCode.disallowed, .applicationRegisteredAlready])
  func refused(_ result: ResultCode) {
    let driver = finishing()
    driver.wait(.seconds(9))
    driver.respond(.registerAppInterface, RPCResult(success: false, resultCode: result).json)
    #expect(driver.take() == [Self.end])
    driver.wait(milliseconds: 999)
    #expect(driver.take().isEmpty)
    driver.control(.endServiceACK, .rpc)
    #expect(driver.take() == ["■"])
    #expect(driver.failure == nil)
  }

  @Test func unanswered() {
    let driver = finishing()
    driver.wait(milliseconds: 9999)
    #expect(driver.take().isEmpty)
    driver.wait(milliseconds: 1)
    #expect(driver.take() == [Self.end])
    driver.wait(.seconds(1))
    #expect(driver.take() == ["■"])
    #expect(driver.failure == nil)
  }

  /// What else comes meanwhile ends it too.
  @Test func headUnitEndsFirst() {
    let ended = finishing()
    ended.control(.endService, .rpc)
    #expect(ended.take() == ["→ EndServiceACK rpc", "■"])
    let lost = finishing()
    lost.lose()
    #expect(lost.take() == ["■"])
    #expect(ended.failure == nil && lost.failure == nil)
  }

  /// A head unit that is alive only as long as its heartbeats are answered.
  @Test func heartbeatsAreAnswered() {
    let driver = finishing()
    driver.control(.heartbeat, .control)
    #expect(driver.take() == ["→ HeartbeatACK control"])
  }
}
