import CGStreamerApp
import Foundation
import GStreamerKit

@testable import Plugin

/// A file of H.264, whose pictures all differ, made for one test.
final class Film {
  /// How the pictures are encoded.
  enum Encoding: CaseIterable, Sendable {
    /// Each shows later than those before it in the file.
    case inOrder
    /// With B-frames, which come after pictures that are shown later.
    case reordered
  }

  /// The kind of file.
  enum Container {
    case mp4
    case matroska
    /// H.264 alone, as a byte stream.
    case none

    fileprivate var muxer: String {
      switch self {
      case .mp4: "mp4mux name=muxer"
      case .matroska: "matroskamux name=muxer"
      case .none: "video/x-h264,stream-format=byte-stream"
      }
    }
  }

  static let frameDuration: UInt64 = 1_000_000_000 / 30

  let path: String
  let frameCount: Int
  let keyFrameInterval: Int

  /// - Parameters:
  ///   - folder: of the test, which removes it.
  ///   - hasSound: whether there is sound of the same length.
  init(
    in folder: URL, _ encoding: Encoding = .inOrder, frameCount: Int = 45, keyFrameInterval: Int = 15, width: Int = 320,
    height: Int = 240, container: Container = .mp4, hasSound: Bool = false
  ) throws {
    path = folder.appendingPathComponent("film").path
    self.frameCount = frameCount
    self.keyFrameInterval = keyFrameInterval
    let options = encoding == .inOrder ? "bframes=0 tune=zerolatency" : "bframes=2 b-adapt=false rc-lookahead=5"
    let sound = "audiotestsrc num-buffers=\(frameCount) samplesperbuffer=1470 ! audioconvert ! avenc_aac ! muxer."
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=\(frameCount) pattern=ball ! \(Picture.caps(width, height)) \
      ! x264enc speed-preset=superfast \(options) threads=1 key-int-max=\(keyFrameInterval) option-string=scenecut=0 \
      ! video/x-h264,profile=\(encoding == .inOrder ? "constrained-baseline" : "main") \
      ! h264parse ! \(container.muxer) ! filesink location=\(path) \(hasSound ? sound : "")
      """)
    try pipeline.play()
    try pipeline.waitForEnd()
  }

  /// When a frame is shown, in nanoseconds of the file.
  static func time(of frame: Int) -> UInt64 { UInt64(frame) * 1_000_000_000 / 30 }

  /// What a decoder makes of the file.
  func pictures() throws -> [[UInt8]] { try Self.pictures(of: path) }

  static func pictures(of path: String) throws -> [[UInt8]] {
    let pipeline = try Pipeline(
      """
      filesrc location=\(path) ! parsebin ! avdec_h264 ! videoconvert ! video/x-raw,format=I420 \
      ! appsink name=out sync=false
      """)
    try pipeline.play()
    let sink: UnsafeMutablePointer<GstAppSink> = try pipeline["out"].pointer.cast()
    var pictures: [[UInt8]] = []
    while let sample = gst_app_sink_try_pull_sample(sink, GstClockTime(testTimeout.nanoseconds)) {
      pictures.append(bytes(of: gst_sample_get_buffer(sample)))
      gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self))
    }
    return pictures
  }
}

extension FileManager {
  /// Has a new folder for `body`.
  func withTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? removeItem(at: folder) }
    return try body(folder)
  }
}
