import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import SDLWire
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

/// An app that reconnects to a head unit through a ``CuttingRelay``.
struct ReconnectingPair {
  let headUnit = HeadUnitRecorder()
  let app: ConnectionRecorder
  let server: HeadUnitServer
  let relay: CuttingRelay
  let connection: AppConnection
  private let refusing: RefusingPort

  init(
    _ timing: Reconnection.Timing? = Reconnection.Timing(first: .milliseconds(2)),
    _ configuration: HeadUnitConfiguration = quickHeadUnit(), capacity: Int = 3,
    clock: ManualClock? = nil, app: ConnectionRecorder = ConnectionRecorder()
  ) throws {
    self.app = app
    refusing = try RefusingPort()
    server = try HeadUnitServer(configuration: configuration, address: "127.0.0.1", port: 0, observer: headUnit)
    try server.start()
    relay = try CuttingRelay(to: try #require(server.port))
    connection = makeConnection(port: relay.port, capacity: capacity, reconnection: timing, clock: clock, observer: app)
    connection.setVideoRequest(testRequest)
    try connection.start()
  }

  /// Breaks the connection, and every later one.
  func breakForGood() {
    relay.route(to: refusing.port)
    relay.cutNow()
  }

  /// Expects the app to stop in time, and stops the relay and the head unit.
  func stop(sourceLocation: SourceLocation = #_sourceLocation) {
    // On the real clock: a stop must come to its end.
    let (began, standstills) = (MonotonicClock.now, Standstills())
    connection.stop(grace: .seconds(1))
    connection.join()
    #expect(MonotonicClock.now - began - standstills.total < .seconds(2), sourceLocation: sourceLocation)
    #expect(app.endedCount == 1, sourceLocation: sourceLocation)
    let epochs = app.epochs
    #expect(zip(epochs, epochs.dropFirst()).allSatisfy { $0 < $1 }, "\(epochs)", sourceLocation: sourceLocation)
    relay.stop()
    server.stop()
    server.join()
  }
}

extension LinkTests {
  /// Which failures lead to a reconnection.
  @Suite struct ReconnectionTests {
    @Test func onlyIfEnabled() throws {
      let pair = try ReconnectingPair(nil)
      #expect(pair.app.waitForGrant() != nil)
      pair.relay.cutNow()
      guard case .some(.some(.link(.closedByPeer))) = pair.app.waitForEnd() else {
        Issue.record("\(pair.app.events)")
        return
      }
      #expect(!pair.app.hasBeenLost)
      pair.stop()
    }

    /// A refusal of the first registration is most likely a mistake in the settings.
    @Test(arguments: [ResultCode.disallowed, .tooManyApplications]) func firstRegistration(_ result: ResultCode) throws
    {
      var configuration = quickHeadUnit()
      configuration.behaviour.registration = .result(result, success: false)
      let pair = try ReconnectingPair(.init(first: .milliseconds(2)), configuration)
      guard
        case .some(.some(.session(.registrationRefused(let code, _)))) = pair.app.waitForEnd(), code == result.rawValue
      else {
        Issue.record("\(pair.app.events)")
        return
      }
      #expect(!pair.app.hasBeenLost)
      #expect(pair.headUnit.connectionIDs.count == 1)
      pair.stop()
    }

    /// A peer that accepts and closes may be a head unit that is about to start, but the app does not retry without
    /// end.
    @Test func lossBeforeTheFirstRegistration() throws {
      let clock = ManualClock()
      let timeout = Duration.seconds(10)
      let refusing = try RefusingPort()
      let relay = try CuttingRelay(to: refusing.port)
      let app = ConnectionRecorder()
      let begin = clock.now
      let connection = makeConnection(
        port: relay.port, connectTimeout: timeout, reconnection: .init(first: .milliseconds(2)), clock: clock,
        observer: app)
      try connection.start()
      #expect(
        eventually {
          clock.advance(by: .milliseconds(100))
          return app.endedCount == 1
        })
      let end = try #require(app.waitForEnd())
      #expect(end?.mayHealAtFirst == true)
      #expect(clock.now - begin >= timeout)
      #expect(app.losses.count > 2)
      connection.join()
      #expect(app.endedCount == 1)
      relay.stop()
    }

    @Test func portThatIsClosedForAWhile() throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      let app = ConnectionRecorder()
      let connection = makeConnection(
        port: try #require(server.port), reconnection: .init(first: .milliseconds(2)), observer: app)
      connection.setVideoRequest(testRequest)
      try connection.start()
      #expect(app.waitForGrant() != nil)
      server.perform(.refuseConnections(true))
      server.perform(.cut)
      #expect(eventually { app.losses.contains { if case .link(.refused) = $0.failure { true } else { false } } })
      server.perform(.refuseConnections(false))
      #expect(app.waitForGrant(number: 2) != nil)
      connection.stop(grace: .seconds(1))
      connection.join()
      #expect(app.waitForEnd() == .some(nil))
      #expect(app.endedCount == 1)
      #expect(headUnit.protocolViolations == [])
      server.stop()
      server.join()
    }

    /// A head unit that was replaced by another one, as far as the app can tell. ``AppSessionFailure/canHeal`` says
    /// what is tried again.
    @Test func laterRegistrationDisallowed() throws {
      let pair = try ReconnectingPair()
      #expect(pair.app.waitForGrant() != nil)
      let other = HeadUnitRecorder()
      var configuration = quickHeadUnit()
      configuration.behaviour.registration = .result(.disallowed, success: false)
      let server = try HeadUnitServer(configuration: configuration, address: "127.0.0.1", port: 0, observer: other)
      try server.start()
      pair.relay.route(to: try #require(server.port))
      pair.relay.cutNow()
      let end = try #require(pair.app.waitForEnd())
      #expect(
        end == .session(.registrationRefused(resultCode: "DISALLOWED", info: "As the head unit's settings say")))
      #expect(other.connectionIDs.count == 1)
      pair.stop()
      server.stop()
      server.join()
    }

    /// Until the head unit notices that the app has disconnected.
    @Test func laterRegistrationRefusedForAWhile() throws {
      let pair = try ReconnectingPair()
      #expect(pair.app.waitForGrant() != nil)
      var configuration = quickHeadUnit()
      configuration.behaviour.registration = .result(.tooManyApplications, success: false)
      let server = try HeadUnitServer(
        configuration: configuration, address: "127.0.0.1", port: 0, observer: pair.headUnit)
      try server.start()
      pair.relay.route(to: try #require(server.port))
      pair.relay.cutNow()
      #expect(pair.app.waitForLoss(number: 3))
      pair.relay.route(to: try #require(pair.server.port))
      #expect(pair.app.waitForGrant(number: 2) != nil)
      pair.stop()
      server.stop()
      server.join()
    }
  }
}
