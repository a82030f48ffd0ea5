import H264
import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnit

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

  /// The work of a call is bounded, whatever the app has sent: the head unit has one thread for all apps.
  @Test(arguments: [false, true]) func longMessagesTakeManySteps(isRTP: Bool) throws {
    var app = isRTP ? TestApp.streamingRTP() : TestApp.streaming()
    var sender = RTPSender()
    let units = [[UInt8]](repeating: [0, 0, 1, 0x67], count: 100_000).flatMap(\.self)
    let message = isRTP ? sender.message(of: Stream.units(Stream.idr + [UInt8](repeating: 7, count: 400_000))) : units
    app.forget()
    for frame in frames(of: message) { app.handle(app.session.receive(.frame(frame), now: app.now)) }
    var steps = 0
    while app.session.busyTransport == .primary {
      #expect(app.shown.isEmpty)
      app.handle(app.session.continueWork(now: app.now))
      steps += 1
    }
    #expect(steps >= message.count / VideoStreamChecker.sliceSize)
    #expect(app.shown.count == 1 && app.session.busyTransport == nil)
    guard !isRTP else { return }
    // What ends the service ends the work, and the next one has nothing of it.
    for frame in frames(of: message) { app.handle(app.session.receive(.frame(frame), now: app.now)) }
    #expect(app.session.busyTransport == .primary)
    let hidden = HMIStatus(level: HMILevel.none, audioStreamingState: .notAudible, videoStreamingState: .notStreamable)
    app.handle(app.session.setHMIStatus(hidden, now: app.now))
    try #require(app.session.busyTransport == nil)
    app.forget()
    app.send(.endServiceACK, .video)
    app.set(.full, .streamable)
    app.startVideo(.standard)
    app.video(Stream.keyFrame)
    #expect(app.shown == [Stream.keyFrame])
  }

  private func frames(of message: [UInt8]) -> [Frame] {
    var decoder = FrameDecoder()
    decoder.append(
      Fragmentation(
        service: .video, version: 5, sessionID: 1, messageID: 500, payloadSize: message.count, maximumPayload: 131_060
      ).frames(of: message))
    var frames: [Frame] = []
    while case .frame(let frame)? = decoder.next() { frames.append(frame) }
    return frames
  }

  /// Reading one takes much longer than finding it. There are 32 ids.
  @Test func parameterSetsThatAreNotRead() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    let sets = [[UInt8]](repeating: Stream.units(Stream.sps800x480), count: 32) + [Stream.units(Stream.sps480x320)]
    app.forget()
    app.video(sets.flatMap(\.self))
    #expect(app.violations == [])
    app.video(sets.reversed().flatMap(\.self))
    #expect(app.violations == [.stream(.pictureSize(expected: .init(800, 480), got: .init(480, 320)))])
  }

  @Test func sizesThatChangeAllTheTime() {
    var app = TestApp.streaming()
    let sizes = Stream.units(Stream.sps480x320, Stream.sps800x480)
    app.video([[UInt8]](repeating: sizes, count: 16).flatMap(\.self))
    #expect(app.violations.count == 16)
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
