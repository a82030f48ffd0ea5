import CGStreamerApp
import GStreamerKit
import SDLLink
import SDLMessages

@testable import Plugin

/// A head unit in a pipeline, with the name "src", whose sound goes to an appsink with the name "out".
final class SoundPipeline {
  /// A buffer that was pulled.
  struct Sample {
    var bytes: [UInt8]
    var caps: String
    /// Nanoseconds.
    var time: UInt64
    var duration: UInt64
    /// Samples.
    var offset: UInt64
    var isSilence: Bool
    var isDiscontinuous: Bool

    var end: UInt64 { time + duration }
  }

  let pipeline: Pipeline
  let source: Element
  /// The port that it listened on at first.
  let port: UInt16
  private let output: Element

  /// - Parameter properties: of the source, as for gst-launch.
  init(_ properties: String = "") throws {
    pipeline = try Pipeline("sdlheadunitaudiosrc name=src port=0 \(properties) ! appsink name=out sync=false")
    source = try pipeline["src"]
    output = try pipeline["out"]
    try pipeline.play()
    guard let port = UInt16(source["current-port"] ?? ""), port > 0 else {
      throw TestFailure("no port: \(pipeline.drain())")
    }
    self.port = port
  }

  var currentPort: UInt16 { UInt16(source["current-port"] ?? "") ?? 0 }
  var statistics: Statistics { source.statistics }

  /// The next buffer; nil at the end of the stream, or when none comes.
  func pull(within timeout: Duration = testTimeout) -> Sample? { Self.pull(from: output, within: timeout) }

  static func pull(from output: Element, within timeout: Duration = testTimeout) -> Sample? {
    let sink: UnsafeMutablePointer<GstAppSink> = output.pointer.cast()
    guard let sample = gst_app_sink_try_pull_sample(sink, GstClockTime(timeout.nanoseconds)) else { return nil }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self)) }
    guard let buffer = gst_sample_get_buffer(sample) else { return nil }
    return Sample(
      bytes: PluginTestSupport.bytes(of: buffer), caps: gst_sample_get_caps(sample).map { text(of: $0) } ?? "",
      time: UInt64(buffer.pointee.pts), duration: UInt64(buffer.pointee.duration),
      offset: UInt64(buffer.pointee.offset),
      isSilence: cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) != 0,
      isDiscontinuous: cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_DISCONT) != 0)
  }

  /// All buffers until so many bytes of sound have come.
  func pull(soundByteCount: Int) throws -> [Sample] {
    var samples: [Sample] = []
    var byteCount = 0
    let deadline = MonotonicClock.now + testTimeout
    while byteCount < soundByteCount {
      guard MonotonicClock.now < deadline, let sample = pull() else {
        throw TestFailure("only \(byteCount) of \(soundByteCount) bytes came: \(statistics)")
      }
      if !sample.isSilence { byteCount += sample.bytes.count }
      samples.append(sample)
    }
    return samples
  }
}

extension [SoundPipeline.Sample] {
  /// What was sent.
  var sound: [UInt8] { filter { !$0.isSilence }.flatMap(\.bytes) }

  /// Whether each begins where the one before it ends.
  var areContiguous: Bool { zip(self, dropFirst()).allSatisfy { $0.end == $1.time } }
}

extension Statistics {
  /// samples-in = samples-out + every samples-dropped-* + samples-queued.
  var areSamplesBalanced: Bool {
    let dropped = fields.keys.filter { $0.hasPrefix("samples-dropped-") }.map { self[$0] }.reduce(0, +)
    return self["samples-in"] >= 0 && self["samples-in"] == self["samples-out"] + dropped + self["samples-queued"]
  }
}

/// Sound that is never silent, in pieces of 20 ms at 16 kHz, 16 bit.
func soundPieces(_ count: Int, byteCount: Int = 640) -> [[UInt8]] {
  (0..<count).map { piece -> [UInt8] in
    (0..<byteCount).map { index -> UInt8 in
      let number = piece * 131 + index * 7
      return UInt8(number % 250 + 1)
    }
  }
}
