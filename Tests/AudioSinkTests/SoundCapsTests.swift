import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Caps: the one format that the head unit plays.
@Suite struct SoundCapsTests {
  /// Every format is converted by GStreamer's own elements.
  @Test(arguments: [
    PCMFormat(), PCMFormat(samplingRate: .hertz8000, sampleSize: .bits8),
    PCMFormat(samplingRate: .hertz22000), PCMFormat(samplingRate: .hertz44000),
  ])
  func upstreamFollows(_ format: PCMFormat) throws {
    let headUnit = try TestHeadUnit(.small().with { $0.pcmFormat = format })
    let pipeline = try Pipeline(
      """
      audiotestsrc num-buffers=10 samplesperbuffer=4800 ! audio/x-raw,rate=48000,channels=2 \
      ! audioconvert ! audioresample ! sdlaudiosink name=sink sync=false uri=\(headUnit.uri)
      """)
    try pipeline.playFromStart()
    try pipeline.waitForEnd()
    let count = format.sampleCount(ofByteCount: headUnit.record.audio.count)
    #expect(abs(count - format.samplingRate.hertz) < 100)
    #expect(
      try pipeline.sink.structure("head-unit")?["audio-capability"]?.contains("\(format.samplingRate.hertz)") ?? false)
  }

  @Test func withoutCaps() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "fakesrc num-buffers=2 sizetype=2 sizemax=320 ! sdlaudiosink name=sink uri=\(headUnit.uri)")
    pipeline.setState(GST_STATE_PLAYING)
    let error = try pipeline.waitForError()
    #expect(error.text.contains("no caps") && error.text.contains("decodebin"), "\(error)")
  }

  @Test func knownInReady() throws {
    let headUnit = try TestHeadUnit(.small().with { $0.pcmFormat = PCMFormat(samplingRate: .hertz8000) })
    let pipeline = try Pipeline("appsrc ! sdlaudiosink name=sink uri=\(headUnit.uri)")
    #expect(try pipeline.sink.sinkCaps().contains("{ 8000, 16000"))
    try pipeline.reach(GST_STATE_READY)
    try pipeline.waitForElementMessage("sdl-connected")
    let caps = try pipeline.sink.sinkCaps()
    #expect(caps.contains("rate=(int)8000") && caps.contains("format=(string)S16LE"), "\(caps)")
  }

  /// 16 kHz, 16 bit is assumed, and said once, though the connection is made again.
  @Test func nothingAnnounced() throws {
    let harness = try SoundHarness(.small().with { $0.pcmFormat = nil })
    let sound = testSound(640)
    harness.push(sound)
    try harness.pipeline.playFromStart()
    try harness.headUnit.waitForSound(sound.count)
    harness.headUnit.server.perform(.cut)
    try harness.pipeline.wait(for: "loss") { $0.isElement("sdl-disconnected") ? true : nil }
    // Sound that has to wait is lost if the player pauses late.
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    harness.push(sound)
    #expect(try harness.finish() == sound + sound)
    #expect(try harness.statistics["connections"] == 2)
    let messages = harness.pipeline.messages
    #expect(messages.count { $0.info?.text.contains("lists no format") ?? false } == 1)
    #expect(messages.first { $0.isElement("sdl-stream-started") }?.fields["format-assumed"] == "true")
  }

  @Test func anotherRateIsAnError() throws {
    let harness = try SoundHarness(format: PCMFormat(samplingRate: .hertz44000))
    harness.push(testSound(4400))
    try harness.pipeline.play()
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT) && error.text.contains("audioresample"), "\(error)")
  }

  /// Caps, and what the error says of them.
  @Test(arguments: [
    ("audio/x-raw,format=S16LE,layout=interleaved,rate=16000,channels=2", "2 channel(s)"),
    ("audio/x-raw,format=F32LE,layout=interleaved,rate=16000,channels=1", "F32LE"),
    ("audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=1", "48000 Hz"),
    ("audio/x-raw,format=S16LE,layout=non-interleaved,rate=16000,channels=1", "non-interleaved"),
    ("audio/mpeg,mpegversion=1", "audio/mpeg"),
  ])
  func whatNoHeadUnitPlays(_ caps: String, _ reason: String) throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline("appsrc name=src format=time ! sdlaudiosink name=sink uri=\(headUnit.uri)")
    let source = try SoundSource(pipeline)
    source.setCaps(caps)
    source.push(testSound(320), at: .zero)
    try pipeline.play()
    let error = try pipeline.waitForError()
    #expect(error.text.contains("sdlaudiosink") && error.text.contains(reason), "\(error)")
  }

  /// The rate changes in mid-stream: a converter follows.
  @Test func newCapsBehindAConverter() throws {
    let harness = try SoundHarness(between: "audioconvert ! audioresample !")
    harness.push(testSound(1600))
    try harness.pipeline.play()
    try harness.headUnit.waitForSound(2000)
    harness.source.setCaps("audio/x-raw,format=S16LE,layout=interleaved,rate=8000,channels=1")
    harness.source.push(testSound(1600), at: .milliseconds(100))
    let heard = try harness.finish()
    #expect(abs(heard.count / 2 - 4800) < 200, "\(heard.count)")
    #expect(try harness.statistics["samples-dropped-wrong-format"] == 0)
  }

  /// A source that might have followed, and has not.
  @Test func endInAnotherFormat() throws {
    let harness = try SoundHarness(format: PCMFormat(samplingRate: .hertz8000))
    try harness.pipeline["src"].leaveCapsQueriesUnanswered()
    harness.push(testSound(3200))
    try harness.pipeline.play()
    harness.source.end()
    #expect(try harness.pipeline.waitForError().text.contains("audioresample"))
    #expect(try harness.statistics["samples-dropped-wrong-format"] == 3200)
  }

  @Test func newCapsWithoutAConverter() throws {
    let harness = try SoundHarness()
    harness.push(testSound(1600))
    try harness.pipeline.play()
    try harness.headUnit.waitForSound(3200)
    harness.source.setCaps(SoundSource.caps(PCMFormat(samplingRate: .hertz8000)))
    harness.source.push(testSound(800), at: .milliseconds(100))
    let error = try harness.pipeline.waitForError()
    #expect(error.text.contains("16000 Hz") && error.text.contains("8000 Hz"), "\(error)")
    #expect(try harness.statistics.areSamplesConserved)
  }
}
