import GStreamerKit

/// How far H.264 is with the picture that a seek has asked for.
struct SeekProgress: ~Copyable {
  /// The first picture that is shown, with which the base class prerolls.
  enum Preroll {
    /// It has not come since the stream began.
    case first
    /// It has not come since the pipeline was flushed.
    case seek
    case done
  }

  private(set) var preroll = Preroll.first
  /// How many frames that are shown later were sent in front of the sought one.
  private(set) var reorderedCount = 0
  private var hasSkipped = false
  /// The frame that was shown before the base class prerolled with it.
  private var shownBuffer: UnsafeMutablePointer<GstBuffer>?

  deinit {
    if let shownBuffer { gst_buffer_unref(shownBuffer) }
  }

  mutating func flushed() {
    forgetShown()
    preroll = .seek
    reorderedCount = 0
  }

  /// The next frame has come.
  ///
  /// - Parameter isShownLater: behind the sought one.
  /// - Returns: whether it depends on frames that were skipped, unless it stands alone.
  mutating func note(_ place: SegmentPlace, isShownLater: Bool) -> Bool {
    if place == .ahead, isShownLater { reorderedCount += 1 }
    defer { hasSkipped = place == .skipped }
    return hasSkipped && place != .skipped
  }

  /// The first picture has come, and was shown already if it is given.
  mutating func prerolled(with buffer: UnsafeMutablePointer<GstBuffer>?) {
    preroll = .done
    forgetShown()
    guard let buffer else { return }
    gst_buffer_ref(buffer)
    shownBuffer = buffer
  }

  /// Whether the frame was shown before its time.
  mutating func takeShown(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    guard let shownBuffer else { return false }
    forgetShown()
    return shownBuffer == buffer
  }

  private mutating func forgetShown() {
    if let buffer = shownBuffer.take() { gst_buffer_unref(buffer) }
  }
}
