import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import Testing

@testable import SDLApp

extension LinkTests {
  /// A script that updates the capability at the registration, before the app has received it: the update is deferred.
  @Suite struct ScriptedUpdateTests {
    @Test func updateAtTheRegistrationReachesTheApp() throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0,
        script: HeadUnitScript("on registered: update size 640x360"), observer: headUnit)
      try server.start()
      let app = ConnectionRecorder()
      let connection = makeConnection(port: try #require(server.port), observer: app)
      try connection.start()
      let size = app.waitFor { event in
        if case .session(.videoCapability(let capability, _)) = event,
          capability?.preferredResolution == VideoSize(640, 360)
        {
          capability?.preferredResolution
        } else {
          nil
        }
      }
      #expect(size != nil)
      // The events report that the update was deferred.
      #expect(headUnit.hasReported { if case .stepExecuted(_, id: 1) = $0 { true } else { false } })
      #expect(headUnit.hasReported { if case .session(1, .capabilityUpdateDeferred) = $0 { true } else { false } })
      connection.stop(grace: .zero)
      connection.join()
      server.stop()
      server.join()
    }
  }
}
