import GStreamerKit
import Synchronization

/// A notice to be made, which takes as long as several frames: not on the threads of the stream.
///
/// One after the other for all sinks of the process. Many streams begin at the same time where there are many, and should
/// have the processors for themselves; and the memory that x264 and Pango need meanwhile is the same one for all.
final class NoticeOrder: Sendable {
  private struct Queue {
    var orders: [NoticeOrder] = []
    /// A thread carries them out, and does not end before it has seen the queue empty.
    var isServed = false
  }

  private static let queue = Mutex(Queue())

  private let sink: VideoSink
  private let request: NoticeRequest

  private init(sink: VideoSink, request: NoticeRequest) {
    self.sink = sink
    self.request = request
  }

  /// Has `sink` make what is requested. Keeps the element until then.
  static func give(_ request: NoticeRequest, to sink: VideoSink) {
    gst_object_ref(sink.gstElement)
    let order = NoticeOrder(sink: sink, request: request)
    let isServed = queue.withLock { queue in
      queue.orders.append(order)
      defer { queue.isServed = true }
      return queue.isServed
    }
    guard !isServed else { return }
    // GStreamer's own thread, which gst_deinit waits for.
    gst_element_call_async(sink.gstElement, { _, _ in NoticeOrder.carryOutAll() }, nil, nil)
  }

  private static func carryOutAll() {
    while let order = takeNext() {
      order.sink.makeNotice(order.request)
      gst_object_unref(order.sink.gstElement)
    }
  }

  private static func takeNext() -> NoticeOrder? {
    queue.withLock { queue in
      guard !queue.orders.isEmpty else {
        queue.isServed = false
        return nil
      }
      return queue.orders.removeFirst()
    }
  }
}
