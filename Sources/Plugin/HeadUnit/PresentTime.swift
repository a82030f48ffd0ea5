import GStreamerKit
import SDLLink

/// The present by two clocks, to convert times of arrival into running times.
struct PresentTime: Sendable {
  /// By ``MonotonicClock``.
  let now: Duration
  /// The pipeline's, in nanoseconds; 0 without a clock.
  let runningTime: UInt64

  init(of element: UnsafeMutablePointer<GstElement>) {
    var (now, runningTime) = (Duration.zero, GstClockTime.max)
    // A thread that has stood still in between reads both again: what it pushes would be off by that time. Some clocks
    // take as long each time.
    for _ in 0..<3 {
      now = MonotonicClock.now
      runningTime = gst_element_get_current_running_time(element)
      if MonotonicClock.now - now < .milliseconds(2) { break }
    }
    self.now = now
    self.runningTime = runningTime == .max ? 0 : UInt64(runningTime)
  }
}
