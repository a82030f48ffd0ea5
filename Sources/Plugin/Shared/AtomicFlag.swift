import Synchronization

/// A flag that any thread can raise for another one.
final class AtomicFlag: Sendable {
  private let isRaised = Atomic(false)

  func raise() {
    isRaised.store(true, ordering: .releasing)
  }

  /// Whether it was raised since it was taken last.
  func take() -> Bool { isRaised.exchange(false, ordering: .acquiring) }

  /// Whether it is raised; for values that are compared often.
  var peek: Bool { isRaised.load(ordering: .relaxed) }

  func set(_ value: Bool) {
    isRaised.store(value, ordering: .releasing)
  }
}
