import GStreamerKit

/// The last raw picture, sent or not. It is sent again when no other comes.
final class LastPicture {
  private var shown: Buffer?
  /// The next one, with which the base class has prerolled.
  private var prerolled: Buffer?
  private var prerolledTime: UInt64 = 0

  /// The pipeline has paused before a picture that is shown at `runningTime`; `GST_CLOCK_TIME_NONE` is at once.
  func preroll(_ picture: UnsafeMutablePointer<GstBuffer>, for runningTime: UInt64) {
    prerolled = Buffer(retaining: picture)
    prerolledTime = runningTime
  }

  /// Its time has come.
  func show(_ picture: UnsafeMutablePointer<GstBuffer>) {
    shown = Buffer(retaining: picture)
    prerolled = nil
  }

  func picture(at runningTime: UInt64) -> UnsafeMutablePointer<GstBuffer>? {
    if let picture = prerolled?.pointer, prerolledTime == .max || prerolledTime <= runningTime { show(picture) }
    return shown?.pointer
  }

  /// The format changes, or the stream is over.
  func forget() {
    shown = nil
    prerolled = nil
  }
}
