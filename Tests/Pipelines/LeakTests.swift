import Foundation
import Testing

/// What GStreamer's tracer of leaks says at the end of a program: objects, buffers, events and caps that are still alive.
enum Leaks {
  static let tracer = ["GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1"]

  static func expectNone(
    after result: Program.Result, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(result.status == 0, "\(result)", sourceLocation: sourceLocation)
    // The tracer names the formats of its lines first.
    let leaks = result.errors.split(separator: "\n").filter { $0.contains(":: object-alive, ") }
    #expect(leaks.isEmpty, "\(leaks.joined(separator: "\n"))", sourceLocation: sourceLocation)
    #expect(result.errors.contains("GST_TRACER"), "the tracer was not there", sourceLocation: sourceLocation)
  }
}

/// Pipelines of every kind leave nothing behind.
@Suite struct LeakTests {
  private static let h264 = "x264enc tune=zerolatency key-int-max=10 ! h264parse"

  @Test(arguments: [
    "videotestsrc num-buffers=20 ! sdlvideosink",
    "videotestsrc num-buffers=20 ! sdlvideosink encoder=x264enc",
    "videotestsrc num-buffers=20 ! sdlvideosink skip-unchanged=false video-direction=90r",
    "videotestsrc num-buffers=20 ! sdlrangefilter ! videoscale ! sdlvideosink",
    "videotestsrc num-buffers=20 ! \(h264) ! video/x-h264,stream-format=byte-stream ! sdlvideosink",
    "videotestsrc num-buffers=20 ! \(h264) ! video/x-h264,stream-format=avc ! sdlvideosink uri=sdl+builtin:generic-hmi",
    "videotestsrc num-buffers=20 ! sdlvideosink uri=sdl+builtin:hostile",
    "audiotestsrc num-buffers=20 ! audioconvert ! audioresample ! sdlaudiosink volume=0.5",
    "audiotestsrc is-live=true num-buffers=20 ! sdlaudiosink start-on-data=true",
    "videotestsrc num-buffers=20 ! sdlvideosink audiotestsrc num-buffers=20 ! sdlaudiosink",
  ])
  func sinks(_ pipeline: String) throws {
    Leaks.expectNone(after: try launch(pipeline))
  }

  @Test(arguments: [
    (
      "sdlheadunitsrc port=0 eos-on-disconnect=true ! decodebin ! fakesink",
      "videotestsrc num-buffers=20 ! sdlvideosink"
    ),
    ("sdlheadunitaudiosrc port=0 eos-on-disconnect=true ! fakesink", "audiotestsrc num-buffers=20 ! sdlaudiosink"),
  ])
  func sources(_ source: String, sink: String) throws {
    let folder = try TemporaryFolder()
    let headUnit = try Program(
      "gst-launch-1.0 \(source)".split(separator: " ").map(String.init), in: folder, environment: Leaks.tracer)
    let port = try headUnit.waitForOutput { $0.firstMatch(of: /apps on 127.0.0.1:([0-9]+)/).map { String($0.1) } }
    try headUnit.waitForOutput { $0.contains("New clock") ? true : nil }
    Leaks.expectNone(after: try launch("\(sink) uri=sdl://127.0.0.1:\(port)"))
    Leaks.expectNone(after: headUnit.wait())
  }

  private func launch(_ pipeline: String) throws -> Program.Result {
    try TemporaryFolder().launch("--quiet \(pipeline)", environment: Leaks.tracer)
  }
}
