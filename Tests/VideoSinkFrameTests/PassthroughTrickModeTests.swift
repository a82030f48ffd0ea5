import CGStreamerApp
import Foundation
import GStreamerKit
import H264
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Reverse playback and trick modes of files that are passed through: key frames only, each at its time.
@Suite struct PassthroughTrickModeTests {
  /// Plays a film of three groups and returns what the head unit got after the seek, and when, from the start of playing.
  private func play(
    _ encoding: Film.Encoding, parser: String = "", rate: Double, from start: UInt64, to stop: UInt64,
    _ flags: [GstSeekFlags] = []
  ) throws -> (film: Film, pictures: [[UInt8]], video: [[UInt8]], times: [Duration], statistics: Statistics) {
    try FileManager.default.withTemporaryFolder { folder in
      let film = try Film(in: folder, encoding)
      let headUnit = try TestHeadUnit(.small(320, 240, frameRate: 60))
      let pipeline = try Pipeline(
        """
        filesrc location=\(film.path) ! qtdemux ! \(parser) \
        sdlvideosink name=sink keep-alive-interval=0 uri=\(headUnit.uri)
        """)
      try pipeline.reach(GST_STATE_PAUSED)
      try headUnit.waitForFrames(1)
      let before = headUnit.record.video.count
      let all = flags.reduce(GST_SEEK_FLAG_FLUSH.rawValue) { $0 | $1.rawValue }
      #expect(
        gst_element_seek(
          pipeline.element.pointer, rate, GST_FORMAT_TIME, GstSeekFlags(rawValue: all), GST_SEEK_TYPE_SET,
          gint64(start), GST_SEEK_TYPE_SET, gint64(stop)) != 0)
      gst_element_get_state(pipeline.element.pointer, nil, nil, GstClockTime(testTimeout.nanoseconds))
      // In PAUSED there is one picture, the first.
      try headUnit.waitForFrames(before + 1)
      let start = MonotonicClock.now
      try pipeline.play()
      try pipeline.waitForEnd()
      #expect(headUnit.record.violations == [])
      return (
        film, try film.pictures(), Array(headUnit.record.video[before...]),
        headUnit.record.arrivals[before...].map { $0 - start }, try pipeline.sink.statistics
      )
    }
  }

  @Test(arguments: Film.Encoding.allCases, ["", "h264parse ! "])
  func reverse(_ encoding: Film.Encoding, _ parser: String) throws {
    let result = try play(encoding, parser: parser, rate: -1, from: 0, to: Film.time(of: 40))
    let isShown = try decode(result.video, width: 320, height: 240) == [30, 15, 0].map { result.pictures[$0] }
    #expect(isShown)
    #expect(result.video.allSatisfy { $0.startsStream })
    // Half a second from one to the next, and not all in a burst. The first one came in PAUSED.
    try #require(result.times.count == 3)
    #expect(result.times[1] > .milliseconds(400) && result.times[2] > .milliseconds(900), "\(result.times)")
    #expect(result.statistics.areFramesConserved)
    #expect(result.statistics["frames-dropped-frame-rate"] > 0)
    #expect(result.statistics["frames-dropped-waiting-for-key-frame"] == 0)
  }

  /// Also if upstream goes on sending all frames.
  @Test(arguments: [GST_SEEK_FLAG_TRICKMODE_KEY_UNITS, GST_SEEK_FLAG_TRICKMODE])
  func fastForward(_ flag: GstSeekFlags) throws {
    let result = try play(.inOrder, rate: 4, from: 0, to: Film.time(of: 45), [flag])
    let isShown = try decode(result.video, width: 320, height: 240) == [0, 15, 30].map { result.pictures[$0] }
    #expect(isShown)
    #expect(result.statistics.areFramesConserved && result.statistics["frames-dropped-waiting-for-key-frame"] == 0)
  }

  /// Without a flag everything is shown, only faster.
  @Test func fasterWithoutAFlag() throws {
    let result = try play(.reordered, rate: 3, from: 0, to: Film.time(of: 45))
    let isShown = try decode(result.video, width: 320, height: 240) == result.pictures
    #expect(isShown)
    // What came before the service was sent with it.
    #expect(result.statistics.dropped == result.statistics["frames-dropped-not-streaming"])
  }
}

/// What becomes of a frame, by its times and the segment.
@Suite struct SegmentPlaceTests {
  private static let none = UInt64.max

  private func place(
    _ presentation: UInt64, _ decoding: UInt64 = none, duration: UInt64 = 10, rate: Double = 1,
    flags: GstSegmentFlags = GST_SEGMENT_FLAG_NONE, isKeyFrame: Bool = false
  ) -> SegmentPlace {
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    segment.start = 100
    segment.stop = 200
    segment.rate = rate
    segment.flags = flags
    return SegmentPlace(
      of: segment, presentation: presentation, decoding: decoding, duration: duration, isKeyFrame: isKeyFrame)
  }

  @Test func forwards() {
    // Others may depend on what comes before the start.
    #expect(place(50) == .inside)
    #expect(place(199) == .inside)
    #expect(place(200) == .outside)
    #expect(place(Self.none) == .inside)
    #expect(place(Self.none - 1) == .outside)
  }

  /// Pictures that are decoded before others and shown after them.
  @Test func reordered() {
    #expect(place(210, 190) == .inside)
    #expect(place(210, 200) == .outside)
  }

  @Test(arguments: [
    (-1.0, GST_SEGMENT_FLAG_NONE, true), (-0.5, GST_SEGMENT_FLAG_TRICKMODE, true),
    (8, GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS, true), (1, GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS, true),
    (2.5, GST_SEGMENT_FLAG_TRICKMODE, true), (2, GST_SEGMENT_FLAG_TRICKMODE, false),
    (8, GST_SEGMENT_FLAG_NONE, false),
  ])
  func keyFramesOnly(_ rate: Double, _ flags: GstSegmentFlags, _ isSkipped: Bool) {
    #expect(place(150, rate: rate, flags: flags) == (isSkipped ? .skipped : .inside))
    #expect(place(150, rate: rate, flags: flags, isKeyFrame: true) == .inside)
  }

  @Test func keyFrameBeforeTheStart() {
    #expect(place(50, flags: GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS, isKeyFrame: true) == .inside)
    #expect(place(50, rate: -1, isKeyFrame: true) == .outside)
    #expect(place(200, rate: -1, isKeyFrame: true) == .outside)
  }
}
