import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Touches checked by pixels: navigationtest paints a dark square at each touch, and in the pictures that the head unit
/// decodes and scales the square is at the position of the touch.
@Suite struct TouchPictureTests {
  private static func painting(_ headUnit: TestHeadUnit) throws -> Pipeline {
    try Pipeline(
      "videotestsrc is-live=true pattern=white ! video/x-raw,format=I420,framerate=30/1 ! navigationtest ! "
        + "sdlvideosink name=sink skip-unchanged=false bitrate=8000 uri=\(headUnit.uri)")
  }

  private static func configuration(_ width: Int, _ height: Int, _ scale: Double) -> HeadUnitConfiguration {
    .small(width, height).with { $0.videoCapability?.scale = scale }
  }

  /// Where the dark square is in the last picture of the present service, in head-unit pixels; nil without one.
  private static func mark(
    _ headUnit: TestHeadUnit, display: VideoSize, picture: VideoSize
  ) throws -> (x: Double, y: Double)? {
    let record = headUnit.record
    let units = record.video[try #require(record.starts.last)...]
    let decoded = try #require(try decode(Array(units), width: picture.width, height: picture.height).last)
    let stride = (picture.width + 3) & ~3
    var columns: Set<Int> = []
    var rows: Set<Int> = []
    for y in 0..<picture.height {
      for x in 0..<picture.width where decoded[y * stride + x] < 100 {
        columns.insert(x)
        rows.insert(y)
      }
    }
    guard let horizontal = Self.middle(columns), let vertical = Self.middle(rows) else { return nil }
    return (
      horizontal * Double(display.width) / Double(picture.width),
      vertical * Double(display.height) / Double(picture.height)
    )
  }

  /// Between the outer edges of the first and the last pixel.
  private static func middle(_ pixels: Set<Int>) -> Double? {
    guard let first = pixels.min(), let last = pixels.max() else { return nil }
    // The square is 4×4: it is not another artefact that was found.
    #expect((3...6).contains(last - first + 1))
    return Double(first + last + 1) / 2
  }

  /// navigationtest shows each place for a second; after this many frames it has disappeared. So each frame is sent,
  /// whether it has changed or not.
  private static let squareLife = 45

  /// Touches, waits until pictures made after that have arrived, and expects the mark.
  private static func expectMark(
    _ headUnit: TestHeadUnit, _ pipeline: Pipeline, at x: Int, _ y: Int, display: VideoSize,
    picture: VideoSize
  ) throws {
    let tolerance = Double(display.width) / Double(picture.width)
    func perform(_ line: String, frames count: Int) throws {
      let events = try pipeline.sink.statistics["navigation-events"]
      headUnit.server.perform(try #require(try HeadUnitCommand.parse(line)))
      #expect(eventually { (try? pipeline.sink.statistics["navigation-events"]) ?? 0 > events })
      try headUnit.waitForFrames(headUnit.record.video.count + count)
    }
    try perform("touch begin 0 \(display.width / 2) \(display.height / 2)", frames: squareLife)
    try perform("touch move 0 \(x) \(y)", frames: 5)
    let mark = try #require(try mark(headUnit, display: display, picture: picture), "no square is painted")
    #expect(abs(mark.x - Double(x)) <= tolerance && abs(mark.y - Double(y)) <= tolerance, "\(mark) for (\(x), \(y))")
    try perform("touch end 0 \(x) \(y)", frames: squareLife)
    #expect(try Self.mark(headUnit, display: display, picture: picture) == nil)
  }

  /// Display, scale, size of the pictures.
  @Test(
    arguments: [
      (VideoSize(320, 240), 1, VideoSize(320, 240)),
      (VideoSize(400, 300), 1.25, VideoSize(320, 240)),
      (VideoSize(800, 380), 1.5, VideoSize(532, 252)),
    ] as [(VideoSize, Double, VideoSize)])
  func markIsUnderTheFinger(display: VideoSize, scale: Double, picture: VideoSize) throws {
    let headUnit = try TestHeadUnit(Self.configuration(display.width, display.height, scale))
    let pipeline = try Self.painting(headUnit)
    try pipeline.play()
    try headUnit.waitForFrames(3)
    for (x, y) in [(30, 40), (display.width - 20, display.height - 25)] {
      try Self.expectMark(headUnit, pipeline, at: x, y, display: display, picture: picture)
    }
    #expect(headUnit.record.violationsBesidesBursts == [])
    #expect(try pipeline.sink.statistics["touches"] == headUnit.record.touches)
  }
}
