import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import Glibc
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// A program on the car's screen.
@Suite struct CarWindowHeadUnitTests {
  @Test func pictureTouchAndResize() throws {
    let headUnit = try TestHeadUnit(.small(320, 240))
    let pipeline = try Pipeline(
      "sdlcarwindowsrc name=src command=\"\(program("canvas.py"))\" ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    try wait(headUnit, pipeline, width: 320, height: 240) { $0(160, 120) == .blue && $0(4, 4) == .blue }
    for command in ["touch begin 0 100 80", "touch end 0 100 80"] {
      headUnit.server.perform(try #require(try HeadUnitCommand.parse(command)))
    }
    try wait(headUnit, pipeline, width: 320, height: 240) { $0(100, 80) == .red && $0(250, 200) == .blue }
    headUnit.server.perform(.resize(VideoSize(480, 272), scale: nil))
    try wait(headUnit, pipeline, width: 480, height: 272) { $0(470, 260) == .blue && $0(100, 80) == .red }
  }

  /// The program goes on; a picture a second is enough for the sink.
  @Test func littleIsCapturedWhileTheDriverIsElsewhere() throws {
    let headUnit = try TestHeadUnit(.small(320, 240))
    let pipeline = try Pipeline(
      "sdlcarwindowsrc name=src command=\"\(program("canvas.py")) busy\" ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    try headUnit.waitForFrames(30)
    try headUnit.show(.background)
    let sink = try pipeline.sink
    #expect(eventually { sink["stream-state"] != "streaming" })
    // The source hears of it a moment after the sink knows it.
    var last = sink.statistics["frames-in"]
    #expect(
      eventually {
        let before = last
        usleep(300_000)
        last = sink.statistics["frames-in"]
        return last == before
      })
    // The measured time, which is longer on a busy machine.
    let began = MonotonicClock.now
    usleep(3_000_000)
    let count = sink.statistics["frames-in"] - last
    let seconds = (MonotonicClock.now - began) / .seconds(1)
    #expect((1...seconds + 2).contains(Double(count)), "\(count) in \(seconds) s")
    let sent = headUnit.record.video.count
    try headUnit.show(.full)
    try headUnit.waitForFrames(sent + 30)
  }

  @Test func theProgramStartsWhenItIsShown() throws {
    let headUnit = try TestHeadUnit(.small(320, 240, activation: nil))
    let pipeline = try Pipeline(
      "sdlcarwindowsrc name=src start=when-shown command=\"\(program("canvas.py"))\" ! sdlvideosink name=sink "
        + "uri=\(headUnit.uri)")
    let source = try pipeline["src"]
    try pipeline.play()
    #expect(eventually { source["display-name"] != nil })
    #expect(source["pid"] == "0")
    try headUnit.show(.full)
    try wait(headUnit, pipeline, width: 320, height: 240) { $0(160, 120) == .blue && $0(4, 4) == .blue }
    #expect(source["pid"] != "0")
  }

  /// Text has its usual size on a screen of any resolution; what can't be one is not believed.
  @Test(arguments: [(192, "192"), (5000, "400"), (30, "60"), (nil, "96")] as [(Double?, String)])
  func fontSize(pixelsPerInch: Double?, result: String) throws {
    let headUnit = try TestHeadUnit(.small(320, 240).with { $0.videoCapability?.pixelPerInch = pixelsPerInch })
    let pipeline = try Pipeline(
      "sdlcarwindowsrc name=src command=\"\(program("dpi.py"))\" ! sdlvideosink name=sink uri=\(headUnit.uri)")
    pipeline.setState(GST_STATE_PLAYING)
    #expect(try pipeline.waitForElementMessage("sdl-program-ended")["output"] == result)
  }

  private enum Color { case blue, red, other }

  /// Decodes what has come since the last start until `match` accepts a picture, by a function from places to colours.
  private func wait(
    _ headUnit: TestHeadUnit, _ pipeline: Pipeline, width: Int, height: Int, _ match: ((Int, Int) -> Color) -> Bool
  ) throws {
    let deadline = MonotonicClock.now + testTimeout
    while MonotonicClock.now < deadline {
      let record = headUnit.record
      let units = Array(record.video.dropFirst(record.starts.last ?? 0))
      if !units.isEmpty, let picture = try decode(units, width: width, height: height).last,
        picture.count == width * height * 3 / 2
      {
        let matches = match { x, y in
          let chroma = width * height + y / 2 * (width / 2) + x / 2
          switch (picture[chroma], picture[chroma + width * height / 4]) {
          case (200..., 90...140): return .blue
          case (70...110, 200...): return .red
          default: return .other
          }
        }
        if matches { return }
      }
      usleep(100_000)
    }
    throw TestFailure(
      "no such picture of \(width)×\(height): \(headUnit.record.video.count) frames, \(pipeline.drain())")
  }
}
