import SDLLink

/// The turn to make and queue frames. The streaming thread has it for each frame; when that thread brings none, the
/// connection thread takes a turn for the last picture or a notice.
///
/// Unlike a lock it may be kept over a blocking call: the connection thread never waits for it, and has it for no longer
/// than it takes to encode one picture.
final class FrameTurn: Sendable {
  private let isTaken = Monitor(false)

  /// Waits for the turn; for the streaming thread.
  func take() {
    isTaken.wait(until: nil) { isTaken -> Void? in
      if isTaken { return nil }
      isTaken = true
      return ()
    }
  }

  /// Takes the turn unless somebody has it; for the connection thread.
  func takeIfFree() -> Bool {
    isTaken.withLock { isTaken in
      defer { isTaken = true }
      return !isTaken
    }
  }

  /// Ends the turn.
  func give() {
    isTaken.withLock { $0 = false }
    isTaken.broadcast()
  }

  /// Has the turn for `body`.
  func withTurn<Result>(_ body: () -> Result) -> Result {
    take()
    defer { give() }
    return body()
  }

  /// Lets others have the turn while `body` waits for something.
  func pausing<Result>(_ body: () -> Result) -> Result {
    give()
    defer { take() }
    return body()
  }
}
