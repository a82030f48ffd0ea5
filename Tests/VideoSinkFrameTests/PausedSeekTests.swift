import CGStreamerApp
import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Raw video in PAUSED: the picture at the position is sent once it is known, not only with the next repeat.
@Suite struct PausedSeekTests {
  @Test func thePictureOfASeekOrStep() throws {
    let units = try encodedUnits(60, width: 160, height: 120).map(\.bytes)
    let pictures = try decode(units, width: 160, height: 120)
    let headUnit = try TestHeadUnit(.small(160, 120, frameRate: 30))
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=60 pattern=ball ! \(Picture.caps(160, 120))"
        + " ! sdlvideosink name=sink keep-alive-interval=3600000 uri=\(headUnit.uri)")
    let element = pipeline.element.pointer
    try pipeline.reach(GST_STATE_PAUSED)
    // That of the service's start.
    try headUnit.waitForFrames(1)
    for (count, frame) in [22, 40, 15, 3].enumerated() {
      let time = gint64(frame) * 1_000_000_000 / 30 + 1_000_000
      #expect(gst_element_seek_simple(element, GST_FORMAT_TIME, Self.flags, time) != 0)
      let video = try headUnit.waitForFrames(count + 2)
      #expect(try Self.shown(by: video, of: pictures) == frame)
    }
    #expect(gst_element_send_event(element, gst_event_new_step(GST_FORMAT_BUFFERS, 2, 1, 1, 0)) != 0)
    #expect(try Self.shown(by: try headUnit.waitForFrames(6), of: pictures) == 5)
    try pipeline.play()
    try pipeline.waitForEnd()
    let statistics = try pipeline.sink.statistics
    #expect(statistics.areFramesConserved && headUnit.record.violations == [])
  }

  private static let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)

  /// Which of the pictures a decoder shows after these access units.
  private static func shown(by video: [[UInt8]], of pictures: [[UInt8]]) throws -> Int? {
    let picture = try #require(try decode(video, width: 160, height: 120).last)
    // Of every fifth byte, which tell the ball's places apart.
    let bytes = stride(from: 0, to: picture.count, by: 5)
    let differences = pictures.map { other in bytes.reduce(0) { $0 + abs(Int(other[$1]) - Int(picture[$1])) } }
    return differences.min().flatMap(differences.firstIndex)
  }
}
