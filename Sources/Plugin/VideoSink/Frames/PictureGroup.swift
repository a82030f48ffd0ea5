import GStreamerKit

/// What was sent of a file since the last key frame, so that the stream can be taken up in the middle of a group of pictures by
/// a decoder that was opened anew: after a pause, in which many streams can't be repeated, or another service.
struct PictureGroup: ~Copyable {
  /// Larger ones are not kept: with so few key frames, it takes long to send them again.
  private static let maximumCount = 600
  private static let maximumByteCount = 8 << 20

  /// Empty when the key frame is not known, or something has been lost since.
  private(set) var buffers: [UnsafeMutablePointer<GstBuffer>] = []
  private var byteCount = 0

  deinit {
    for buffer in buffers { gst_buffer_unref(buffer) }
  }

  /// The next frame was sent.
  mutating func add(_ buffer: UnsafeMutablePointer<GstBuffer>, isKeyFrame: Bool) {
    if isKeyFrame {
      forget()
    } else if buffers.isEmpty {
      return
    }
    byteCount += Int(gst_buffer_get_size(buffer))
    guard buffers.count < Self.maximumCount, byteCount <= Self.maximumByteCount else { return forget() }
    gst_buffer_ref(buffer)
    buffers.append(buffer)
  }

  /// What follows can't be decoded behind these.
  mutating func forget() {
    for buffer in buffers { gst_buffer_unref(buffer) }
    buffers.removeAll(keepingCapacity: true)
    byteCount = 0
  }
}
