import GStreamerKit
import SDLLink
import SDLMessages
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLApp
@testable import SDLAppLink

/// Samples on their way to the queue.
@Suite struct SamplePathTests {
  private let bench: SampleBench

  init() throws {
    bench = try SampleBench()
  }

  /// The head unit begins to play from an empty queue: silence takes the place of the lead again, for sound that leaves
  /// as early as before.
  @Test(arguments: [(true, 6400), (false, 3200)]) func anotherServiceWithinTheLead(isNew: Bool, silence: Int) throws {
    // The default lead.
    try bench.render(320, at: .milliseconds(1200))
    bench.setTime(.milliseconds(1020))
    try bench.render(320, at: .milliseconds(1220))
    #expect(bench.counters.silenceSent == 3200 && bench.counters.samplesSent == 640)
    if isNew { try bench.setGrant(2) }
    bench.setTime(.milliseconds(1040))
    try bench.render(320, at: .milliseconds(1240))
    #expect(bench.counters.silenceSent == UInt64(silence) && bench.counters.samplesSent == 960)
  }

  /// Sound from before a seek is not played after it, and that after it may be from before.
  @Test func aFlush() throws {
    try bench.render(320, at: .seconds(1))
    // Too short to be sent alone.
    try bench.render(80, at: .milliseconds(1020))
    #expect(bench.counters.samplesSent == 320 && bench.counters.samplesQueued == 80)
    bench.setTime(.milliseconds(1025))
    try bench.flush(baseTime: .milliseconds(525))
    #expect(bench.counters.dropped(.discarded) == 80 && bench.counters.samplesQueued == 0)
    try bench.render(320, at: .milliseconds(500))
    #expect(bench.counters.samplesSent == 640 && bench.counters.dropped(.overlap) == 0)
  }

  /// What waits for more is sent before sound of another format, and the same caps again change nothing.
  @Test func otherCaps() throws {
    try bench.render(80, at: .seconds(1))
    try bench.setCaps(PCMFormat())
    #expect(bench.counters.samplesSent == 0 && bench.counters.samplesQueued == 80)
    try bench.setCaps(PCMFormat(samplingRate: .hertz8000, sampleSize: .bits8))
    #expect(bench.counters.samplesSent == 80 && bench.counters.samplesQueued == 0)
    #expect(bench.counters.audioBytesSent == 160)
  }

  /// Whether the stream or the connection has heard of it first.
  @Test(arguments: [true, false]) func whatWaitsForMoreIsGivenUpWithoutAService(isKnown: Bool) throws {
    try bench.render(80, at: .seconds(1))
    try bench.setGrant(nil, isKnown: isKnown)
    try bench.setCaps(PCMFormat(samplingRate: .hertz8000, sampleSize: .bits8))
    #expect(bench.counters.dropped(.discarded) == 80 && bench.counters.samplesQueued == 0)
    // Its memory is there for the next one.
    #expect(bench.sink.state.withLock { $0.payloads.count } == 1)
  }
}

/// Live sound that a head unit does not take. The default lead of 200 ms and 500 ms may be on their way.
@Suite struct LiveSoundDelayTests {
  private let clock = ManualClock()

  private func bench(isFull: Bool) throws -> SampleBench {
    let clock = clock
    return try SampleBench(isLive: true, isFull: isFull, time: TimeSource { clock.now })
  }

  /// Brings a tenth of a second, at its time; returns whether it is left out.
  private func leavesOut(_ number: Int, _ bench: SampleBench) throws -> Bool {
    let before = bench.counters.dropped(.queueFull)
    let time = Duration.seconds(1) + .milliseconds(100 * number)
    bench.setTime(time)
    try bench.render(1600, at: time)
    let dropped = bench.counters.dropped(.queueFull) - before
    #expect([0, 1600].contains(dropped))
    return dropped > 0
  }

  /// Seven tenths of a second may wait in the queue, and what comes then. The connection hears of more, and silence is
  /// not added to it.
  @Test func whatWaitsInTheQueue() throws {
    let bench = try bench(isFull: true)
    let writer = bench.app.connection.writer
    func isAwaiting() -> Bool { writer.awaitsAcknowledgement(.audio) }
    for number in 0..<8 {
      let isLeftOut = try leavesOut(number, bench)
      #expect(!isLeftOut && !isAwaiting(), "\(number)")
    }
    #expect(writer.read(.audio, \.statistics).queuedByteCount == 8 * 3200)
    let isLeftOut = try leavesOut(8, bench)
    #expect(isLeftOut && isAwaiting())
    bench.setTime(.milliseconds(1900))
    try bench.render(320, at: .milliseconds(1950))
    #expect(writer.read(.audio, \.statistics).queuedByteCount == 8 * 3200)
    #expect(bench.counters.dropped(.queueFull) == 1920)
  }

  /// The next sound, or another stream, may not be behind; and a stream that is over brings none that could tell.
  @Test(arguments: [true, false]) func theWatchEnds(withAFlush isFlush: Bool) throws {
    let bench = try bench(isFull: true)
    for number in 0..<9 { _ = try leavesOut(number, bench) }
    #expect(bench.app.connection.writer.awaitsAcknowledgement(.audio))
    if isFlush { try bench.flush(baseTime: .zero) } else { bench.stream.discardRest() }
    #expect(!bench.app.connection.writer.awaitsAcknowledgement(.audio))
  }

