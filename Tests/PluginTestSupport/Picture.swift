import Glibc
import CGStreamerApp
import GStreamerKit

import func TestSupport.joined
import struct TestSupport.Picture

@testable import Plugin

/// A picture in I420 whose three planes differ from each other and from picture to picture.
struct Picture {
  enum Layout: String, CaseIterable {
    case i420 = "I420"
    case yv12 = "YV12"
    case nv12 = "NV12"
    case nv21 = "NV21"
  }

  let width: Int
  let height: Int
  var luma: [UInt8]
  var blue: [UInt8]
  var red: [UInt8]

  init(_ width: Int, _ height: Int, _ index: Int) {
    self.width = width
    self.height = height
    // Row by row from a pattern, because a loop over pixels is slow in a debug build.
    let pattern = (0..<160 + width).map { UInt8(40 + $0 % 160) }
    luma = Self.plane(height) { y in
      let start = (4 * index + y / 2) % 160
      return pattern[start..<start + width]
    }
    let blueRow = (0..<width / 2).map { UInt8(60 + ($0 + index) % 100) }
    blue = Self.plane(height / 2) { _ in blueRow[...] }
    red = Self.plane(height / 2) { y in [UInt8](repeating: UInt8(180 - (y + index) % 100), count: width / 2)[...] }
  }

  private static func plane(_ height: Int, _ row: (Int) -> ArraySlice<UInt8>) -> [UInt8] {
    var plane: [UInt8] = []
    for y in 0..<height { plane += row(y) }
    return plane
  }

  static func caps(
    _ width: Int = 320, _ height: Int = 240, format: Layout = .i420, frameRate: Int = 30, extra: String = ""
  ) -> String {
    "video/x-raw,format=\(format.rawValue),width=\(width),height=\(height),framerate=\(frameRate)/1,"
      + "pixel-aspect-ratio=1/1,interlace-mode=progressive\(extra.isEmpty ? "" : ",")\(extra)"
  }

  /// I420 without padding; for sizes that are multiples of 8 this is GStreamer's own layout.
  var bytes: [UInt8] { luma + blue + red }

  /// One of the planes of `layout`, each line followed by `padding` bytes that belong to no picture.
  struct Plane {
    var bytes: [UInt8]
    var stride: Int
  }

  func planes(_ layout: Layout, padding: Int = 0) -> [Plane] {
    func padded(_ plane: [UInt8], _ width: Int) -> Plane {
      var bytes: [UInt8] = []
      for start in stride(from: 0, to: plane.count, by: width) {
        bytes += plane[start..<(start + width)]
        bytes += [UInt8](repeating: 0xEE, count: padding)
      }
      return Plane(bytes: bytes, stride: width + padding)
    }
    return switch layout {
    case .i420: [padded(luma, width), padded(blue, width / 2), padded(red, width / 2)]
    case .yv12: [padded(luma, width), padded(red, width / 2), padded(blue, width / 2)]
    case .nv12: [padded(luma, width), padded(TestSupport.Picture.interleaved(blue, red), width)]
    case .nv21: [padded(luma, width), padded(TestSupport.Picture.interleaved(red, blue), width)]
    }
  }

  /// A buffer with these planes; a GstVideoMeta tells where they are if there is padding.
  func buffer(_ layout: Layout, padding: Int, from source: FrameSource) throws -> UnsafeMutablePointer<GstBuffer> {
    let planes = planes(layout, padding: padding)
    guard let buffer = source.buffer(of: planes.flatMap(\.bytes)) else { throw TestFailure("no buffer") }
    guard padding > 0 else { return buffer }
    var offsets: [gsize] = []
    var strides: [gint] = []
    var offset = 0
    for plane in planes {
      offsets.append(gsize(offset))
      strides.append(gint(plane.stride))
      offset += plane.bytes.count
    }
    gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, gst_video_format_from_string(layout.rawValue), guint(width), guint(height),
      guint(planes.count), &offsets, &strides)
    return buffer
  }

  /// The smallest of the three planes' PSNR against a decoded I420 picture, in dB.
  func psnr(against decoded: [UInt8]) -> Double {
    guard decoded.count == bytes.count else { return 0 }
    let chroma = width * height / 4
    let parts = [
      (luma, decoded[..<luma.count]), (blue, decoded[luma.count..<(luma.count + chroma)]),
      (red, decoded[(luma.count + chroma)...]),
    ]
    return parts.map { plane, decoded in
      min(TestSupport.Picture.psnr(plane, Array(decoded)), 100)
    }.min() ?? 0
  }
}

