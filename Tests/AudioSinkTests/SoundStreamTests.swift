import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Samples that go in come out, bit for bit.
@Suite struct SoundStreamTests {
  @Test(arguments: [1, 7, 320, 1024, 16_000])
  func everySampleArrives(bufferSize: Int) throws {
    let harness = try SoundHarness()
    let sound = testSound(4801)
    harness.push(sound, bufferSize: bufferSize)
    try harness.pipeline.play()
    #expect(try harness.finish() == sound)
    // A busy machine may take so long for the service that the player pauses meanwhile.
    let messages = harness.streamMessages
    #expect(messages.first == "started first-start" && messages.last == "stopped app", "\(messages)")
    #expect(try harness.statistics.areSamplesConserved && harness.statistics["samples-sent"] == 4801)
    #expect(harness.headUnit.record.violations == [])
    #expect(eventually { harness.headUnit.record.audioStopReasons == [.endedByApp] })
  }

  /// Samples, those in a buffer, and messages: short buffers are sent together, until there are 10 ms, or 160 samples;
  /// long ones in parts of 100 ms; and what is left over at the end by itself.
  @Test(arguments: [
    (1600, 40, 10), (1600, 160, 10), (1600, 159, 6), (1600, 1600, 1), (1601, 1601, 2), (3200, 3200, 2),
  ])
  func messages(sampleCount: Int, bufferSize: Int, count: Int) throws {
    let harness = try SoundHarness()
    let sound = testSound(sampleCount)
    harness.push(sound, bufferSize: bufferSize)
    try harness.pipeline.play()
    #expect(try harness.finish() == sound)
    #expect(harness.headUnit.record.audioArrivals.count == count)
  }

