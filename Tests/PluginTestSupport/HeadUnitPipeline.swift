import CGStreamerApp
import GStreamerKit
import SDLLink

@testable import Plugin

/// A head unit in a pipeline, with the name "src", whose pictures go to an appsink with the name "out".
final class HeadUnitPipeline {
  /// A buffer that was pulled.
  struct Sample {
    var bytes: [UInt8]
    var caps: String
    /// Nanoseconds.
    var time: UInt64
    var isDelta: Bool
    var isDiscontinuous: Bool
  }

  let pipeline: Pipeline
  let source: Element
  /// The port that it listened on at first.
  let port: UInt16
  private let output: Element

  /// - Parameters:
  ///   - properties: of the source, as for gst-launch.
  ///   - elements: between the source and the appsink, each with an exclamation mark after it.
  init(_ properties: String = "", through elements: String = "", output: String = "sync=false") throws {
    pipeline = try Pipeline("sdlheadunitsrc name=src port=0 \(properties) ! \(elements) appsink name=out \(output)")
    source = try pipeline["src"]
    self.output = try pipeline["out"]
    try pipeline.play()
    guard let port = UInt16(source["current-port"] ?? ""), port > 0 else {
      throw TestFailure("no port: \(pipeline.drain())")
    }
    self.port = port
  }

  /// For the sink's property.
  var uri: String { "sdl://127.0.0.1:\(port)" }

  /// The port after restarts; 0 while it does not run.
  var currentPort: UInt16 { UInt16(source["current-port"] ?? "") ?? 0 }

  var statistics: Statistics { source.statistics }

  /// The next buffer; nil at the end of the stream, or when none comes.
  func pull(within timeout: Duration = testTimeout) -> Sample? {
    let sink: UnsafeMutablePointer<GstAppSink> = output.pointer.cast()
    guard let sample = gst_app_sink_try_pull_sample(sink, GstClockTime(timeout.nanoseconds)) else { return nil }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self)) }
    guard let buffer = gst_sample_get_buffer(sample) else { return nil }
    return Sample(
      bytes: PluginTestSupport.bytes(of: buffer), caps: gst_sample_get_caps(sample).map { text(of: $0) } ?? "",
      time: UInt64(buffer.pointee.pts), isDelta: cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_DELTA_UNIT) != 0,
      isDiscontinuous: cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_DISCONT) != 0)
  }

  func pull(_ count: Int) throws -> [Sample] {
    try (0..<count).map { index in
      guard let sample = pull() else { throw TestFailure("buffer \(index) of \(count) did not come: \(statistics)") }
      return sample
    }
  }

  /// Pulls until `match` accepts a sample.
  func pull(until match: (Sample) -> Bool) throws -> Sample {
    let deadline = MonotonicClock.now + testTimeout
    while MonotonicClock.now < deadline, let sample = pull() { if match(sample) { return sample } }
    throw TestFailure("no such buffer: \(statistics)")
  }

  /// The registered apps, as text of their structures.
  var apps: String { source["apps"] ?? "" }
}
