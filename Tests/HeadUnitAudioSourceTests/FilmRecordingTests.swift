import GStreamerKit
import Glibc
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Picture and sound of an app in one file.
@Suite struct FilmRecordingTests {
  /// What is sent at the same moment has the same time in the file.
  @Test(arguments: ["samples", "gap-events"])
  func inSync(silence: String) throws {
    let units = try encodedUnits(20)
    let pieces = soundPieces(10)
    let standstills = Standstills()
    // Two utterances of 100 ms, which begin with a picture.
    let (pictures, sound) = try record(units, [5: Array(pieces[..<5]), 12: Array(pieces[5...])], silence: silence)
    #expect(pictures.count == units.count)
    let heard = sound.filter { $0.bytes.contains { $0 != 0 } }
    #expect(heard.flatMap(\.bytes) == pieces.flatMap(\.self))
    for (picture, piece) in [(5, 0), (12, 5)] {
      let distance = Int(heard[piece].time) - Int(pictures[picture].time)
      // A busy machine is late for either.
      #expect(abs(distance) < 40_000_000 + standstills.total.nanoseconds, "\(distance) ns")
    }
  }

  /// The recording ends with the app all the same.
  @Test(arguments: ["samples", "gap-events"])
  func appWithoutSound(silence: String) throws {
    let units = try encodedUnits(20)
    let (pictures, sound) = try record(units, silence: silence)
    #expect(pictures.count == units.count)
    // Since 1.26 the muxer writes a block without samples for each GAP event.
    let samples = sound.flatMap(\.bytes)
    #expect(samples.allSatisfy { $0 == 0 } && samples.isEmpty == (silence == "gap-events"))
  }

  /// Records an app that sends a picture every 40 ms, and utterances with some of them, until it ends.
  private func record(
    _ units: [EncodedUnit], _ utterances: [Int: [[UInt8]]] = [:], silence: String
  ) throws -> (pictures: [SoundPipeline.Sample], sound: [SoundPipeline.Sample]) {
    let path = "\(String(cString: g_get_tmp_dir()))/sdl-film-\(getpid())-\(UInt64.random(in: 0...(.max))).mkv"
    defer { unlink(path) }
    let recorder = try Pipeline(
      """
      sdlheadunitsrc name=screen port=0 screen-size=320x240 eos-on-disconnect=true ! h264parse ! matroskamux name=muxer \
      ! filesink location=\(path) sdlheadunitaudiosrc port=0 silence=\(silence) eos-on-disconnect=true ! muxer.
      """)
    try recorder.play()
    let port = try #require(try recorder["screen"]["current-port"].flatMap { UInt16($0) })
    let app = try RawApp.streaming(port: port)
    for (index, unit) in units.enumerated() {
      let utterance = utterances[index]
      if utterance != nil { #expect(try app.startAudio()) }
      app.video(unit.bytes)
      if let utterance {
        for piece in utterance { app.audio(piece) }
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
    return (pictures, sound)
  }
}
