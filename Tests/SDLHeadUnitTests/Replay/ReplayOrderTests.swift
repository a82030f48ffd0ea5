import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnit

/// The order of what an app sends.
extension ReplayTests {
  @Test func aMessageThatDoesNotCome() throws {
    var run = try Run()
    run.drive(without: [.show])
    run.wait(.seconds(30))
    let outcomes = run.outcomes
    #expect(
      outcomes.count == 4 && outcomes[0] == "replay: Alert (line 11): it came before Show of line 9", "\(outcomes)")
    #expect(outcomes.last == "replay: Show (line 9): it did not come within 10 s of its time")
    #expect(run.replay.isOver)
  }

  /// Nothing answers a notification, so that an app with several threads sends it now earlier, now later.
  @Test(arguments: [true, false]) func aNotificationAtAnotherTime(isLater: Bool) throws {
    let notification = Self.rpc(1.5, Self.up, "notification", "OnAppCapabilityUpdated", -1)
    let show = try #require(Self.recorded.firstIndex { $0.contains("\"Show\"") })
    var lines = Array(Self.recorded[..<14])
    lines.insert(notification, at: isLater ? show : lines.endIndex)
    var run = try Run(lines)
    let notify = {
      run.send(.rpc(RPCMessage(type: .notification, function: .onAppCapabilityUpdated, correlationID: 0)))
    }
    run.start(.rpc)
    run.request(.registerAppInterface)
    if !isLater { notify() }
    run.request(.show)
    run.request(.alert)
    if isLater { notify() }
    run.wait(.seconds(9))
    #expect(run.outcomes == ["replay of 5 messages: met"])
  }
}
