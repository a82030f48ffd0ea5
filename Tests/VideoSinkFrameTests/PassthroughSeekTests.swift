import CGStreamerApp
import Foundation
import GStreamerKit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Seeks in files that are passed through: what the head unit shows is what was sought.
@Suite struct PassthroughSeekTests {
  /// A file that plays to a head unit.
  private final class Player {
    let film: Film
    let headUnit: TestHeadUnit
    let pipeline: Pipeline
    private let buffers: LiveBuffers

    init(
      _ folder: URL, _ encoding: Film.Encoding, demuxer: String = "qtdemux", properties: String = ""
    ) throws {
      film = try Film(in: folder, encoding, container: demuxer.contains("matroska") ? .matroska : .mp4)
      headUnit = try TestHeadUnit(.small(320, 240, frameRate: 60))
      pipeline = try Pipeline(
        """
        filesrc location=\(film.path) ! \(demuxer) ! identity name=last \
        ! sdlvideosink name=sink \(properties) uri=\(headUnit.uri)
        """)
      buffers = try LiveBuffers(from: pipeline["last"])
    }

    /// Stops, after which no buffer is left.
    func stop() {
      pipeline.stop()
      buffers.expectNone()
    }

    func seek(
      to time: UInt64, rate: Double = 1, flags: [GstSeekFlags] = [GST_SEEK_FLAG_ACCURATE], stop: UInt64? = nil
    ) throws {
      let all = flags.reduce(GST_SEEK_FLAG_FLUSH.rawValue) { $0 | $1.rawValue }
      let isDone = gst_element_seek(
        pipeline.element.pointer, rate, GST_FORMAT_TIME, GstSeekFlags(rawValue: all), GST_SEEK_TYPE_SET, gint64(time),
        stop == nil ? GST_SEEK_TYPE_NONE : GST_SEEK_TYPE_SET, stop.map { gint64($0) } ?? -1)
      guard isDone != 0 else { throw TestFailure("the seek failed: \(pipeline.drain())") }
    }

    /// Waits until the pipeline has the state that it was asked for.
    func settle() throws {
      let result = gst_element_get_state(pipeline.element.pointer, nil, nil, GstClockTime(testTimeout.nanoseconds))
      guard result == GST_STATE_CHANGE_SUCCESS else { throw TestFailure("\(result): \(pipeline.drain())") }
    }

    /// Waits until the head unit has everything that was sent.
    func receiveAll() throws {
      let sink = try pipeline.sink
      #expect(eventually { sink.statistics["frames-queued"] == 0 })
      try headUnit.waitForFrames(sink.statistics["frames-sent"])
    }

    /// The pictures that the head unit has decoded since it had received `count` access units.
    func shown(since count: Int) throws -> [[UInt8]] {
      try decode(Array(headUnit.record.video[count...]), width: 320, height: 240)
    }
  }

  /// The first picture is there while the pipeline stays in PAUSED, and the film goes on from it.
  @Test(arguments: ["qtdemux", "qtdemux ! h264parse"]) func pausedFromTheStart(_ demuxer: String) throws {
    try FileManager.default.withTemporaryFolder { folder in
      let player = try Player(folder, .inOrder, demuxer: demuxer, properties: "keep-alive-interval=200")
      let pictures = try player.film.pictures()
      try player.pipeline.reach(GST_STATE_PAUSED)
      try player.headUnit.waitForFrames(3)
      let isFirst = try player.shown(since: 0).allSatisfy { $0 == pictures[0] }
      #expect(isFirst)
      try player.pipeline.play()
      try player.pipeline.waitForEnd()
      // A busy machine repeats one wherever it stands still.
      let shown = try player.shown(since: 0).reduce(into: [[UInt8]]()) { if $0.last != $1 { $0.append($1) } }
      let isWhole = shown == pictures
      #expect(isWhole, "\(shown.count) of \(pictures.count)")
      #expect(player.headUnit.record.violations == [])
      #expect(try player.pipeline.sink.statistics.areFramesConserved)
      player.stop()
    }
  }

