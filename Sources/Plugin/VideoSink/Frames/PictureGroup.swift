import GStreamerKit

/// Frames since the last key frame, so that the stream can be taken up in the middle of a group of pictures by a decoder that was
/// opened anew: what was sent of a file, after a pause, in which many streams can't be repeated, or for another service; and what has
/// come of a live stream before its service was there.
struct PictureGroup: ~Copyable {
  /// Larger ones are not kept: it would take longer to send them again than to wait for the next key frame. Nor is what
  /// follows one, since memory that is held is not in the cache when upstream uses it again.
  private static let maximumCount = 600
  private static let maximumByteCount = 2 << 20

  /// Empty when the key frame is not known, or something has been lost since.
  private(set) var buffers: [UnsafeMutablePointer<GstBuffer>] = []
  /// Those since the last key frame, kept or not.
  private var count = 0
  private var byteCount = 0

  private var isTooLarge: Bool { count > Self.maximumCount || byteCount > Self.maximumByteCount }

  deinit {
    for buffer in buffers { gst_buffer_unref(buffer) }
  }

  /// The next frame was sent, or has to wait.
  mutating func add(_ buffer: UnsafeMutablePointer<GstBuffer>, isKeyFrame: Bool) {
    let isKept = isKeyFrame ? !isTooLarge : !buffers.isEmpty
    if isKeyFrame { forget() }
    count += 1
    byteCount += Int(gst_buffer_get_size(buffer))
    guard isKept, !isTooLarge else { return release() }
    gst_buffer_ref(buffer)
    buffers.append(buffer)
  }

  /// The first one has gone.
  mutating func removeFirst() {
    gst_buffer_unref(buffers.removeFirst())
  }

  /// What follows can't be decoded behind these.
  mutating func forget() {
    release()
    count = 0
    byteCount = 0
  }

  private mutating func release() {
    for buffer in buffers { gst_buffer_unref(buffer) }
    buffers.removeAll(keepingCapacity: true)
  }
}
