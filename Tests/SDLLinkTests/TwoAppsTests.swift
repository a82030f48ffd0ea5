import SDLAppLink
import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import Testing

@testable import SDLApp

extension LinkTests {
  /// Two navigation apps at one head unit.
  @Suite struct TwoAppsTests {
    private func wait(_ headUnit: HeadUnitRecorder, for id: UInt8, _ level: HMILevel) -> Bool {
      eventually { headUnit.statuses(of: id).last?.level == level }
    }

    @Test func oneAppOnTheScreen() throws {
      let pair = try StreamingPair()
      let secondApp = ConnectionRecorder()
      let second = makeConnection(port: try #require(pair.server.port), name: "Second", observer: secondApp)
      second.setVideoRequest(testRequest)
      try second.start()
      #expect(secondApp.waitFor { if case .session(.registered) = $0 { true } else { nil } } == true)

      // Only the driver brings it to the screen, and then the first app has to stop.
      #expect(pair.headUnit.statuses(of: 2).map(\.level) == [HMILevel.none])
      pair.server.perform(.activate(2))
      #expect(secondApp.waitForGrant() != nil)
      #expect(pair.app.waitForStop(number: 1))
      #expect(wait(pair.headUnit, for: 1, .background))
      #expect(pair.headUnit.statuses(of: 1).last?.videoStreamingState == .notStreamable)

      pair.server.perform(.activate(1))
      #expect(pair.app.waitForGrant(number: 2) != nil)
      #expect(wait(pair.headUnit, for: 2, .background))

      // Commands without a number are for the present app.
      pair.server.perform(.level(.limited, .streamable))
      #expect(wait(pair.headUnit, for: 1, .limited))
      // Any app can be closed.
      pair.server.perform(.close(2))
      #expect(wait(pair.headUnit, for: 2, HMILevel.none))
      #expect(pair.headUnit.statuses(of: 1).last?.level == .limited)
      pair.server.perform(.close(nil))
      #expect(wait(pair.headUnit, for: 1, HMILevel.none))
      #expect(pair.headUnit.protocolViolations == [])
      second.stop(grace: .seconds(1))
      second.join()
      pair.stop()
    }

    /// Until it is gone, no other app can have its name. That it is gone is known before what others send is looked at.
    @Test func namesAreTaken() throws {
      let pair = try StreamingPair()
      func refusal(_ name: String, _ id: String) throws -> String? {
        let app = ConnectionRecorder()
        let connection = makeConnection(port: try #require(pair.server.port), name: name, id: id, observer: app)
        try connection.start()
        defer {
          connection.stop(grace: .seconds(1))
          connection.join()
        }
        return app.waitFor { event -> String?? in
          switch event {
          case .session(.registered): .some(nil)
          case .ended(.session(.registrationRefused(let code, _))?): code
          default: nil
          }
        } ?? "no answer"
      }
      #expect(try refusal("Other", "test") == "APPLICATION_REGISTERED_ALREADY")
      #expect(try refusal("Test", "other") == "DUPLICATE_NAME")
      #expect(try refusal("Other", "other") == nil)
      pair.connection.stop(grace: .seconds(1))
      pair.connection.join()
      #expect(try refusal("Test", "test") == nil)
      pair.server.stop()
      pair.server.join()
    }

    /// The head unit may notice an app's disconnection only after the app has connected again.
    @Test func nextAppIsOpenedWhenTheFirstIsGone() throws {
      let pair = try StreamingPair()
      let secondApp = ConnectionRecorder()
      let second = makeConnection(port: try #require(pair.server.port), name: "Second", observer: secondApp)
      second.setVideoRequest(testRequest)
      try second.start()
      #expect(secondApp.waitFor { if case .session(.registered) = $0 { true } else { nil } } == true)
      pair.connection.stop(grace: .seconds(1))
      pair.connection.join()
      #expect(secondApp.waitForGrant() != nil)
      second.stop(grace: .seconds(1))
      second.join()
      pair.stop()
    }

    /// What ends the registrations of all apps brings none of them to the screen before its own end.
    @Test(arguments: ["ignition-off", "language DE-DE"]) func allRegistrationsEnd(command: String) throws {
      let pair = try StreamingPair()
      let secondApp = ConnectionRecorder()
      let second = makeConnection(port: try #require(pair.server.port), name: "Second", observer: secondApp)
      try second.start()
      #expect(secondApp.waitFor { if case .session(.registered) = $0 { true } else { nil } } == true)
      pair.server.perform(try #require(try HeadUnitCommand.parse(command)))
      #expect(secondApp.waitForEnd() != nil)
      #expect(pair.headUnit.statuses(of: 2).map(\.level).allSatisfy { $0 == HMILevel.none })
      second.stop(grace: .seconds(1))
      second.join()
      pair.stop()
    }

    /// A later app has another first request.
    @Test func anAnswerForOnceIsForTheAppsThatAreThere() throws {
      let pair = try StreamingPair()
      pair.server.perform(try #require(try HeadUnitCommand.parse("answer Show once rejected")))
      let secondApp = ConnectionRecorder()
      let second = makeConnection(port: try #require(pair.server.port), name: "Second", observer: secondApp)
      try second.start()
      #expect(secondApp.waitFor { if case .session(.registered) = $0 { true } else { nil } } == true)
      func answer(to connection: AppConnection, _ app: ConnectionRecorder) throws -> String? {
        _ = try connection.request(.show, ["mainField1": .string("Turn left")])
        return app.waitFor { event in
          guard case .session(.applicationRPC(let message)) = event else { return nil }
          return message.parameters["resultCode"]?.string
        }
      }
      #expect(try answer(to: pair.connection, pair.app) == "REJECTED")
      pair.server.perform(.activate(2))
      let isFull = secondApp.waitFor { event -> Bool? in
        if case .sessionChanged(let status, _) = event, status.hmi?.level == .full { true } else { nil }
      }
      #expect(isFull == true)
      #expect(try answer(to: second, secondApp) == "SUCCESS")
      second.stop(grace: .seconds(1))
      second.join()
      pair.stop()
    }

    /// More apps than are served are refused until one leaves.
    @Test func boundedNumberOfSessions() throws {
      let headUnit = HeadUnitRecorder()
      var admission = HeadUnitServer.Admission()
      admission.maximumConnectionCount = 2
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, admission: admission, observer: headUnit)
      try server.start()
      let apps = (0..<4).map { _ in ConnectionRecorder() }
      let connections = try apps.enumerated().map { index, app in
        makeConnection(port: try #require(server.port), name: "Test \(index)", observer: app)
      }
      for (app, connection) in zip(apps, connections).prefix(2) {
        try connection.start()
        #expect(app.waitFor { if case .session(.registered) = $0 { true } else { nil } } == true)
      }
      try connections[2].start()
      #expect(apps[2].waitForEnd() != nil)
      #expect(headUnit.waitFor { if case .refused = $0 { true } else { nil } } == true)
      connections[0].stop(grace: .seconds(1))
      connections[0].join()
      #expect(headUnit.waitFor { if case .disconnected = $0 { true } else { nil } } == true)
      try connections[3].start()
      #expect(apps[3].waitFor { if case .session(.registered) = $0 { true } else { nil } } == true)
      let ids = headUnit.connectionIDs
      #expect(ids == [1, 2, 3])
      for connection in connections {
        connection.stop(grace: .zero)
        connection.join()
      }
      server.stop()
      server.join()
    }
  }
}
