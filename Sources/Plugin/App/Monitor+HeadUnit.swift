import GStreamerKit
import SDLLink

extension Monitor {
  /// Calls `attempt`, with the lock held, until it returns something; for a streaming thread that waits for the head unit.
  ///
  /// - Parameter pad: of the sink.
  /// - Returns: nil when there was nothing before `deadline`, or before the source that pushes on this thread wanted it back.
  func waitForHeadUnit<Result>(
    at pad: UnsafeMutablePointer<GstPad>, until deadline: Duration?, time: TimeSource,
    _ attempt: (inout State) -> Result?
  ) -> Result? {
    while true {
      let nextPoll = MonotonicClock.now + UpstreamSource.pollInterval
      if let result = wait(until: min(deadline ?? nextPoll, nextPoll), for: attempt) { return result }
      if let deadline, time.now >= deadline { return nil }
      if UpstreamSource.isInterrupted(at: pad) { return nil }
    }
  }
}