  /// The same of what the kernel has, which is as old as the first look at it after it was sent.
  @Test func whatWaitsInTheKernel() throws {
    let bench = try bench(isFull: false)
    for number in 0..<2 {
      let isLeftOut = try leavesOut(number, bench)
      #expect(!isLeftOut)
    }
    clock.advance(by: .milliseconds(700))
    let isLeftOut = try leavesOut(2, bench)
    #expect(!isLeftOut && bench.counters.samplesSent == 3 * 1600)
    clock.advance(by: .nanoseconds(1))
    let isLateLeftOut = try leavesOut(3, bench)
    #expect(isLateLeftOut && bench.app.connection.writer.awaitsAcknowledgement(.audio))
  }
}

/// What a stream of sound hears of the app's session.
@Suite struct AudioSessionTests {
  /// The format is compared again with a head unit after a loss, and each service counts once.
  @Test func whatIsNewInAStatus() throws {
    let bench = try SampleBench()
    func starts() -> UInt64 { bench.counters.stream.starts }
    #expect(starts() == 1 && bench.stream.isHeadUnitNew.take())
    try bench.setGrant(1)
    #expect(starts() == 1)
    try bench.setGrant(nil)
    #expect(starts() == 1)
    try bench.setGrant(2)
    #expect(starts() == 2 && !bench.stream.isHeadUnitNew.take())
    bench.stream.sessionChanged(to: AppSession.Status())
    #expect(starts() == 2 && !bench.stream.isHeadUnitNew.take())
    try bench.setGrant(3)
    #expect(starts() == 3 && bench.stream.isHeadUnitNew.take())
  }
}

/// Pieces of sound, which are used again and again.
@Suite struct SamplePayloadTests {
  private let element: Element
  private let sink: AudioSink

  init() throws {
    element = try Element("sdlaudiosink")
    sink = AudioSink(element.pointer.cast())
  }

  private var counters: AudioSinkCounters { sink.state.withLock { $0.counters } }

  /// A payload of a part of `buffer`.
  private func payload(_ buffer: UnsafeMutablePointer<GstBuffer>) -> SamplePayload {
    let payload = SamplePayload()
    payload.begin(for: sink)
    let isMapped = payload.refer(to: buffer, 2..<6, sampleCount: 2)
    #expect(isMapped && payload.byteCount == 4 && Array(payload.segment(at: 0)) == [3, 4, 5, 6])
    sink.count { $0.samplesArrived(2) }
    return payload
  }

  /// Nothing holds the buffer any more, and nothing of it is in the next use.
  @Test(arguments: [true, false]) func whatIsReleasedIsEmpty(wasSent: Bool) throws {
    let buffer = try nonNull(gst_buffer_new_memdup([1, 2, 3, 4, 5, 6, 7, 8] as [UInt8], 8))
    defer { gst_buffer_unref(buffer) }
    let payload = payload(buffer)
    #expect(buffer.pointee.mini_object.refcount == 2)
    // Once, whoever says so again.
    for _ in 0..<2 { payload.release(wasSent: wasSent) }
    #expect(buffer.pointee.mini_object.refcount == 1 && isWritable(buffer))
    #expect(counters.samplesSent == (wasSent ? 2 : 0) && counters.audioBytesSent == (wasSent ? 4 : 0))
    #expect(counters.dropped(.discarded) == (wasSent ? 0 : 2) && counters.samplesQueued == 0)
    #expect(sink.state.withLock { $0.payloads.count } == 1)
    payload.begin(for: sink)
    payload.append(byteCount: 2, silenceCount: 1) { $0.copyBytes(from: [9, 9]) }
    #expect(payload.sampleCount == 0 && payload.silenceCount == 1 && Array(payload.segment(at: 0)) == [9, 9])
    payload.release(wasSent: true)
    #expect(counters.samplesSent == (wasSent ? 2 : 0) && counters.silenceSent == 1)
    payload.begin(for: sink)
    #expect(payload.byteCount == 0 && payload.silenceCount == 0)
  }

  @Test func aPayloadThatGoesReleasesItsBuffer() throws {
    let buffer = try nonNull(gst_buffer_new_memdup([1, 2, 3, 4, 5, 6, 7, 8] as [UInt8], 8))
    defer { gst_buffer_unref(buffer) }
    _ = payload(buffer)
    #expect(buffer.pointee.mini_object.refcount == 1 && isWritable(buffer))
  }

  /// More than there is room for at first.
  @Test func whatIsThereStaysWhenItGrows() {
    let payload = SamplePayload()
    for (byte, count) in [(1, 4000), (2, 96), (3, 1), (4, 20_000)] as [(UInt8, Int)] {
      payload.append(byteCount: count, sampleCount: 1) { $0.initializeMemory(as: UInt8.self, repeating: byte) }
    }
    let bytes = Array(payload.segment(at: 0))
    #expect(bytes.count == 24_097 && payload.sampleCount == 4)
    let counts = (1...4).map { byte in bytes.count { $0 == byte } }
    #expect(counts == [4000, 96, 1, 20_000] && bytes == bytes.sorted())
  }

  private func isWritable(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_WRITE) != 0 else { return false }
    gst_buffer_unmap(buffer, &map)
    return true
  }
}
