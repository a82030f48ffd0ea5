import Glibc

/// Events or messages of one kind that wait to be delivered. Several threads may add to it; one at a time delivers, also
/// what the others add meanwhile: so the order is kept, and no lock is held while a handler runs.
struct DeliveryQueue<Item: Sendable>: Sendable {
  /// How long the end of a stream waits for an event that another thread is delivering; its handler may itself be
  /// waiting for that end.
  static var closeTimeout: Duration { .milliseconds(200) }

  private var waiting: [Item] = []
  /// The thread that delivers; nil if none does.
  private var deliverer: pthread_t?
  /// Nothing is added any more.
  private(set) var isSealed = false
  /// Delivery has ended.
  private(set) var isClosed = false

  var count: Int { waiting.count }

  /// Adds items that the caller delivers later.
  mutating func append(_ items: [Item]) {
    if !isSealed { waiting += items }
  }

  mutating func seal(with items: [Item] = []) {
    append(items)
    isSealed = true
  }

  /// Whether items wait and no thread delivers: then the caller has to, with ``next()``.
  mutating func claim() -> Bool {
    guard deliverer == nil, !waiting.isEmpty else { return false }
    deliverer = pthread_self()
    return true
  }

  /// Adds items; true when the caller has to deliver, with ``next()``.
  mutating func add(_ items: [Item]) -> Bool {
    append(items)
    return claim()
  }

  /// Whether no other thread delivers; the caller then delivers the rest. It may be in a handler, on the thread that
  /// delivers.
  mutating func takeOver() -> Bool {
    if let deliverer, pthread_equal(deliverer, pthread_self()) == 0 { return false }
    deliverer = pthread_self()
    return true
  }

  mutating func replaceAll(with items: [Item]) {
    waiting = items
  }

  /// The next item to deliver; nil when there is none.
  mutating func next() -> Item? {
    guard waiting.isEmpty else { return waiting.removeFirst() }
    deliverer = nil
    return nil
  }

  /// Drops the rest: the next stream must not get it.
  mutating func close() {
    isSealed = true
    isClosed = true
    waiting = []
  }
}
