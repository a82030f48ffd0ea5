import SDLWire
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

/// A transport whose peers come when they like.
private final class WaitingTransport: Transport {
  var transportClass: TransportClass { .bluetooth }
  func start(_ report: @escaping @Sendable (TransportEvent) -> Void) throws(LinkError) {}
  func stop() {}
}

/// Whether another attempt to connect follows one that has ended.
@Suite struct ConnectionAttemptsTests {
  private static func attempts(
    waits: Bool = false, reconnection: Reconnection.Timing? = Reconnection.Timing()
  ) -> ConnectionAttempts {
    let endpoint = waits ? AppConnection.Endpoint.transport(WaitingTransport()) : .tcp(host: "car", port: 1)
    return ConnectionAttempts(
      AppConnection.Configuration(
        endpoint: endpoint, session: testSession, connectTimeout: .seconds(10), reconnection: reconnection),
      now: .seconds(100))
  }

  private static func ending(
    _ failure: ConnectionFailure?, registered time: Duration? = nil, epoch: UInt32 = 0
  ) -> AppConnection.Ending {
    AppConnection.Ending(failure: failure, registeredTime: time, lastEpoch: epoch)
  }

  struct Row: Sendable {
    var failure: ConnectionFailure
    /// The app has been registered before.
    var isLater = false
    var waits = false
    /// Seconds after the first attempt.
    var after = 1.0
    var goesOn: Bool
  }

  private static let broken = ConnectionFailure.link(.closedByPeer(address: "car"))
  private static let refused = ConnectionFailure.link(.refused(addresses: ["car"]))
  private static let registeredAlready = ConnectionFailure.session(
    .registrationRefused(resultCode: ResultCode.applicationRegisteredAlready.rawValue, info: nil))
  private static let missing = ConnectionFailure.link(.transport(.init(.serviceMissing, "none", advice: "")))

  @Test(arguments: [
    // Before the first registration a break is borne with for as long as the connection may take, if there is a limit.
    Row(failure: broken, after: 9.999, goesOn: true), Row(failure: broken, after: 10, goesOn: false),
    Row(failure: broken, waits: true, after: 1000, goesOn: true),
    // A mistake in the settings is not.
    Row(failure: refused, goesOn: false), Row(failure: missing, waits: true, goesOn: false),
    // The head unit still has the former session.
    Row(failure: registeredAlready, after: 1000, goesOn: true),
    Row(failure: broken, isLater: true, after: 1000, goesOn: true),
    Row(failure: refused, isLater: true, after: 1000, goesOn: true),
    Row(failure: missing, isLater: true, waits: true, goesOn: false),
  ])
  func failures(_ row: Row) {
    var attempts = Self.attempts(waits: row.waits)
    if row.isLater {
      #expect(attempts.pause(after: Self.ending(Self.broken, registered: .zero), now: .seconds(100), chance: 0) != nil)
    }
    #expect(attempts.wasRegistered == row.isLater)
    let pause = attempts.pause(after: Self.ending(row.failure), now: .seconds(100 + row.after), chance: 0)
    #expect((pause != nil) == row.goesOn)
  }

  /// The epochs go on from attempt to attempt, and the pauses begin anew after an app that was registered for long.
  @Test func whatIsKept() {
    var attempts = Self.attempts()
    let times: [Duration?] = [nil, .seconds(9), .seconds(10), nil]
    let pauses = times.enumerated().map { index, time in
      let ending = Self.ending(Self.broken, registered: time, epoch: UInt32(10 + index))
      defer { #expect(attempts.lastEpoch == UInt32(10 + index)) }
      return attempts.pause(after: ending, now: .seconds(101), chance: 0)
    }
    #expect(pauses == [500, 1000, 500, 1000].map { .milliseconds($0) })
    #expect(attempts.pause(after: Self.ending(nil), now: .seconds(101), chance: 0) == nil)
  }

  @Test func oneAttemptAlone() {
    var attempts = Self.attempts(reconnection: nil)
    #expect(attempts.pause(after: Self.ending(Self.broken, registered: .zero), now: .seconds(101), chance: 0) == nil)
  }
}
