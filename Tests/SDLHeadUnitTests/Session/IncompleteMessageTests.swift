import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// Messages that never end.
@Suite struct IncompleteMessageTests {
  private func begin(
    _ service: ServiceType, _ size: UInt32, sending count: Int, messageID: UInt32 = 9, in app: inout TestApp
  ) {
    let header = FrameHeader(
      version: 5, frameType: .first, service: service, frameInfo: 0, sessionID: 1, dataSize: 8, messageID: messageID)
    app.send(Frame(header: header, payload: withUnsafeBytes(of: size.bigEndian, Array.init) + [0, 0, 0, 9]))
    for number in 0..<(count + 99_999) / 100_000 {
      let piece = min(count - number * 100_000, 100_000)
      let header = FrameHeader(
        version: 5, frameType: .consecutive, service: service, frameInfo: UInt8(number % 255 + 1), sessionID: 1,
        dataSize: UInt32(piece), messageID: messageID)
      app.send(Frame(header: header, payload: [UInt8](repeating: 1, count: piece)))
    }
  }

  /// Their memory is free again after ten seconds, whether something else comes or not.
  @Test func timeOut() {
    var app = TestApp.streaming()
    begin(.video, 10_000_000, sending: 3_000_000, in: &app)
    #expect(app.violations == [] && app.session.incompleteByteCount >= 3_000_000)
    app.wait(.milliseconds(9900))
    #expect(app.session.incompleteByteCount >= 3_000_000)
    app.wait(.milliseconds(100))
    #expect(app.session.incompleteByteCount == 0)
  }

  /// Never more than was announced is allocated.
  @Test func memory() {
    var app = TestApp.streaming()
    begin(.video, 3_000_001, sending: 3_000_000, in: &app)
    // The memory that is handed out is a little larger.
    #expect((3_000_000...3_100_000).contains(app.session.incompleteByteCount))
  }

  @Test func timeWithoutReading() {
    var app = TestApp.streaming()
    begin(.video, 1_000_000, sending: 500_000, in: &app)
    app.wait(.seconds(5))
    app.run { $0.setReading(false, now: $1) }
    app.wait(.seconds(60))
    #expect(app.session.incompleteByteCount >= 500_000)
    app.run { $0.setReading(true, now: $1) }
    app.wait(.milliseconds(4900))
    #expect(app.session.incompleteByteCount >= 500_000)
    app.wait(.milliseconds(100))
    #expect(app.session.incompleteByteCount == 0)
  }

  @Test func beforeTheRegistration() {
    var app = TestApp()
    app.startSession()
    app.forget()
    let limit: UInt32 = 1 << 20
    begin(.rpc, limit, sending: 100_000, in: &app)
    #expect(app.violations == [])
    let tooMuch = limit + 1
    begin(.rpc, tooMuch, sending: 0, in: &app)
    #expect(app.violations == [.brokenMessage(.rpc, .oversized(tooMuch))])
    #expect(app.session.incompleteByteCount == 0)
  }

  /// However it ends, also if the other end keeps the connection open.
  @Test(arguments: ["end", "unregistration", "garbage"]) func endOfTheSession(cause: String) {
    var app = TestApp.streaming()
    begin(.video, 10_000_000, sending: 3_000_000, in: &app)
    switch cause {
    case "end": app.send(.endService, .rpc, payload: EndServiceRequest(hashID: 0x1_0001).bytes(version: 5))
    case "unregistration": app.run { $0.unregisterApp(.appUnauthorized, now: $1) }
    default:
      let heartbeat = Frame.control(.heartbeatACK, service: .control, version: 5, sessionID: 1).bytes
      for _ in 0..<11 { app.send(bytes: [0xFF] + heartbeat) }
    }
    #expect(app.session.incompleteByteCount == 0 && app.isClosed == (cause != "end"))
  }

  /// Four are kept.
  @Test func manyAtOnce() {
    var app = TestApp.streaming()
    for id in 1...6 as ClosedRange<UInt32> { begin(.video, 100_001, sending: 100_000, messageID: id, in: &app) }
    #expect((400_000..<450_000).contains(app.session.incompleteByteCount))
  }

  @Test func noRoom() {
    var app = TestApp.streaming()
    begin(.video, 10_000_000, sending: 3_000_000, in: &app)
    app.run { session, _ in session.dropIncompleteMessage() }
    #expect(app.violations == [.brokenMessage(.video, .noRoom)])
    #expect(app.session.incompleteByteCount == 0 && app.session.nextDeadline == nil)
    app.run { session, _ in session.dropIncompleteMessage() }
    #expect(app.violations.count == 1)
  }

  /// 16 MiB of a registered app.
  @Test func longestMessage() {
    var app = TestApp.streaming()
    let limit: UInt32 = 16 << 20
    begin(.video, limit, sending: 0, in: &app)
    #expect(app.violations == [])
    begin(.video, limit + 1, sending: 0, in: &app)
    #expect(app.violations == [.brokenMessage(.video, .oversized(limit + 1))])
  }
}
