import GStreamerKit
import Glibc
import SDLMessages
import Synchronization
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What is pushed between utterances, and when the driver does not hear the app.
@Suite struct UtteranceTests {
  /// Before, between and after what apps say, every sample is there.
  @Test func silentSamples() throws {
    let screen = try SoundPipeline()
    let clock = ContinuousClock()
    let pieces = soundPieces(10)
    var samples: [SoundPipeline.Sample] = []
    // From before an utterance was sent until it had been pushed.
    var spans: [ClosedRange<ContinuousClock.Instant>] = []
    let app = try RawApp.active(port: screen.port)
    for _ in 0..<3 {
      #expect(try app.startAudio())
      let began = clock.now
      app.audio(messages: pieces)
      samples += try screen.pull(soundByteCount: 10 * 640)
      spans.append(began...clock.now)
      app.endAudio()
      // Until what came at once has been played, and for a while after that.
      var silence: UInt64 = 0
      while silence < 300_000_000, let sample = screen.pull() {
        samples.append(sample)
        if sample.isSilence { silence += sample.duration }
      }
    }
    #expect(samples.sound == (0..<3).flatMap { _ in pieces.flatMap(\.self) })
    #expect(samples.areContiguous)
    #expect(samples.filter(\.isSilence).allSatisfy { $0.bytes.allSatisfy { $0 == 0 } })
    // As far apart as they were sent.
    let begins = samples.enumerated().filter { index, sample in
      !sample.isSilence && (index == 0 || samples[index - 1].isSilence)
    }.map(\.element.time)
    #expect(begins.count == 3)
    for (times, spans) in zip(zip(begins, begins.dropFirst()), zip(spans, spans.dropFirst())) {
      let heard = Duration.nanoseconds(Int64(times.1 - times.0))
      let shortest = spans.1.lowerBound - spans.0.upperBound
      let longest = spans.1.upperBound - spans.0.lowerBound
      let tolerance = Duration.milliseconds(10)
      #expect((shortest - tolerance...longest + tolerance).contains(heard), "\(shortest) \(heard) \(longest)")
    }
    #expect(screen.statistics["samples-of-silence"] > 0 && screen.statistics["gaps"] == 0)
  }

  /// Gap events and sound together leave nothing out.
  @Test func gapEvents() throws {
    let screen = try SoundPipeline("silence=gap-events")
    let recorder = GapRecorder(try screen.source.pad("src"))
    let app = try RawApp.active(port: screen.port)
    let pieces = soundPieces(10)
    var samples: [SoundPipeline.Sample] = []
    for _ in 1...2 {
      let former = recorder.gaps.count
      #expect(eventually { recorder.gaps.count >= former + 3 })
      #expect(try app.startAudio())
      app.audio(messages: pieces)
      samples += try screen.pull(soundByteCount: 10 * 640)
      app.endAudio()
    }
    #expect(samples.allSatisfy { !$0.isSilence })
    #expect(samples.sound == (0..<2).flatMap { _ in pieces.flatMap(\.self) })
    #expect(samples.enumerated().allSatisfy { $1.isDiscontinuous == ($0 % 10 == 0) })
    let spans = (recorder.gaps + samples.map { $0.time..<$0.end }).sorted { $0.lowerBound < $1.lowerBound }
      .filter { $0.lowerBound < samples.last?.end ?? 0 }
    #expect(zip(spans, spans.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound }, "\(spans)")
    #expect(screen.statistics["samples-of-silence"] == 0)
    #expect(screen.pipeline.drain().allSatisfy { $0.error == nil && $0.warning == nil })
  }

