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
  /// - Parameters:
  ///   - host: the element that is asked.
  ///   - isUnwanted: whether nobody may wait now, whatever else holds.
  func videoForCaps(of host: any AppHost, unless isUnwanted: () -> Bool) -> VideoCapability? {
    valueForCaps(of: host, unless: isUnwanted) { $0.video }
  }

  /// What sound the head unit plays, as ``videoForCaps(of:unless:)``.
  func soundForCaps(of host: any AppHost, unless isUnwanted: () -> Bool) -> PCMFormat? {
    valueForCaps(of: host, unless: isUnwanted) { $0.pcmFormat }
  }

  private func valueForCaps<Value>(
    of host: any AppHost, unless isUnwanted: () -> Bool, _ value: (Status) -> Value?
  ) -> Value? {
    let id = ObjectIdentifier(host)
    let (present, interruptions) = state.withLock { state in
      (value(state.status), state.change(id) { $0.interruptions })
    }
    guard present == nil, StreamingThread.isCurrent, !connection.isOnObserverThread else { return present }
    let deadline = began + .milliseconds(Int64(settings.connectTimeout))
    let result = state.wait(until: deadline) { state -> Value?? in
      if let value = value(state.status) { return .some(value) }
      let isOver = state.isOver || state.isFailureKnown || !state.isConnectionRunning
      let isGoingDown = state.change(id) { $0.isGoingDown } ?? true
      return isOver || isGoingDown || state.change(id) { $0.interruptions } != interruptions || isUnwanted()
        ? .some(nil) : nil
    }
    return result ?? nil
  }

  /// The element's pipeline flushes, or changes its state: its streaming threads must return.
  func interrupt(_ host: any AppHost) {
    state.withLock { state in _ = state.change(ObjectIdentifier(host)) { $0.interruptions &+= 1 } }
    state.broadcast()
  }

  /// Between PAUSED→READY and READY→PAUSED no streaming thread waits: its element is about to stop.
  func setGoingDown(_ isGoingDown: Bool, _ host: any AppHost) {
    state.withLock { state in _ = state.change(ObjectIdentifier(host)) { $0.isGoingDown = isGoingDown } }
    state.broadcast()
  }
}
