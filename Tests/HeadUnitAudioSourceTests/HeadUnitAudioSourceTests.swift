import GStreamerKit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// `sdlheadunitaudiosrc` alone, with an app that a test controls.
@Suite struct HeadUnitAudioSourceTests {
  @Test func samplesArriveAsTheyWere() throws {
    let screen = try SoundPipeline()
    let app = try RawApp.speaking(port: screen.port)
    let pieces = soundPieces(50)
    app.audio(messages: pieces)
    let samples = try screen.pull(soundByteCount: 50 * 640)
    #expect(samples.sound == pieces.flatMap(\.self))
    #expect(samples.areContiguous)
    #expect(samples.dropFirst().allSatisfy { !$0.isDiscontinuous } && samples[0].isDiscontinuous)
    #expect(
      samples[0].caps
        == "audio/x-raw, format=(string)S16LE, layout=(string)interleaved, rate=(int)16000, channels=(int)1")
    let sound = samples.filter { !$0.isSilence }
    #expect(sound.allSatisfy { $0.duration == 20_000_000 })
    for (earlier, later) in zip(samples, samples.dropFirst()) {
      #expect(later.offset == earlier.offset + UInt64(earlier.bytes.count / 2))
    }
    let started = try screen.pipeline.waitForElementMessage("sdl-stream-started")
    #expect(started["service"] == "audio" && started["rate"] == "16000" && started["format"] == "S16LE")
    app.endAudio()
    let stopped = try screen.pipeline.waitForElementMessage("sdl-stream-stopped")
    #expect(stopped["service"] == "audio" && stopped["reason"] == "app" && stopped["samples-out"] == "16000")
    #expect(screen.statistics.areSamplesBalanced && screen.statistics["samples-out"] == 16_000)
    #expect(screen.statistics["gaps"] == 0)
  }

  @Test(arguments: PCMFormat.SamplingRate.allCases, PCMFormat.SampleSize.allCases)
  func announcedFormat(rate: PCMFormat.SamplingRate, size: PCMFormat.SampleSize) throws {
    let format = PCMFormat(samplingRate: rate, sampleSize: size)
    let screen = try SoundPipeline("pcm-capabilities=\(format.text)")
    #expect(screen.source["pcm-capabilities"] == format.text)
    let silence = try #require(screen.pull())
    #expect(silence.bytes.allSatisfy { $0 == (size == .bits8 ? 0x80 : 0) })
    let app = try RawApp.speaking(port: screen.port)
    let piece = soundPieces(1, byteCount: 880)[0]
    app.audio(piece)
    let samples = try screen.pull(soundByteCount: 880)
    #expect(samples.sound == piece && samples.areContiguous)
    #expect(samples[0].caps.contains("rate=(int)\(rate.hertz)"))
    #expect(samples[0].caps.contains("format=(string)\(size == .bits8 ? "U8" : "S16LE")"))
  }

  /// The default of apps to which a head unit says nothing.
  @Test func noCapability() throws {
    let screen = try SoundPipeline("pcm-capabilities=none")
    #expect(screen.source["pcm-capabilities"] == "none")
    let app = try RawApp.speaking(port: screen.port)
    app.audio([1, 2, 3, 4])
    #expect(try screen.pull(soundByteCount: 4).last?.caps.contains("rate=(int)16000") == true)
  }

  @Test(arguments: ["48KHZ/16_BIT", "16KHZ", "16KHZ/24_BIT"])
  func noSuchCapability(text: String) throws {
    let source = try Element("sdlheadunitaudiosrc")
    source.set("port", "0")
    source.set("pcm-capabilities", "\"\(text)\"")
    #expect(gst_element_set_state(source.pointer, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    source.set("pcm-capabilities", "8KHZ/8_BIT")
    #expect(gst_element_set_state(source.pointer, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
    gst_element_set_state(source.pointer, GST_STATE_NULL)
  }

  /// A whole file at once, as apps with SDL's iOS library send it.
  @Test func allAtOnce() throws {
    let screen = try SoundPipeline("strict=false")
    let app = try RawApp.speaking(port: screen.port)
    let file = soundPieces(1, byteCount: 96_000)[0]
    app.audio(file)
    app.endAudio()
    let samples = try screen.pull(soundByteCount: file.count)
    #expect(samples.sound == file && samples.areContiguous)
    let violation = try screen.pipeline.waitForElementMessage("sdl-violation")
    #expect(violation["rule"] == "audio-faster-than-real-time")
    #expect(screen.source["violations"]?.contains("audio-faster-than-real-time") == true)
  }

  /// A sample in two messages is one sample.
  @Test func halfSamples() throws {
    let screen = try SoundPipeline()
    let app = try RawApp.speaking(port: screen.port)
    let bytes = soundPieces(1, byteCount: 10)[0]
    for message in [bytes[0..<3], bytes[3..<4], bytes[4..<9], bytes[9..<10]] { app.audio(Array(message)) }
    #expect(try screen.pull(soundByteCount: 10).sound == bytes)
    #expect(try screen.pipeline.waitForElementMessage("sdl-violation")["rule"] == "partial-sample")
    // The half that was left over is not joined with the next utterance.
    app.audio([9])
    app.endAudio()
    #expect(try app.startAudio())
    app.audio([1, 2, 3, 4])
    #expect(try screen.pull(soundByteCount: 4).sound == [1, 2, 3, 4])
    #expect(screen.statistics.areSamplesBalanced)
  }

  /// Only video and RPCs are encrypted, which the application is told.
  @Test(arguments: [true, false]) func encryptedSoundComesInClear(isEncrypted: Bool) throws {
    let screen = try SoundPipeline()
    let app = try RawApp.active(port: screen.port)
    #expect(try app.startAudio(isEncrypted: isEncrypted))
    app.audio([1, 2])
    #expect(try screen.pull(soundByteCount: 2).sound == [1, 2])
    let told = screen.pipeline.drain().filter { $0.isElement("sdl-stream-in-clear") }
    #expect(told.map { $0.fields["service"] } == (isEncrypted ? ["audio"] : []))
    #expect(told.allSatisfy { $0.source == "src" && $0.fields["name"] == "Raw" })
  }

  @Test func endOfStreamOnRequest() throws {
    let screen = try SoundPipeline("eos-on-disconnect=true")
    let app = try RawApp.speaking(port: screen.port)
    let pieces = soundPieces(5)
    for piece in pieces { app.audio(piece) }
    app.close()
    var samples: [SoundPipeline.Sample] = []
    while let sample = screen.pull() { samples.append(sample) }
    #expect(samples.sound == pieces.flatMap(\.self))
    try screen.pipeline.waitForEnd()
    let messages = screen.pipeline.drain()
    let stopped = try #require(messages.first { $0.isElement("sdl-stream-stopped") })
    #expect(stopped.fields["reason"] == "connection-lost")
    let end = try #require(messages.lastIndex { $0.kind == .endOfStream })
    let gone = try #require(messages.firstIndex { $0.isElement("sdl-app-unregistered") })
    #expect(gone < end)
    #expect(screen.statistics["samples-queued"] == 0)
  }

  @Test func startsAgainAndAgain() throws {
    let screen = try SoundPipeline()
    for round in 1...5 {
      let app = try RawApp.speaking(port: screen.currentPort)
      let pieces = soundPieces(round)
      for piece in pieces { app.audio(piece) }
      let samples = try screen.pull(soundByteCount: round * 640)
      #expect(samples.sound == pieces.flatMap(\.self) && samples[0].isDiscontinuous)
      screen.pipeline.stop()
      #expect(screen.currentPort == 0 && screen.statistics["apps"] == 0)
      #expect(screen.statistics["registrations"] == round && screen.statistics["stream-starts"] == round)
      #expect(screen.statistics.areSamplesBalanced)
      try screen.pipeline.play()
    }
    #expect(screen.pipeline.drain().allSatisfy { $0.error == nil && $0.warning == nil })
  }

  @Test func latency() throws {
    let source = try Element("sdlheadunitaudiosrc")
    source.set("latency", "100")
    guard let query = gst_query_new_latency() else { throw TestFailure("no query") }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(query).assumingMemoryBound(to: GstMiniObject.self)) }
    #expect(gst_element_query(source.pointer, query) != 0)
    var (isLive, minimum, maximum): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
    gst_query_parse_latency(query, &isLive, &minimum, &maximum)
    #expect(isLive != 0 && minimum == 120_000_000 && maximum == .max)
  }
}
