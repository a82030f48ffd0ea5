import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink

extension LinkTests {
  /// What is measured on the whole process: `make test` gives the suite one of its own.
  @Suite struct WholeProcess {
    @Test func leavesNothingBehind() throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      let port = try #require(server.port)
      func cycle(_ number: Int) throws {
        let observer = ConnectionRecorder()
        let host = number % 4 == 0 ? "localhost" : "127.0.0.1"
        let connection =
          number % 2 == 0
          ? makeConnection(port: port, host: host, observer: observer)
          : AppConnection(
            configuration: AppConnection.Configuration(
              endpoint: .transport(BuiltInHeadUnit(quickHeadUnit())), session: testSession),
            observer: observer)
        connection.setVideoRequest(testRequest)
        try connection.start()
        if number % 3 == 0 { #expect(observer.waitForGrant() != nil) }
        connection.stop(grace: .seconds(1))
        connection.join()
        #expect(observer.endedCount == 1)
      }
      for number in 0..<4 { try cycle(number) }
      #expect(eventually { ProcessCounts.threads <= 18 })
      let (descriptors, threads) = (ProcessCounts.descriptors, ProcessCounts.threads)
      for number in 0..<200 { try cycle(number) }
      // The server notices the last end, and a resolver's thread leaves, in their own time.
      #expect(
        eventually { ProcessCounts.descriptors <= descriptors && ProcessCounts.threads <= threads },
        "descriptors \(descriptors) → \(ProcessCounts.descriptors), threads \(threads) → \(ProcessCounts.threads)"
      )
      server.stop()
      server.join()
    }
  }
}
