import GStreamerKit
import Glibc
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Picture and sound of an app in one file.
@Suite struct FilmRecordingTests {
  /// What is sent at the same moment has the same time in the file.
  @Test(arguments: ["samples", "gap-events"])
  func inSync(silence: String) throws {
    let path = "\(String(cString: g_get_tmp_dir()))/sdl-film-\(getpid())-\(UInt64.random(in: 0...(.max))).mkv"
    defer { unlink(path) }
    let recorder = try Pipeline(
      """
      sdlheadunitsrc name=screen port=0 screen-size=320x240 eos-on-disconnect=true ! h264parse ! matroskamux name=muxer \
      ! filesink location=\(path) sdlheadunitaudiosrc port=0 silence=\(silence) eos-on-disconnect=true ! muxer.
      """)
    try recorder.play()
    let port = try #require(try recorder["screen"]["current-port"].flatMap { UInt16($0) })
    let units = try encodedUnits(20)
    let pieces = soundPieces(10)
    let standstills = Standstills()
    let app = try RawApp.streaming(port: port)
    for (index, unit) in units.enumerated() {
      // Two utterances of 100 ms, which begin with a picture.
      let isSpeaking = index == 5 || index == 12
      if isSpeaking { #expect(try app.startAudio()) }
      app.video(unit.bytes)
      if isSpeaking {
        for piece in pieces[(index == 5 ? 0..<5 : 5..<10)] { app.audio(piece) }
        app.endAudio()
      }
      poll(nil, 0, 40)
    }
    app.endVideo()
    app.close()
    try recorder.waitForEnd()
    recorder.stop()

    let reader = try Pipeline(
      """
      filesrc location=\(path) ! matroskademux name=demuxer demuxer.video_0 ! queue ! appsink name=pictures \
      sync=false demuxer.audio_0 ! queue max-size-time=0 ! appsink name=sound sync=false
      """)
    try reader.play()
    var pictures: [SoundPipeline.Sample] = []
    var sound: [SoundPipeline.Sample] = []
    let outputs = (try reader["pictures"], try reader["sound"])
    while let sample = SoundPipeline.pull(from: outputs.0) { pictures.append(sample) }
    while let sample = SoundPipeline.pull(from: outputs.1) { sound.append(sample) }
    #expect(pictures.count == units.count)
    let heard = sound.filter { $0.bytes.contains { $0 != 0 } }
    #expect(heard.flatMap(\.bytes) == pieces.flatMap(\.self))
    for (picture, piece) in [(5, 0), (12, 5)] {
      let distance = Int(heard[piece].time) - Int(pictures[picture].time)
      // A busy machine is late for either.
      #expect(abs(distance) < 40_000_000 + standstills.total.nanoseconds, "\(distance) ns")
    }
  }
}
