import GStreamerKit
import X264Encoder

/// The raw picture that was encoded last, kept by reference, and whether encoding it again would improve what the
/// decoder shows of it.
struct EncodedPicture: ~Copyable {
  /// Pictures that take longer to settle, such as noise at a low bitrate, are left as they are after this time.
  private static let maximumRepetitions = 150

  private var buffer: UnsafeMutablePointer<GstBuffer>?
  private var repetitions = 0
  private var isSettled = false

  deinit {
    if let buffer { gst_buffer_unref(buffer) }
  }

  /// The decoder shows the picture as well as it ever will.
  var isSharp: Bool { isSettled || repetitions >= Self.maximumRepetitions }

  func isOf(_ picture: UnsafeMutablePointer<GstBuffer>) -> Bool { picture == buffer }

  /// A picture has been encoded.
  ///
  /// - Parameter isSettled: whether the encoder would add nothing if it encoded the picture again.
  mutating func note(_ picture: UnsafeMutablePointer<GstBuffer>, isKeyFrame: Bool, isSettled: Bool) {
    repetitions = picture == buffer && !isKeyFrame ? repetitions + 1 : 0
    self.isSettled = isSettled
    keep(picture)
  }

  /// Whether a picture has the same pixels. If so, it replaces the former one, whose buffer goes back to its pool.
  mutating func equals(_ picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo) -> Bool {
    guard let buffer else { return false }
    if picture == buffer { return true }
    guard Self.haveSameMemory(picture, buffer) || Self.haveSamePixels(picture, buffer, info) else { return false }
    keep(picture)
    return true
  }

  /// The next picture has another format, or the decoder's picture is not known.
  mutating func forget() {
    self = EncodedPicture()
  }

  private mutating func keep(_ picture: UnsafeMutablePointer<GstBuffer>) {
    gst_buffer_ref(picture)
    if let buffer { gst_buffer_unref(buffer) }
    buffer = picture
  }

  /// Whether two buffers refer to the same bytes. While both exist, they can't change: GStreamer does not map memory of
  /// two buffers for writing, and a pool does not hand out a buffer in use.
  private static func haveSameMemory(
    _ one: UnsafeMutablePointer<GstBuffer>, _ other: UnsafeMutablePointer<GstBuffer>
  ) -> Bool {
    let count = gst_buffer_n_memory(one)
    guard count > 0, count == gst_buffer_n_memory(other), havePlanesInSamePlaces(one, other) else { return false }
    for index in 0..<count {
      guard let memory = gst_buffer_peek_memory(one, index), let otherMemory = gst_buffer_peek_memory(other, index),
        (memory.pointee.parent ?? memory) == (otherMemory.pointee.parent ?? otherMemory),
        memory.pointee.offset == otherMemory.pointee.offset, memory.pointee.size == otherMemory.pointee.size
      else { return false }
    }
    return true
  }

  private static func havePlanesInSamePlaces(
    _ one: UnsafeMutablePointer<GstBuffer>, _ other: UnsafeMutablePointer<GstBuffer>
  ) -> Bool {
    switch (gst_buffer_get_video_meta(one), gst_buffer_get_video_meta(other)) {
    case (nil, nil): true
    case (let meta?, let otherMeta?):
      meta.pointee.offset == otherMeta.pointee.offset && meta.pointee.stride == otherMeta.pointee.stride
    default: false
    }
  }

  private static func haveSamePixels(
    _ one: UnsafeMutablePointer<GstBuffer>, _ other: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo
  ) -> Bool {
    var info = info
    var frame = GstVideoFrame()
    guard gst_video_frame_map(&frame, &info, one, GST_MAP_READ) != 0 else { return false }
    defer { gst_video_frame_unmap(&frame) }
    var otherFrame = GstVideoFrame()
    guard gst_video_frame_map(&otherFrame, &info, other, GST_MAP_READ) != 0 else { return false }
    defer { gst_video_frame_unmap(&otherFrame) }
    guard let planes = Planes(frame), let otherPlanes = Planes(otherFrame) else { return false }
    return planes.haveSamePixels(as: otherPlanes, width: Int(info.width), height: Int(info.height))
  }
}