  /// Upstream's own error would not say why.
  @Test func memoryThatCannotBeRead() throws {
    let harness = try SoundHarness()
    let buffer = try UnreadableMemory.buffer(byteCount: 640)
    #expect(gst_app_src_push_buffer(try harness.pipeline["src"].pointer.cast(), buffer) == GST_FLOW_OK)
    harness.pipeline.setState(GST_STATE_PAUSED)
    harness.pipeline.setState(GST_STATE_PLAYING)
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT) && error.text.contains("can't be mapped"), "\(error)")
  }

  @Test func eightBits() throws {
    let format = PCMFormat(samplingRate: .hertz8000, sampleSize: .bits8)
    let harness = try SoundHarness(.small().with { $0.pcmFormat = format }, format: format)
    let sound = (0..<2000).map { UInt8(truncatingIfNeeded: $0 * 3 + 1) }
    harness.push(sound, bufferSize: 250)
    try harness.pipeline.play()
    #expect(try harness.finish() == sound)
    let message = try #require(
      harness.pipeline.messages.first { $0.isElement("sdl-stream-started") }?.fields)
    #expect(message["format"] == "U8" && message["rate"] == "8000" && message["service"] == "audio")
    #expect(message["format-assumed"] == "false" && message["transport"] == "primary")
    #expect((message["max-frame-payload"].flatMap { Int($0) } ?? 0) > 100_000, "\(message)")
    let stopped = try #require(harness.pipeline.drain().last { $0.isElement("sdl-stream-stopped") }?.fields)
    #expect(stopped["samples-sent"] == "2000" && stopped["service"] == "audio" && stopped["reason"] == "app")
  }

  /// In real time: the first sample comes when it is to be heard, what follows it comes before its time, and everything
  /// else in the pipeline is later by the lead.
  @Test func leavesBeforeItsTime() throws {
    let harness = try SoundHarness(properties: "lead-time=600")
    let sound = testSound(32_000)
    let standstills = Standstills()
    harness.push(sound)
    try harness.pipeline.play()
    try harness.pipeline.wait(for: "playing") {
      $0.kind == .state(from: GST_STATE_PAUSED, to: GST_STATE_PLAYING) ? true : nil
    }
    #expect(try latency(of: harness.pipeline) == .milliseconds(600))
    let began = Duration.nanoseconds(Int64(gst_element_get_base_time(harness.pipeline.element.pointer)))
    let heard = try harness.finish()
    // 2 s of sound, of which the last 20 ms come 1980 ms after the start, and are heard 600 ms later.
    let arrivals = harness.headUnit.record.audioArrivals
    let (first, last) = (try #require(arrivals.first), try #require(arrivals.last))
    let times = [first.time - began, last.time - began]
    // A thread that is woken late leaves out what would be heard late.
    let late = try harness.statistics["samples-dropped-late"]
    #expect(isComplete(heard, of: sound, but: 2 * late), "\(late) samples late")
    let tolerance = Duration.milliseconds(40) + standstills.total + PCMFormat().duration(ofSampleCount: late)
    #expect(times[0] >= .milliseconds(600) && times[0] < .milliseconds(600) + tolerance, "\(times)")
    #expect(times[1] >= .milliseconds(1980) && times[1] < .milliseconds(1980) + tolerance, "\(times)")
  }

  /// The least.
  private func latency(of pipeline: Pipeline) throws -> Duration {
    guard let query = gst_query_new_latency() else { throw TestFailure("no query") }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(query).assumingMemoryBound(to: GstMiniObject.self)) }
    guard gst_element_query(pipeline.element.pointer, query) != 0 else { throw TestFailure("no latency") }
    var (isLive, minimum, maximum): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
    gst_query_parse_latency(query, &isLive, &minimum, &maximum)
    return .nanoseconds(Int64(minimum))
  }

  /// The pipeline's latency has a lead that is set while it plays.
  @Test func anotherLead() throws {
    let harness = try SoundHarness(properties: "lead-time=600")
    harness.push(testSound(320))
    try harness.pipeline.play()
    try harness.pipeline.wait(for: "playing") {
      $0.kind == .state(from: GST_STATE_PAUSED, to: GST_STATE_PLAYING) && $0.source == "sink" ? true : nil
    }
    try harness.pipeline.sink.set("lead-time", "300")
    try harness.pipeline.wait(for: "latency") { $0.kind == .other("latency") && $0.source == "sink" ? true : nil }
    #expect(try latency(of: harness.pipeline) == .milliseconds(300))
  }

  /// Half of a sample at the end of a buffer is none, which is said once.
  @Test func incompleteSamples() throws {
    let harness = try SoundHarness()
    for number: UInt8 in 0..<3 { harness.source.push([number + 1, 0, 9], at: .microseconds(62 * Int(number))) }
    try harness.pipeline.play()
    #expect(try harness.finish() == [1, 0, 2, 0, 3, 0])
    let warnings = harness.pipeline.drain().compactMap(\.warning)
    #expect(warnings.map { $0.isStream(GST_STREAM_ERROR_FORMAT) } == [true], "\(warnings)")
    #expect(try harness.statistics["samples-in"] == 3 && harness.statistics.areSamplesConserved)
  }

  /// Buffers of several seconds are paced as well.
  @Test func oneLargeBuffer() throws {
    let harness = try SoundHarness(properties: "sync=false lead-time=800")
    let sound = testSound(40_000)
    harness.push(sound, bufferSize: 40_000)
    try harness.pipeline.sink.set("sync", "true")
    try harness.pipeline.play()
    let heard = try harness.finish()
    let late = try harness.statistics["samples-dropped-late"]
    #expect(isComplete(heard, of: sound, but: 2 * late), "\(late) samples late")
    let arrivals = harness.headUnit.record.audioArrivals
    #expect(late > 0 || arrivals.count == 25)
    let began = Duration.nanoseconds(Int64(gst_element_get_base_time(harness.pipeline.element.pointer)))
    #expect((arrivals.last?.time ?? .zero) - began > .milliseconds(1300))
  }

  @Test func tenMegabytes() throws {
    let harness = try SoundHarness()
    let sound = testSound(5_000_000)
    harness.push(sound, bufferSize: 5_000_000)
    try harness.pipeline.play()
    #expect(try harness.finish() == sound)
    #expect(try harness.statistics.areSamplesConserved)
  }

  @Test func withoutTimeStamps() throws {
    let harness = try SoundHarness(properties: "sync=true lead-time=800")
    let sound = testSound(32_000)
    for start in stride(from: 0, to: sound.count, by: 640) {
      harness.source.push(Array(sound[start..<(start + 640)]), at: nil)
    }
    try harness.pipeline.play()
    let heard = try harness.finish()
    // The first sample has no lead: a busy machine may be late for some at the start.
    let late = 2 * (try harness.statistics["samples-dropped-late"])
    #expect(isComplete(heard, of: sound, but: late), "\(late) bytes late")
    #expect(try harness.statistics["silence-samples-sent"] == 0)
  }

  /// A wait for a time that is centuries away would spin in GStreamer's clock, and never end.
  @Test func aTimeStampAfterTheLatest() throws {
    let harness = try SoundHarness(properties: "sync=true")
    let sound = testSound(1600)
    harness.source.push(sound, at: .nanoseconds(Int64.max))
    try harness.pipeline.play()
    let heard = try harness.finish()
    #expect(isComplete(heard, of: sound, but: 2 * (try harness.statistics["samples-dropped-late"])))
  }

  /// A gap of 100 ms between two buffers, and 50 ms that come twice.
  @Test func gapsAndOverlaps() throws {
    let harness = try SoundHarness()
    let parts = [testSound(800), testSound(800, seed: 1), testSound(1600, seed: 2)]
    harness.source.push(parts[0], at: .zero)
    harness.source.push(parts[1], at: .milliseconds(150))
    harness.source.push(parts[2], at: .milliseconds(150))
    try harness.pipeline.play()
    let heard = try harness.finish()
    #expect(heard.count == 2 * (800 + 1600 + 800 + 800))
    #expect(Array(heard[..<1600]) == parts[0])
    // The ramp takes 5 ms.
    #expect(Array(heard[(1600 + 160)..<4800]) == silence(1520))
    #expect(Array(heard[4800..<6400]) == parts[1])
    #expect(Array(heard[(6400 + 160)...]) == Array(parts[2][(1600 + 160)...]))
    let statistics = try harness.statistics
    #expect(statistics["silence-samples-sent"] == 1600 && statistics["samples-dropped-overlap"] == 800)
    #expect(statistics["audio-bytes-sent"] == heard.count && statistics["bytes-sent"] > heard.count)
    #expect(statistics.areSamplesConserved)
  }

  @Test func gapEvents() throws {
    let harness = try SoundHarness()
    let sound = testSound(1600)
    harness.source.push(Array(sound[..<1600]), at: .zero)
    harness.source.sendGap(at: .milliseconds(50), .milliseconds(100))
    harness.source.push(Array(sound[1600...]), at: .milliseconds(150))
    try harness.pipeline.play()
    let heard = try harness.finish()
    #expect(heard.count == 2 * 3200)
    #expect(Array(heard[..<1600]) == Array(sound[..<1600]) && Array(heard[4800...]) == Array(sound[1600...]))
    #expect(try harness.statistics["silence-samples-sent"] == 1600)
  }

  /// A pause of a minute is one, and not a minute of silence.
  @Test func longGapsAreNotFilled() throws {
    let harness = try SoundHarness()
    let sound = testSound(640)
    harness.source.push(Array(sound[..<640]), at: .zero)
    harness.source.push(Array(sound[640...]), at: .seconds(60))
    try harness.pipeline.play()
    #expect(try harness.finish() == sound)
  }

  @Test func volumeAndMute() throws {
    let harness = try SoundHarness(properties: "sync=false volume=0.5")
    let sink = try harness.pipeline.sink
    let sound = testSound(3200)
    harness.push(sound)
    try harness.pipeline.play()
    let heard = try harness.headUnit.waitForSound(sound.count)
    #expect(zip(samples(heard), samples(sound)).allSatisfy { abs(Int($0) - Int(($1 / 2))) <= 1 })
    sink.set("mute", "true")
    harness.push(sound)
    let muted = try harness.headUnit.waitForSound(2 * sound.count)
    #expect(Array(muted[(sound.count + 320)...]) == silence(3200 - 160))
    sink.set("mute", "false")
    sink.set("volume", "1")
    harness.push(sound)
    let loud = try harness.headUnit.waitForSound(3 * sound.count)
    #expect(Array(loud[(2 * sound.count + 640)...]) == Array(sound[640...]))
  }

  private func samples(_ bytes: [UInt8]) -> [Int16] {
    stride(from: 0, to: bytes.count, by: 2).map { Int16(truncatingIfNeeded: Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8) }
  }
}
