import Glibc
import SDLLink

/// A value that one thread at a time works with. The streaming thread has it for each frame; when that thread brings none,
/// the connection thread takes it for the last picture or a notice.
///
/// Unlike a lock it may be kept over a blocking call: the connection thread never waits for it, and has it for no longer
/// than it takes to encode one picture. Nothing is posted or pushed with it: the answer may be a flush, which needs it.
///
/// `@unchecked Sendable`: the value is reached only through the methods, by the thread that has set `owner` under the
/// monitor's lock, which also orders what one thread has written before what the next one reads.
final class ExclusiveAccess<Value>: @unchecked Sendable {
  private let owner = Monitor<pthread_t?>(nil)
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
    let isFree = owner.withLock { owner in
      guard owner == nil else { return false }
      owner = pthread_self()
      return true
    }
    guard isFree else { return nil }
    defer { give() }
    return body(value)
  }

  /// Lets other threads have the value while `body` waits or calls other code, if this thread has it.
  func whileGivenBack<Result>(_ body: () -> Result) -> Result {
    guard owner.withLock({ $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }) else { return body() }
    give()
    defer { take() }
    return body()
  }

  private func take() {
    owner.wait(until: nil) { owner -> Void? in
      guard owner == nil else { return nil }
      owner = pthread_self()
      return ()
    }
  }

  private func give() {
    owner.withLock { $0 = nil }
    owner.broadcast()
  }
}
