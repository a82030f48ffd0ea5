import SDLLink
import Synchronization

/// A payload that can be filled again.
protocol ReusablePayload: MediaPayload {
  /// Lets everything go that it refers to.
  func clear()
}

/// Payloads that are used again and again: nothing is allocated for each once the queue has been full.
final class PayloadPool<Payload: ReusablePayload>: Sendable {
  private let free = Mutex<[Payload]>([])

  /// One that nobody uses, or a new one.
  func take(orMake make: () -> Payload) -> Payload { free.withLock { $0.popLast() } ?? make() }

  func giveBack(_ payload: Payload) {
    payload.clear()
    free.withLock { $0.append(payload) }
  }
}
