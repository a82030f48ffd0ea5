import HTTPServe
import SDLLink
import Testing

@Suite struct HTTPServerTests {
  /// A server with nothing to do ends at once, and not after the time that clients have; a machine that stands still
  /// may hold up some.
  @Test func endsAtOnce() throws {
    let times = try (0..<5).map { _ -> Duration in
      let server = try HTTPServer(address: "127.0.0.1", port: 0, token: "token") { _, _ in }
      let start = MonotonicClock.now
      server.stop()
      return MonotonicClock.now - start
    }
    #expect(times.contains { $0 < .milliseconds(900) }, "\(times)")
  }
}
