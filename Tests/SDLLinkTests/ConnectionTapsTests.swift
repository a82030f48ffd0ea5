import Glibc
import SDLMessages
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// What a conversation log gets of an app's connections, one after the other.
  @Suite struct ConnectionTapsTests {
    private let clock = ManualClock()
    private let log: ConversationWriter
    private let writer: ConnectionWriter
    private let sockets: (Socket, Socket)
    private let configuration: AppConnection.Configuration

    init() throws {
      let time = TimeSource(clock)
      log = ConversationWriter(nil, keepsRecent: true, since: clock.now, clock: time)
      let wakeUp = WakeUp()
      try wakeUp.open()
      writer = ConnectionWriter(videoCapacity: 3, clock: time, wakeUp: wakeUp)
      sockets = try Socket.pair()
      writer.open(sockets.0)
      var configuration = AppConnection.Configuration(
        endpoint: .tcp(host: "car", port: 1), session: testSession, clock: time)
      configuration.conversation = log
      self.configuration = configuration
      try writer.setGrants(
        [.init(medium: .video, grant: makeGrant(1)), .init(medium: .audio, grant: makeGrant(2, of: .audio))],
        sending: [], peer: "car")
    }

    private func send(_ byteCount: Int, to medium: ConnectionWriter.Medium) {
      let payload = TestPayload(noise(byteCount))
      let result = writer.submit(payload, to: medium, grantEpoch: medium == .video ? 1 : 2, waits: false).result
      #expect(result == .queued && payload.outcomes == [true])
    }

    /// The lines since `number`, and what each is about.
    private func lines(after number: Int = 0) throws -> [String] {
      try log.lines(after: number, atMost: .max).0.split(separator: UInt8(ascii: "\n")).map { bytes in
        let line = try JSONObject(parsing: bytes)
        let text = ["kind", "type", "service", "app"].compactMap { line[$0]?.string }.joined(separator: " ")
        return "\(line["session"]?.integer ?? 0): \(text)\(line["bytes"]?.integer.map { " \($0)" } ?? "")"
      }
    }

    /// Once a second, and the rest at the end.
    @Test func mediaOfEachSecond() throws {
      var taps = ConnectionTaps(configuration, peer: "car", writer: writer)
      #expect(taps.wantsMessages && taps.nextDeadline == clock.now + .seconds(1))
      send(100, to: .video)
      send(20, to: .audio)
      clock.advance(by: .milliseconds(999))
      taps.countMedia(of: writer, now: clock.now)
      log.flushMedia()
      #expect(try lines() == ["1: state connected"])
      clock.advance(by: .milliseconds(1))
      taps.countMedia(of: writer, now: clock.now)
      #expect(taps.nextDeadline == clock.now + .seconds(1))
      send(7, to: .video)
      taps.end(nil, writer)
      #expect(
        try lines() == [
          "1: state connected", "1: media audio 20", "1: media video 107", "1: state disconnected",
        ])
    }

    /// Its media are not counted again, and its name is that of no later line.
    @Test func nextConnection() throws {
      var taps = ConnectionTaps(configuration, peer: "car", writer: writer)
      send(100, to: .video)
      let registered = RPCMessage(
        type: .response, function: .registerAppInterface, correlationID: 1,
        parameters: RPCResult(success: true, resultCode: .success).json)
      taps.note(.note(ConversationMessage(sender: .headUnit, content: .rpc(registered))))
      taps.end(nil, writer)
      #expect(try lines().last == "1: state disconnected \(testSession.appName)")
      let count = log.sequence
      log.note("late", of: 1, [:])
      var next = ConnectionTaps(configuration, peer: "car", writer: writer)
      next.end(nil, writer)
      #expect(try lines(after: count) == ["1: late", "2: state connected", "2: state disconnected"])
    }

    @Test func withoutALog() {
      var configuration = configuration
      configuration.conversation = nil
      var taps = ConnectionTaps(configuration, peer: "car", writer: writer)
      taps.countMedia(of: writer, now: .seconds(100))
      #expect(!taps.wantsMessages && taps.nextDeadline == nil && log.sequence == 0)
    }
  }
}
