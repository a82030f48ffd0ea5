import Foundation
import Testing

/// Launch lines with `sdlrangefilter`.
@Suite struct RangeFilterTests {
  private let folder: TemporaryFolder
  private static let ranges =
    "landscape::min-width=500 landscape::min-height=200 landscape::max-width=800 landscape::max-height=400 portrait::enabled=false"

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func theGuidesExample() throws {
    let result = try folder.launch(
      "-m videotestsrc num-buffers=20 ! sdlrangefilter \(Self.ranges) ! sdlvideosink uri=sdl+builtin:core-listed")
    #expect(result.status == 0, "\(result)")
    #expect(result.output.contains(/sdl-stream-started.*width=\(int\)800, height=\(int\)380/), "\(result)")
    #expect(!result.output.contains("WARNING") && !result.errors.contains("WARNING"), "\(result)")
  }

  @Test(arguments: ["default", "core", "generic-hmi", "legacy"])
  func withoutBoundsNothingChanges(_ preset: String) throws {
    let result = try folder.launch(
      "-m videotestsrc num-buffers=20 ! sdlrangefilter ! videoconvertscale ! sdlvideosink uri=sdl+builtin:\(preset)")
    #expect(result.status == 0 && result.output.contains("sdl-stream-started"), "\(result)")
  }

  @Test func encodedVideo() throws {
    let result = try folder.launch(
      """
      -m videotestsrc num-buffers=20 ! video/x-raw,width=800,height=480,framerate=15/1 ! x264enc tune=zerolatency \
      ! video/x-h264,profile=constrained-baseline ! h264parse ! sdlrangefilter landscape::min-width=640 \
      ! sdlvideosink
      """)
    #expect(result.status == 0 && result.output.contains("sdl-stream-started"), "\(result)")
  }

  @Test func anyOtherSink() throws {
    let result = try folder.launch("-v videotestsrc num-buffers=5 ! sdlrangefilter \(Self.ranges) ! fakesink")
    #expect(result.status == 0 && result.output.contains(/width=\(int\)500, height=\(int\)240/), "\(result)")
  }

  @Test func noDisplayIsSupported() throws {
    let result = try folder.launch(
      "videotestsrc is-live=true num-buffers=60 ! sdlrangefilter landscape::enabled=false ! sdlvideosink uri=sdl+builtin:core-listed"
    )
    // The pipeline runs on to its end.
    #expect(result.status == 0, "\(result)")
    #expect(result.output.matches(of: /landscape::enabled is false/).count == 8, "\(result)")
  }

  @Test(arguments: [
    ("landscape::min-width=500 landscape::max-width=400", "landscape::min-width 500 is above max-width 400"),
    ("portrait::min-height=-3", "portrait::min-height was not changed: min-height -3 is not between 1 and 10000"),
  ])
  func refusedBounds(_ ranges: String, _ reason: String) throws {
    let result = try folder.launch("videotestsrc num-buffers=5 ! sdlrangefilter \(ranges) ! fakesink")
    #expect(result.status != 0 && (result.output + result.errors).contains(reason), "\(result)")
  }
}
