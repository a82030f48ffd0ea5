import Foundation
import Testing

/// Ordinary pipelines have nothing to warn about.
@Suite struct QuietLogTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Five seconds of pictures: two key-frame intervals and a bit.
  private static let size = "video/x-raw,width=800,height=480,framerate=30/1"

  @Test(arguments: [
    "videotestsrc num-buffers=150 pattern=ball ! \(size) ! sdlvideosink sync=false",
    "videotestsrc num-buffers=75 is-live=true ! \(size) ! sdlvideosink",
    "videotestsrc num-buffers=75 ! video/x-raw,width=640,height=360,framerate=30/1 ! videoconvertscale ! sdlvideosink",
    "videotestsrc num-buffers=75 ! video/x-raw,width=720,height=576,framerate=25/1,pixel-aspect-ratio=16/15"
      + " ! videoconvertscale ! sdlvideosink suspend-policy=drop",
    "videotestsrc num-buffers=150 pattern=ball ! \(size) ! x264enc tune=zerolatency key-int-max=5 speed-preset=ultrafast"
      + " ! h264parse config-interval=-1 ! sdlvideosink",
    "videotestsrc num-buffers=3 ! video/x-raw,framerate=1/1 ! videoconvertscale ! sdlvideosink",
    "videotestsrc num-buffers=60 ! sdlrangefilter landscape::min-width=300 ! videoconvertscale ! sdlvideosink",
  ])
  func nothingIsLogged(pipeline: String) throws {
    // The base class warns of pictures that a busy machine makes too late.
    let pipeline = pipeline.replacing(" sdlvideosink", with: " sdlvideosink max-lateness=-1")
    let arguments = ["gst-launch-1.0", "-e"] + pipeline.split(separator: " ").map(String.init)
    let result = try Program(
      arguments, in: folder, environment: ["GST_DEBUG": "2", "GST_DEBUG_NO_COLOR": "1"]
    ).wait()
    #expect(result.status == 0, "\(result)")
    let lines = result.errors.split(separator: "\n").filter { $0.contains(" sdl") || $0.contains("x264") }
    #expect(lines == [], "\(lines.joined(separator: "\n"))")
    #expect(!result.output.contains("WARNING") && !result.errors.contains("WARNING"), "\(result)")
  }
}
