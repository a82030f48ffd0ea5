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
    #expect(run.outcomes == ["replay: Show (line 9): it did not come within 10 s of its time"])
    #expect(run.replay.isOver)
  }

  /// An app with several queues sends what belongs together in an order of its own, but does not mix up its drive.
  @Test(arguments: [
    (1, "replay of 4 messages: met"), (1.001, "replay: Show (line 9): it came behind Alert of line 11"),
  ])
  func aMessageBehindALaterOne(seconds: Double, outcome: String) throws {
    var run = try Run(Array(Self.recorded[..<14]))
    run.start(.rpc)
    run.request(.registerAppInterface)
    run.request(.alert)
    run.wait(.seconds(seconds))
    run.request(.show)
    run.wait(.seconds(9))
    #expect(run.outcomes == [outcome])
  }
}
