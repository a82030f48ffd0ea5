import GStreamerKit
import SDLApp
import SDLLink

/// Live pictures that wait for the link, and what the application is told about it.
extension VideoStreamRun {
  /// Sends the picture that waits, if the link is ready; returns when to look again.
  func sendDeferredPicture(
    _ path: FramePath, _ permission: VideoNegotiation.Permission, now: Duration
  ) -> Duration? {
    guard path.isPictureDeferred else { return nil }
    let next = path.sendDeferredPicture(permission, now: now)
    noteBitrate(path)
    if next == nil, path.queuedEpoch != permission.grant.epoch, path.lastSent == now {
      _ = path.noteQueued(permission.grant)
      noteFirstFrame(of: permission.grant)
    }
    return next
  }

  /// The input has ended: the picture that waits is the last one, and is waited for with the others.
  func sendLastDeferredPicture(_ path: FramePath) {
    guard path.isPictureDeferred, let permission = state.withLock({ $0.permission }) else { return }
    _ = path.sendDeferredPicture(permission, isLast: true, now: time.now)
  }

  /// The input has ended: what is kept of H.264 goes as far as the head unit takes it.
  func sendRestOfHeld() -> GstFlowReturn {
    while frames.withValue({ !$0.held.buffers.isEmpty }) {
      // The connection's thread may have filled the queue just now.
      let drained = waitUntilDrained(of: "frames")
      guard drained == GST_FLOW_OK else { return drained }
      frames.withValue { path in
        let former = path.held.buffers.count
        if let permission = state.withLock({ $0.permission }), path.sendHeld(permission, isLast: true) {
          noteFirstFrame(of: permission.grant)
        }
        if path.held.buffers.count == former, !state.withLock({ $0.isInterrupted }) { path.dropHeld(.notStreaming) }
      }
    }
    return GST_FLOW_OK
  }

  /// With the frame path: takes what is to be told, to be posted when nothing is held any more.
  func noteBitrate(_ path: FramePath) {
    guard let report = path.adaptation.takeReport(now: time.now) else { return }
    bitrateReport.withLock { $0.next = report }
    hasBitrateReport.raise()
  }

  /// Tells the application of a noticeable change. Without locks.
  func announceBitrate() {
    guard hasBitrateReport.peek, hasBitrateReport.take(),
      let (report, former) = bitrateReport.withLock({ state -> (LinkReport, LinkReport?)? in
        guard let next = state.next.take() else { return nil }
        defer { state.last = next }
        return (next, state.last)
      })
    else { return }
    if !hasEnded { unlocked { sink.announce(report, after: former) } }
  }
}
