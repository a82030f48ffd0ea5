import GStreamerKit
import SDLApp
import SDLLink

/// Waiting for what the head unit takes, so that upstream chooses its first caps with that in mind.
extension AppRun {
  /// What video the head unit takes; nil if it has not said so yet.
  ///
  /// On a streaming thread, waits for that as long as the first connection may take; ``interrupt()``, failure and the end of the
  /// app end the wait. Other threads get the present state at once: an application's main thread may be the one that this waits for.
  ///
  /// - Parameter isUnwanted: whether nobody may wait now, whatever else holds.
  func videoForCaps(unless isUnwanted: () -> Bool) -> VideoCapability? {
    valueForCaps(unless: isUnwanted) { $0.video }
  }

  /// What sound the head unit plays, as ``videoForCaps(unless:)``.
  func soundForCaps(unless isUnwanted: () -> Bool) -> PCMFormat? {
    valueForCaps(unless: isUnwanted) { $0.pcmFormat }
  }

  private func valueForCaps<Value>(unless isUnwanted: () -> Bool, _ value: (Status) -> Value?) -> Value? {
    let (present, interruptions) = state.withLock { (value($0.status), $0.interruptions) }
    guard present == nil, StreamingThread.isCurrent, !connection.isOnObserverThread else { return present }
    let deadline = began + .milliseconds(Int64(settings.connectTimeout))
    let result = state.wait(until: deadline) { state -> Value?? in
      if let value = value(state.status) { return .some(value) }
      let isOver = state.isOver || state.isFailureKnown || state.isGoingDown || !state.isConnectionRunning
      return isOver || state.interruptions != interruptions || isUnwanted() ? .some(nil) : nil
    }
    return result ?? nil
  }

  /// The pipeline flushes, or changes its state: streaming threads must return.
  func interrupt() {
    state.withLock { $0.interruptions &+= 1 }
    state.broadcast()
  }

  /// Between PAUSED→READY and READY→PAUSED no streaming thread waits: its element is about to stop.
  func setGoingDown(_ isGoingDown: Bool) {
    state.withLock { $0.isGoingDown = isGoingDown }
    state.broadcast()
  }
}
