import GStreamerKit

/// The last raw picture, whether it was sent or not. It is sent again when no other comes.
final class LastPicture {
  private var shown: UnsafeMutablePointer<GstBuffer>?
  /// The next one, which waits for its time, or was dropped because that had passed.
  private var prepared: UnsafeMutablePointer<GstBuffer>?
  private var preparedTime: UInt64 = 0

  deinit {
    forget()
  }

  /// A picture has come that is to be shown at `runningTime`; `GST_CLOCK_TIME_NONE` is at once.
  func prepare(_ picture: UnsafeMutablePointer<GstBuffer>, for runningTime: UInt64) {
    gst_buffer_ref(picture)
    if let prepared { gst_buffer_unref(prepared) }
    prepared = picture
    preparedTime = runningTime
  }

  /// Its time has come.
  func show(_ picture: UnsafeMutablePointer<GstBuffer>) {
    gst_buffer_ref(picture)
    forget()
    shown = picture
  }

  /// What is to be seen at `runningTime`.
  func picture(at runningTime: UInt64) -> UnsafeMutablePointer<GstBuffer>? {
    if let prepared, preparedTime == .max || preparedTime <= runningTime { show(prepared) }
    return shown
  }

  /// What follows has another format, or the stream is over.
  func forget() {
    if let shown { gst_buffer_unref(shown) }
    if let prepared { gst_buffer_unref(prepared) }
    shown = nil
    prepared = nil
  }
}
