import SDLLink

/// A value that one thread at a time works with. The streaming thread has it for each frame; when that thread brings none,
/// the connection thread takes it for the last picture or a notice.
///
/// Unlike a lock it may be kept over a blocking call: the connection thread never waits for it, and has it for no longer
/// than it takes to encode one picture.
///
/// `@unchecked Sendable`: the value is reached only through the methods, by the thread that has set `isTaken` under the
/// monitor's lock, which also orders what one thread has written before what the next one reads.
final class ExclusiveAccess<Value>: @unchecked Sendable {
  private let isTaken = Monitor(false)
  private let value: Value

  init(_ value: Value) {
    self.value = value
  }

  /// Waits for the value and has it for `body`; for the streaming thread.
  func withValue<Result>(_ body: (Value) -> Result) -> Result {
    take()
    defer { give() }
    return body(value)
  }

  /// Has the value for `body` unless another thread has it, and then returns nil; for the connection thread.
  func withValueIfFree<Result>(_ body: (Value) -> Result) -> Result? {
    let isFree = isTaken.withLock { isTaken in
      defer { isTaken = true }
      return !isTaken
    }
    guard isFree else { return nil }
    defer { give() }
    return body(value)
  }

  /// Within ``withValue(_:)``: lets others have the value while `body` waits for something.
  func whileGivenBack<Result>(_ body: () -> Result) -> Result {
    give()
    defer { take() }
    return body()
  }

  private func take() {
    isTaken.wait(until: nil) { isTaken -> Void? in
      if isTaken { return nil }
      isTaken = true
      return ()
    }
  }

  private func give() {
    isTaken.withLock { $0 = false }
    isTaken.broadcast()
  }
}