/// Decodes access units with libav, as a head unit's decoder would; returns I420 pictures.
func decode(_ units: [[UInt8]], width: Int, height: Int) throws -> [[UInt8]] {
  let pipeline = try Pipeline(
    """
    appsrc name=src format=time ! h264parse ! avdec_h264 ! videoconvert \
    ! video/x-raw,format=I420,width=\(width),height=\(height) ! appsink name=out sync=false
    """)
  let source = try FrameSource(pipeline, caps: "video/x-h264,stream-format=byte-stream,alignment=au")
  try pipeline.play()
  for (index, unit) in units.enumerated() { source.push(unit, at: index) }
  source.end()
  let sink: UnsafeMutablePointer<GstAppSink> = try pipeline["out"].pointer.cast()
  var pictures: [[UInt8]] = []
  while let sample = gst_app_sink_try_pull_sample(sink, GstClockTime(testTimeout.nanoseconds)) {
    pictures.append(bytes(of: gst_sample_get_buffer(sample)))
    gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self))
  }
  return pictures
}

func bytes(of buffer: UnsafeMutablePointer<GstBuffer>?) -> [UInt8] {
  guard let buffer else { return [] }
  let size = gst_buffer_get_size(buffer)
  return [UInt8](unsafeUninitializedCapacity: Int(size)) { bytes, count in
    count = Int(gst_buffer_extract(buffer, 0, bytes.baseAddress, size))
  }
}

/// Encodes a test picture as H.264 with x264enc and h264parse: what a file holds.
func encodedUnits(
  _ count: Int, width: Int = 320, height: Int = 240, format: String = "I420", keyFrameInterval: Int = 10,
  frameRate: Int = 30, encoder: String = "tune=zerolatency", profile: String = "constrained-baseline"
) throws -> [EncodedUnit] {
  let pipeline = try Pipeline(
    """
    videotestsrc num-buffers=\(count) pattern=ball \
    ! video/x-raw,format=\(format),width=\(width),height=\(height),framerate=\(frameRate)/1 \
    ! x264enc speed-preset=superfast \(encoder) bitrate=500 key-int-max=\(keyFrameInterval) threads=1 \
    ! h264parse config-interval=-1 ! video/x-h264,stream-format=byte-stream,alignment=au,profile=\(profile) \
    ! appsink name=out sync=false
    """)
  try pipeline.play()
  let sink: UnsafeMutablePointer<GstAppSink> = try pipeline["out"].pointer.cast()
  var units: [EncodedUnit] = []
  while let sample = gst_app_sink_try_pull_sample(sink, GstClockTime(testTimeout.nanoseconds)) {
    let buffer = gst_sample_get_buffer(sample)
    let isDelta = buffer.map { cgst_buffer_has_flag($0, GST_BUFFER_FLAG_DELTA_UNIT) != 0 } ?? true
    units.append(
      EncodedUnit(bytes: bytes(of: buffer), isDelta: isDelta, time: UInt64(buffer?.pointee.pts ?? .max)))
    gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self))
  }
  guard units.count == count else { throw TestFailure("x264enc made \(units.count) units: \(pipeline.drain())") }
  return units
}

/// One access unit of an encoder.
struct EncodedUnit: Equatable {
  var bytes: [UInt8]
  var isDelta: Bool
  /// When it is shown, in nanoseconds.
  var time: UInt64 = 0

  var flags: GstBufferFlags { isDelta ? GST_BUFFER_FLAG_DELTA_UNIT : GstBufferFlags(rawValue: 0) }

  /// With filler data of so many bytes (NAL unit type 12), which decoders pass over.
  func enlarged(by byteCount: Int) -> EncodedUnit {
    let filler = [UInt8](repeating: 0xFF, count: byteCount)
    return EncodedUnit(bytes: joined(bytes, [0, 0, 0, 1, 0x0C], filler, [0x80]), isDelta: isDelta, time: time)
  }

  static func caps(_ width: Int = 320, _ height: Int = 240) -> String {
    "video/x-h264,stream-format=byte-stream,alignment=au,width=\(width),height=\(height)"
  }
}
