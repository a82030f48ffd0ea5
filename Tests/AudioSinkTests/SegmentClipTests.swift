import GStreamerKit
import SDLApp
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What of buffers and gaps is to be heard, and when, with times in milliseconds.
@Suite struct SegmentClipTests {
  private static let format = PCMFormat()

  private let element: Element
  private let sink: AudioSink

  /// In a segment from 1000 to 2000.
  init() throws {
    // Another sink, since only what it has from GstBaseSink is of interest.
    element = try Element("fakesink")
    sink = AudioSink(UnsafeMutablePointer(OpaquePointer(element.pointer)))
    gst_segment_init(&sink.baseSink.pointee.segment, GST_FORMAT_TIME)
    (sink.baseSink.pointee.segment.start, sink.baseSink.pointee.segment.stop) = (1_000_000_000, 2_000_000_000)
  }

  private static func nanoseconds(_ milliseconds: Int) -> GstClockTime { GstClockTime(milliseconds * 1_000_000) }

  /// A buffer without contents.
  private func withBuffer<R>(
    at time: Int?, duration: Int? = nil, _ body: (UnsafeMutablePointer<GstBuffer>) throws -> R
  ) throws -> R {
    let buffer = try nonNull(gst_buffer_new())
    defer { gst_buffer_unref(buffer) }
    buffer.pointee.pts = time.map(Self.nanoseconds) ?? .max
    buffer.pointee.duration = duration.map(Self.nanoseconds) ?? .max
    return try body(buffer)
  }

  private func clip(at time: Int?, _ count: Int) throws -> SegmentClip? {
    try withBuffer(at: time) { SegmentClip(sink, buffer: $0, count: count, format: Self.format) }
  }

  /// Time, samples, those that are heard, and the running time of the first; a millisecond has 16.
  @Test(
    arguments: [
      (1000, 320, 0..<320, 0), (1001, 320, 0..<320, 1), (990, 320, 160..<320, 0), (1990, 320, 0..<160, 990),
      (500, 32_000, 8000..<24_000, 0), (981, 320, 304..<320, 0), (1999, 320, 0..<16, 999), (1500, 0, 0..<0, 500),
    ] as [(Int, Int, Range<Int>, Int)])
  func heard(time: Int, count: Int, range: Range<Int>, runningTime: Int) throws {
    let clip = try #require(try clip(at: time, count))
    #expect(clip.range == range && clip.runningTime == .milliseconds(runningTime))
  }

  @Test(arguments: [980, 2000, 3000, 0]) func outsideOfTheSegment(time: Int) throws {
    #expect(try clip(at: time, 320) == nil)
  }

  @Test(arguments: [2.0, 0.5, -1]) func atAnotherRateNothingIsHeard(rate: Double) throws {
    sink.baseSink.pointee.segment.rate = rate
    #expect(try clip(at: 1000, 320) == nil)
  }

  /// Then all of it follows what came before.
  @Test func withoutATime() throws {
    let clip = try #require(try clip(at: nil, 320))
    #expect(clip.range == 0..<320 && clip.runningTime == nil)
    gst_segment_init(&sink.baseSink.pointee.segment, GST_FORMAT_BYTES)
    let bytes = try #require(try self.clip(at: 5000, 320))
    #expect(bytes.range == 0..<320 && bytes.runningTime == nil)
  }

  @Test func aSegmentWithoutAnEnd() throws {
    sink.baseSink.pointee.segment.stop = .max
    let clip = try #require(try clip(at: 5000, 320))
    #expect(clip.range == 0..<320 && clip.runningTime == .milliseconds(4000))
  }

  /// Time and duration of a gap, and of its part in the segment; nil for none.
  @Test(
    arguments: [
      (1500, 200, 1500, 200), (900, 200, 1000, 100), (1900, 200, 1900, 100), (500, 2000, 1000, 1000),
      (500, 200, nil, nil), (800, 200, nil, nil), (2000, 100, nil, nil), (1500, 0, nil, nil), (1500, nil, nil, nil),
    ] as [(Int, Int?, Int?, Int?)])
  func gaps(time: Int, duration: Int?, start: Int?, length: Int?) throws {
    let event = try nonNull(gst_event_new_gap(Self.nanoseconds(time), duration.map(Self.nanoseconds) ?? .max))
    defer { gst_event_unref(event) }
    let part = sink.partOfSegment(event)
    #expect(part?.start == start.map(Self.nanoseconds) && part?.duration == length.map { .milliseconds($0) })
  }

  /// The base class waits until the lead before, which is 200 ms by default; the segment has nothing before its start.
  @Test(arguments: [(1500, 1300), (1201, 1001), (1100, 1000), (1000, 1000), (900, 900)])
  func theLead(time: Int, start: Int) throws {
    var (begin, end) = (GstClockTime.max, GstClockTime.max)
    try withBuffer(at: time, duration: 20) { sink.getTimes(of: $0, &begin, &end) }
    #expect(begin == Self.nanoseconds(start) && end == Self.nanoseconds(time + 20))
  }

  @Test func noLeadWithoutATime() throws {
    var (begin, end) = (GstClockTime.max, GstClockTime.max)
    try withBuffer(at: nil) { sink.getTimes(of: $0, &begin, &end) }
    #expect(begin == .max && end == .max)
  }

  /// Never before the base time.
  @Test func offsetOfTheSink() {
    #expect(sink.clockTime(of: .milliseconds(300)) == .milliseconds(300))
    element.set("ts-offset", "-500000000")
    #expect(sink.clockTime(of: .milliseconds(300)) == .zero)
    #expect(sink.clockTime(of: .milliseconds(800)) == .milliseconds(300))
    element.set("render-delay", "100000000")
    #expect(sink.clockTime(of: .milliseconds(800)) == .milliseconds(200))
  }
}

/// Every sample is in exactly one counter.
@Suite struct AudioSinkCountersTests {
  @Test func samplesGoFromTheQueueToOneOfTheOthers() {
    var counters = AudioSinkCounters()
    counters.samplesArrived(10)
    counters.samplesArrived(5)
    #expect(counters.samplesIn == 15 && counters.samplesQueued == 15)
    counters.samplesDropped(4, .late)
    counters.samplesDropped(2, .overlap)
    #expect(counters.samplesQueued == 9 && counters.dropped(.late) == 4 && counters.dropped(.overlap) == 2)
    #expect(counters.dropped(.suspended) == 0)
    counters.sent(samples: 8, silence: 3, byteCount: 22)
    #expect(counters.samplesSent == 8 && counters.silenceSent == 3 && counters.audioBytesSent == 22)
    #expect(counters.samplesQueued == 1 && counters.samplesIn == 15)
    // A wrong count does not end the application.
    counters.samplesDropped(5, .discarded)
    #expect(counters.samplesQueued == 0 && counters.dropped(.discarded) == 5)
  }

  @Test func fields() {
    // As the element's page has them.
    let names: [SampleDropReason: String] = [
      .notStreaming: "not-streaming", .suspended: "suspended", .queueFull: "queue-full", .late: "late",
      .overlap: "overlap", .silent: "silent", .wrongFormat: "wrong-format", .discarded: "discarded",
    ]
    for reason in SampleDropReason.allCases {
      #expect(names[reason].map { "samples-dropped-\($0)" } == reason.field)
    }
  }
}
