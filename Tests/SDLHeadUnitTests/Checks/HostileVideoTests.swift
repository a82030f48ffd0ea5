import H264
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// Messages that hold as much as possible of what has to be looked at.
@Suite struct HostileVideoTests {
  /// The first of them is longer than any that is kept.
  @Test func parameterSetsWithoutContent() {
    var app = TestApp.streaming()
    app.video([0, 0, 0, 1, 0x67] + [UInt8](repeating: 0x42, count: 600))
    app.forget()
    let count = 100_000
    app.video([[UInt8]](repeating: [0, 0, 1, 0x67], count: count).flatMap(\.self))
    // All are counted, the first are named.
    #expect(app.violations == Array(repeating: .stream(.unreadableSequenceParameterSet), count: 20))
    #expect(app.session.statistics.violations >= UInt64(count - 1))
    app.wait(.seconds(1))
    app.video(Stream.keyFrame)
    #expect(app.session.statistics.keyFrames == 1)
  }

  @Test func sizesThatChangeAllTheTime() {
    var app = TestApp.streaming()
    let sizes = Stream.units(Stream.sps480x320, Stream.sps800x480)
    app.video([[UInt8]](repeating: sizes, count: 1000).flatMap(\.self))
    #expect(app.violations.count == 20)
  }

  @Test func picturesWithoutContentOverRTP() {
    var app = TestApp.streamingRTP()
    var sender = RTPSender()
    app.video(sender.message(of: Stream.units(Stream.sps480x320, Stream.pps, Stream.idr)))
    app.forget()
    let message = (0..<2000).flatMap { _ in sender.message(of: Stream.units([0x41, 0x9A])) }
    for _ in 0..<2 { app.video(message) }
    #expect(app.shown.count == 600)
    #expect(app.violations.filter { $0 == .stream(.tooManyAccessUnits(limit: 300)) }.count == 1)
  }
}