  /// A flush takes the segment away, and no sound has come with which GstBaseSrc would send another.
  @Test func gapEventsAfterAFlush() throws {
    let screen = try SoundPipeline("silence=gap-events")
    let pad = try screen.source.pad("src")
    let recorder = GapRecorder(pad)
    #expect(eventually { !recorder.gaps.isEmpty })
    #expect(gst_element_send_event(screen.source.pointer, gst_event_new_flush_start()) != 0)
    #expect(gst_element_send_event(screen.source.pointer, gst_event_new_flush_stop(0)) != 0)
    let former = recorder.gaps.count
    #expect(eventually { recorder.gaps.count > former })
    let segment = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0)
    #expect(segment != nil)
    if let segment { gst_event_unref(segment) }
  }

  /// The head unit tells the app, and what it sends all the same is not heard.
  @Test(arguments: [("audio-streaming", "not-audible", "audible"), ("hmi-level", "none", "full")])
  func notHeard(property: String, off: String, on: String) throws {
    let screen = try SoundPipeline("strict=false")
    let app = try RawApp.speaking(port: screen.port)
    app.audio(soundPieces(1)[0])
    _ = try screen.pull(soundByteCount: 640)
    screen.source.set(property, off)
    #expect(eventually { screen.source[property] == off })
    try screen.pipeline.wait(for: "status") {
      $0.isElement("sdl-hmi-status") && $0.fields["audio-streaming-state"] == "not-audible" ? true : nil
    }
    app.audio(soundPieces(1)[0])
    // After it, so that it has been read.
    _ = try app.request(.getSystemCapability, ["systemCapabilityType": .string("VIDEO_STREAMING")])
    #expect(screen.statistics["samples-in"] == 320)
    screen.source.set(property, on)
    try screen.pipeline.wait(for: "status") {
      $0.isElement("sdl-hmi-status") && $0.fields["audio-streaming-state"] == "audible" ? true : nil
    }
    if property == "hmi-level" {
      #expect(try app.startAudio())
    }
    app.audio(soundPieces(1)[0])
    _ = try screen.pull(soundByteCount: 640)
  }

  /// A phone call silences the app, and its end does not need another service; then the head unit ends it.
  @Test func script() throws {
    let path = "\(String(cString: g_get_tmp_dir()))/sdl-sound-\(getpid())-\(UInt64.random(in: 0...(.max))).txt"
    let file = try nonNull(fopen(path, "w"))
    fputs(
      """
      on audio-started after 0.1: phone-call on
      on audio-started after 3.1: phone-call off
      on audio-started after 6.1: end-audio
      """, file)
    fclose(file)
    defer { unlink(path) }
    let screen = try SoundPipeline("script=\(path)")
    let app = try RawApp.speaking(port: screen.port)
    for state in ["audible", "not-audible", "audible"] {
      try screen.pipeline.wait(for: state) {
        $0.isElement("sdl-hmi-status") && $0.fields["level"] == "full"
          && $0.fields["audio-streaming-state"] == state ? true : nil
      }
      if state == "not-audible" { app.audio([5, 6, 7, 8]) }
    }
    app.audio([1, 2, 3, 4])
    #expect(try screen.pull(soundByteCount: 4).sound == [1, 2, 3, 4])
    let stopped = try screen.pipeline.waitForElementMessage("sdl-stream-stopped")
    #expect(stopped["reason"] == "head-unit" && stopped["samples-out"] == "2")
    #expect(screen.source["violations"] == "<  >")
  }

  @Test(arguments: ["audible", "attenuated", "not-audible"])
  func whatAnAppIsToldFirst(state: String) throws {
    let screen = try SoundPipeline("audio-streaming=\(state)")
    let app = try RawApp.active(port: screen.port)
    defer { app.close() }
    try screen.pipeline.wait(for: "status") {
      $0.isElement("sdl-hmi-status") && $0.fields["level"] == "full"
        && $0.fields["audio-streaming-state"] == state ? true : nil
    }
    #expect(try app.startAudio() == (state != "not-audible"))
    guard state == "not-audible" else { return }
    let refused = try screen.pipeline.waitForElementMessage("sdl-stream-refused")
    #expect(refused["service"] == "audio" && screen.statistics["stream-refusals"] == 1)
  }

  /// What is said in a pause would delay everything after it.
  @Test func pause() throws {
    let screen = try SoundPipeline()
    let app = try RawApp.speaking(port: screen.port)
    app.audio(soundPieces(1)[0])
    _ = try screen.pull(soundByteCount: 640)
    screen.pipeline.setState(GST_STATE_PAUSED)
    for piece in soundPieces(10) { app.audio(piece) }
    #expect(eventually { screen.statistics["samples-dropped-paused"] == 3200 })
    try screen.pipeline.play()
    app.audio([1, 2, 3, 4])
    #expect(try screen.pull(soundByteCount: 4).sound == [1, 2, 3, 4])
    #expect(screen.statistics.areSamplesBalanced)
  }

  /// The one that began last is heard; then the other again.
  @Test func twoApps() throws {
    var audio = ReceivedAudio(ReceivedAudio.Counters())
    audio.isPlaying = true
    audio.begin(by: 1)
    var isTaken = [audio.append([1, 2], from: 1, now: .zero)]
    audio.begin(by: 2)
    isTaken += [audio.append([3, 4], from: 1, now: .zero), audio.append([5, 6], from: 2, now: .zero)]
    audio.end(by: 2)
    isTaken.append(audio.append([7, 8], from: 1, now: .zero))
    #expect(isTaken == [true, false, true, true])
    let messages = (0..<3).compactMap { _ in audio.take() }
    #expect(messages.map(\.bytes) == [[1, 2], [5, 6], [7, 8]] && messages.allSatisfy(\.isStart))
    #expect(audio.first == nil && audio.queuedCount == 0)
  }

  @Test func memoryIsBounded() {
    var audio = ReceivedAudio(ReceivedAudio.Counters())
    audio.isPlaying = true
    audio.begin(by: 1)
    let message = [UInt8](repeating: 1, count: 1 << 20)
    for _ in 0..<20 { _ = audio.append(message, from: 1, now: .zero) }
    // Seven, because each takes a little more than its bytes.
    #expect(audio.queuedCount == 7 << 19)
    #expect(audio.counters.droppedFull == 13 << 19)
    while audio.take() != nil {}
    _ = audio.append([1, 2], from: 1, now: .zero)
    let next = audio.take()
    #expect(next?.bytes == [1, 2] && next?.isDiscontinuous == true)
    // Short ones take far more than theirs.
    for _ in 0..<200_000 { _ = audio.append([1, 2], from: 1, now: .zero) }
    #expect(audio.queuedCount < (8 << 20) / 64)
  }
}

/// The GAP events that leave a pad.
private final class GapRecorder: Sendable {
  private let state = Mutex<[Range<UInt64>]>([])

  init(_ pad: UnsafeMutablePointer<GstPad>) {
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      { _, info, data in
        guard let info, let data, let event = gst_pad_probe_info_get_event(info), event.pointee.type == GST_EVENT_GAP
        else { return GST_PAD_PROBE_OK }
        var (time, duration): (GstClockTime, GstClockTime) = (0, 0)
        gst_event_parse_gap(event, &time, &duration)
        let gap = UInt64(time)..<UInt64(time + duration)
        Unmanaged<GapRecorder>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.state.withLock { $0.append(gap) } }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(self).toOpaque(),
      { if let data = $0 { Unmanaged<GapRecorder>.fromOpaque(data).release() } })
  }

  var gaps: [Range<UInt64>] { state.withLock { $0 } }
}