  /// The picture that was sought is there before anything plays, and only what it takes to decode it was sent.
  @Test(arguments: [
    (Film.Encoding.inOrder, "qtdemux"), (.inOrder, "qtdemux ! h264parse"), (.inOrder, "matroskademux"),
    // Without decoding times, as in Matroska files, a picture that comes after a later one is seen in PLAYING.
    (.reordered, "qtdemux"), (.reordered, "qtdemux ! h264parse"),
  ])
  func whilePaused(_ encoding: Film.Encoding, _ demuxer: String) throws {
    try FileManager.default.withTemporaryFolder { folder in
      let player = try Player(folder, encoding, demuxer: demuxer, properties: "keep-alive-interval=0")
      let pictures = try player.film.pictures()
      try player.pipeline.reach(GST_STATE_PAUSED)
      try player.headUnit.waitForFrames(1)
      for frame in [22, 40, 15, 3] {
        // What was sent before may still be on its way.
        try player.receiveAll()
        let before = player.headUnit.record.video.count
        try player.seek(to: Film.time(of: frame) + 1_000_000)
        try player.settle()
        let depth = frame % player.film.keyFrameInterval
        try player.receiveAll()
        try #require(pictures.count == player.film.frameCount)
        // The last one is on its way from the preroll.
        let isShown = eventually { (try? player.shown(since: before).contains(pictures[frame])) == true }
        let shown = try player.shown(since: before)
        #expect(isShown, "frame \(frame) of \(shown.count)")
        // No more than the encoder reorders.
        #expect(shown.count <= depth + 1 + 3)
        #expect(player.headUnit.record.video[before].startsStream)
      }
      let statistics = try player.pipeline.sink.statistics
      #expect(statistics.areFramesConserved)
      player.stop()
      #expect(player.headUnit.record.violations == [])
    }
  }

  /// The first picture after the seek is the one that was sought, and none is sent twice or left out from there on.
  @Test(arguments: Film.Encoding.allCases)
  func thenItPlaysOn(_ encoding: Film.Encoding) throws {
    try FileManager.default.withTemporaryFolder { folder in
      let player = try Player(folder, encoding, properties: "keep-alive-interval=0")
      let pictures = try player.film.pictures()
      try player.pipeline.reach(GST_STATE_PAUSED)
      try player.headUnit.waitForFrames(1)
      let before = player.headUnit.record.video.count
      try player.seek(to: Film.time(of: 22))
      try player.settle()
      try player.pipeline.play()
      try player.pipeline.waitForEnd()
      let isShown = try player.shown(since: before) == Array(pictures[15...])
      #expect(isShown)
      let statistics = try player.pipeline.sink.statistics
      #expect(statistics.areFramesConserved, "\(statistics.fields)")
      player.stop()
      #expect(player.headUnit.record.violations == [])
    }
  }

  /// Without a pause: nothing freezes until the next key frame.
  @Test(arguments: Film.Encoding.allCases)
  func whilePlaying(_ encoding: Film.Encoding) throws {
    try FileManager.default.withTemporaryFolder { folder in
      let player = try Player(folder, encoding, properties: "keep-alive-interval=0")
      let pictures = try player.film.pictures()
      try player.pipeline.play()
      try player.headUnit.waitForFrames(3)
      // At the end of its group, so that the group's pictures can only have come in a rush.
      try player.seek(to: Film.time(of: 29))
      try player.pipeline.waitForEnd()
      let sent = Array(player.headUnit.record.video.suffix(30))
      #expect(sent.first?.startsStream == true)
      let isShown = try decode(sent, width: 320, height: 240) == Array(pictures[15...])
      #expect(isShown)
      let statistics = try player.pipeline.sink.statistics
      #expect(statistics.areFramesConserved && statistics["frames-dropped-waiting-for-key-frame"] == 0)
      player.stop()
      // Most of them: a busy machine may stand still in between.
      let gaps = player.headUnit.record.gaps.suffix(29).prefix(14).sorted()
      try #require(gaps.count == 14)
      #expect(gaps[7] < .milliseconds(33 / 2), "\(gaps)")
    }
  }

  /// After a second without a picture head units open their decoder anew, and these streams can't be repeated
  /// meanwhile.
  @Test(arguments: [true, false]) func afterALongPause(isAfterSeek: Bool) throws {
    try FileManager.default.withTemporaryFolder { folder in
      let player = try Player(folder, .reordered)
      let pictures = try player.film.pictures()
      if isAfterSeek {
        try player.pipeline.reach(GST_STATE_PAUSED)
        try player.seek(to: Film.time(of: 22))
        try player.settle()
      } else {
        try player.pipeline.play()
        try player.headUnit.waitForFrames(20)
        try player.pipeline.reach(GST_STATE_PAUSED)
      }
      try player.receiveAll()
      g_usleep(1_100_000)
      let before = player.headUnit.record.video.count
      try player.pipeline.play()
      try player.pipeline.waitForEnd()
      #expect(player.headUnit.record.video[before].startsStream)
      // From the beginning of the group; a busy machine pauses a group later.
      let shown = try player.shown(since: before)
      let first = isAfterSeek || shown.count > 15 ? 15 : 30
      let isShown = shown == Array(pictures[first...])
      #expect(isShown, "\(shown.count) of \(pictures.count)")
      let statistics = try player.pipeline.sink.statistics
      #expect(statistics.areFramesConserved && statistics["frames-repeated"] > 0)
      player.stop()
      #expect(player.headUnit.record.violations == [])
    }
  }

