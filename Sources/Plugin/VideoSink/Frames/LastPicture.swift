import GStreamerKit

/// The last raw picture, whether it was sent or not. It is sent again when no other comes.
final class LastPicture {
  private var shown: UnsafeMutablePointer<GstBuffer>?
  /// The next one, with which the base class has prerolled.
  private var prerolled: UnsafeMutablePointer<GstBuffer>?
  private var prerolledTime: UInt64 = 0

  deinit {
    forget()
  }

  /// The pipeline has paused in front of a picture that is to be shown at `runningTime`; `GST_CLOCK_TIME_NONE` is at once.
  func preroll(_ picture: UnsafeMutablePointer<GstBuffer>, for runningTime: UInt64) {
    gst_buffer_ref(picture)
    if let prerolled { gst_buffer_unref(prerolled) }
    prerolled = picture
    prerolledTime = runningTime
  }

  /// Its time has come.
  func show(_ picture: UnsafeMutablePointer<GstBuffer>) {
    gst_buffer_ref(picture)
    forget()
    shown = picture
  }

  /// What is to be seen at `runningTime`.
  func picture(at runningTime: UInt64) -> UnsafeMutablePointer<GstBuffer>? {
    if let prerolled, prerolledTime == .max || prerolledTime <= runningTime { show(prerolled) }
    return shown
  }

  /// What follows has another format, or the stream is over.
  func forget() {
    if let shown { gst_buffer_unref(shown) }
    if let prerolled { gst_buffer_unref(prerolled) }
    shown = nil
    prerolled = nil
  }
}
