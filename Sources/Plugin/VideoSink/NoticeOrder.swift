import GStreamerKit

/// A notice to be made, which takes as long as several frames: on a thread of its own.
///
/// That is one thread for all sinks of the process. Many streams begin at the same time where there are many, and should
/// have the processors for themselves; and the memory that x264 and Pango need meanwhile is the same one for all.
final class NoticeOrder: Sendable {
  private let sink: VideoSink
  private let request: NoticeRequest

  // A GThreadPool may be used by any thread at any time.
  nonisolated(unsafe) private static let pool = g_thread_pool_new(
    { order, _ in NoticeOrder.carryOut(order) }, nil, 1, 0, nil)

  private init(sink: VideoSink, request: NoticeRequest) {
    self.sink = sink
    self.request = request
  }

  /// Has `sink` make what is requested. Keeps the element until then.
  static func give(_ request: NoticeRequest, to sink: VideoSink) {
    gst_object_ref(sink.gstElement)
    let order = Unmanaged.passRetained(NoticeOrder(sink: sink, request: request)).toOpaque()
    // An error says that there is no thread now; what is queued is carried out by the next one that there is.
    g_thread_pool_push(pool, order, nil)
  }

  private static func carryOut(_ pointer: gpointer?) {
    guard let pointer else { return }
    let order = Unmanaged<NoticeOrder>.fromOpaque(pointer).takeRetainedValue()
    order.sink.makeNotice(order.request)
    gst_object_unref(order.sink.gstElement)
  }
}
