import GStreamerKit
import Glibc

/// Events of one kind on their way upstream. Several threads may add to it; one at a time delivers, also events that
/// the others add meanwhile: so the order is kept, and no lock is held while a handler upstream runs.
struct DeliveryQueue<Item: Sendable>: Sendable {
  /// How long the end of a stream waits for an event that another thread is delivering; its handler may itself be
  /// waiting for that end.
  static var closeTimeout: Duration { .milliseconds(200) }

  private var waiting: [Item] = []
  /// The thread that delivers; nil when there is nothing to deliver.
  private var deliverer: pthread_t?
  /// Delivery has ended.
  private(set) var isClosed = false

  var count: Int { waiting.count }

  /// Whether no other thread is still delivering.
  var isQuiet: Bool { deliverer.map { pthread_equal($0, pthread_self()) != 0 } ?? true }

  /// Adds items; true when the caller has to deliver, with ``next()``.
  mutating func add(_ items: [Item]) -> Bool {
    guard !isClosed else { return false }
    waiting += items
    guard deliverer == nil, !waiting.isEmpty else { return false }
    deliverer = pthread_self()
    return true
  }

  /// Replaces all waiting items.
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
    isClosed = true
    waiting = []
  }
}

extension VideoSink {
  /// Pushes a navigation event on the pad directly, because the base class's functions are for the application's
  /// events. One that no element handles is posted for the application, unless `isOver` says that the stream has ended
  /// meanwhile. Without locks.
  func pushNavigation(_ event: UnsafeMutablePointer<GstEvent>?, at time: Duration, unless isOver: () -> Bool) {
    guard let event = Event(owning: event) else { return }
    event.pointer.pointee.timestamp = GstClockTime(clamping: time.nanoseconds)
    guard !event.shared().push(on: pad), !isOver() else { return }
    post(gst_navigation_message_new_event(gstElement.cast(), event.pointer))
  }
}