  /// The driver leaves and returns while the film is paused in the middle of a group: the new decoder gets the key frame,
  /// and all of the group, each picture once, when the film goes on, whether or not the first service has had the picture
  /// at which the pipeline waits.
  @Test(arguments: [true, false]) func aServiceBeginsInAPause(isAfterSeek: Bool) throws {
    try FileManager.default.withTemporaryFolder { folder in
      let player = try Player(folder, .inOrder, properties: "background-notice=false")
      let pictures = try player.film.pictures()
      if isAfterSeek {
        try player.pipeline.reach(GST_STATE_PAUSED)
        try player.headUnit.waitForFrames(1)
        try player.seek(to: Film.time(of: 22))
        try player.settle()
        let isShown = eventually { (try? player.shown(since: 0).last) == pictures[22] }
        #expect(isShown)
      } else {
        try player.pipeline.play()
        try player.headUnit.waitForFrames(20)
        try player.pipeline.reach(GST_STATE_PAUSED)
      }
      try player.headUnit.show(.background)
      #expect(eventually { (try? player.pipeline.sink["stream-state"]) == "stopped" })
      try player.headUnit.show(.full)
      let start = try player.headUnit.wait(for: "service") { $0.starts.count == 2 ? $0.starts[1] : nil }
      try player.headUnit.waitForFrames(start + 1)
      try player.pipeline.play()
      try player.pipeline.waitForEnd()
      #expect(player.headUnit.record.video[start].startsStream)
      // The key frame comes twice.
      let shown = try player.shown(since: start).reduce(into: [[UInt8]]()) { if $0.last != $1 { $0.append($1) } }
      let first = shown.first.flatMap(pictures.firstIndex)
      let isWhole = first.map { $0 % player.film.keyFrameInterval == 0 && shown == Array(pictures[$0...]) }
      #expect(isWhole == true, "\(shown.map { pictures.firstIndex(of: $0) ?? -1 })")
      #expect(try player.pipeline.sink.statistics.areFramesConserved)
      player.stop()
      #expect(player.headUnit.record.violations == [])
    }
  }

  /// The film has gone on when the driver returns: from the frame at which it waited, which the first service has had.
  @Test func aServiceBeginsAfterAPause() throws {
    try FileManager.default.withTemporaryFolder { folder in
      let player = try Player(folder, .inOrder, properties: "background-notice=false")
      let pictures = try player.film.pictures()
      try player.pipeline.reach(GST_STATE_PAUSED)
      try player.headUnit.waitForFrames(1)
      try player.seek(to: Film.time(of: 17))
      try player.settle()
      let isShown = eventually { (try? player.shown(since: 0).last) == pictures[17] }
      #expect(isShown)
      try player.headUnit.show(.background)
      #expect(eventually { (try? player.pipeline.sink["stream-state"]) == "stopped" })
      try player.pipeline.play()
      #expect(eventually { (try? player.pipeline.sink.statistics.dropped > 0) == true })
      try player.headUnit.show(.full)
      let start = try player.headUnit.wait(for: "service") { $0.starts.count == 2 ? $0.starts[1] : nil }
      try player.pipeline.waitForEnd()
      // Of the next group, if the machine was busy.
      let shown = try player.shown(since: start)
      let first = shown.first.flatMap(pictures.firstIndex)
      let isWhole = first.map { $0 % player.film.keyFrameInterval == 0 && shown == Array(pictures[$0...]) }
      #expect(isWhole == true, "\(shown.map { pictures.firstIndex(of: $0) ?? -1 })")
      player.stop()
      #expect(player.headUnit.record.violations == [])
    }
  }

  /// A seek while a seek is under way, again and again.
  @Test func scrubbing() throws {
    try FileManager.default.withTemporaryFolder { folder in
      let player = try Player(folder, .inOrder)
      let pictures = try player.film.pictures()
      try player.pipeline.reach(GST_STATE_PAUSED)
      try player.headUnit.waitForFrames(1)
      for frame in [5, 40, 20, 33, 1, 44, 28] { try player.seek(to: Film.time(of: frame)) }
      try player.settle()
      try player.receiveAll()
      let isShown = eventually {
        guard let start = player.headUnit.record.video.lastIndex(where: isKeyFrame) else { return false }
        return (try? player.shown(since: start).contains(pictures[28])) == true
      }
      #expect(isShown)
      #expect(try player.pipeline.sink.statistics.areFramesConserved)
      player.stop()
      #expect(player.headUnit.record.violations == [])
    }
  }
}
