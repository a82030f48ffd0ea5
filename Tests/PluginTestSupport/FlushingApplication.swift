import GStreamerKit
import Glibc
import SDLLink

/// An application, or an element upstream, that answers messages and events of the sink with a flushing seek, at once and on the
/// thread on which they come. Each kind only the first time, since a seek brings more of them; and only while the pipeline plays:
/// GStreamer's own change of state and a flush on another thread wait for each other, with any sink.
///
/// `@unchecked Sendable`: what changes is in a monitor, and GStreamer's objects have locks of their own.
final class FlushingApplication: @unchecked Sendable {
  private struct State {
    /// What has been answered.
    var answered: Set<String> = []
    /// Seeks that have not returned.
    var pending: Set<String> = []
  }

  private let pipeline: UnsafeMutablePointer<GstElement>
  private let source: UnsafeMutablePointer<GstElement>
  private let sink: UnsafeMutablePointer<GstElement>
  private let state = Monitor(State())

  /// What GStreamer posts itself, while it holds locks of its own that a flush needs, with any sink. Of the messages and events about
  /// quality nobody can tell whose they are.
  private static let ownTypes = [
    GST_MESSAGE_STATE_CHANGED, GST_MESSAGE_ASYNC_START, GST_MESSAGE_ASYNC_DONE, GST_MESSAGE_EOS,
    GST_MESSAGE_STREAM_STATUS,
    GST_MESSAGE_LATENCY, GST_MESSAGE_STREAM_START, GST_MESSAGE_NEW_CLOCK, GST_MESSAGE_NEED_CONTEXT,
    GST_MESSAGE_HAVE_CONTEXT, GST_MESSAGE_RESET_TIME, GST_MESSAGE_QOS,
  ]

  /// - Parameters:
  ///   - pipeline: has to stay while this object is there, as have its elements.
  ///   - source: is sought.
  ///   - sink: whose messages, and events to what is linked to it, are answered.
  init(_ pipeline: Element, source: Element, sink: Element) {
    self.pipeline = pipeline.pointer
    self.source = source.pointer
    self.sink = sink.pointer
    let bus = gst_element_get_bus(pipeline.pointer)
    gst_bus_set_sync_handler(
      bus,
      { _, message, data in
        if let message { FlushingApplication.from(data)?.handle(message) }
        return GST_BUS_PASS
      }, Unmanaged.passRetained(self).toOpaque(),
      { if let data = $0 { Unmanaged<FlushingApplication>.fromOpaque(data).release() } })
    gst_object_unref(bus)
    // Of the element in front of the sink, which may keep an event to itself.
    guard let sinkPad = gst_element_get_static_pad(sink.pointer, "sink") else { return }
    defer { gst_object_unref(sinkPad) }
    guard let pad = gst_pad_get_peer(sinkPad) else { return }
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
      { _, info, data in
        if let event = gst_pad_probe_info_get_event(info) { FlushingApplication.from(data)?.handle(event) }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(self).toOpaque(),
      { if let data = $0 { Unmanaged<FlushingApplication>.fromOpaque(data).release() } })
    gst_object_unref(pad)
  }

  /// What has been answered by a seek that has returned.
  var answered: Set<String> { state.withLock { $0.answered.subtracting($0.pending) } }
  /// Seeks that hang.
  var pending: Set<String> { state.withLock { $0.pending } }

  /// Has `body` bring about a message or event until it has been answered: some come while the pipeline does not play.
  func provoke(_ kind: String, _ body: () throws -> Void) throws {
    for _ in 0..<Self.maximumAttempts {
      try body()
      let isAnswered = state.wait(until: MonotonicClock.now + Self.attemptTime) { state in
        state.answered.contains(kind) && state.pending.isEmpty ? true : nil
      }
      if isAnswered != nil { return }
    }
    throw TestFailure("no seek after \(kind), but after \(answered); \(pending) hang")
  }

  private static let maximumAttempts = 30
  private static let attemptTime = Duration.seconds(1)

  private static func from(_ data: gpointer?) -> FlushingApplication? {
    data.map { Unmanaged<FlushingApplication>.fromOpaque($0).takeUnretainedValue() }
  }

  private func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    let type = message.pointee.type
    guard message.pointee.src.map({ UnsafeMutableRawPointer($0) == UnsafeMutableRawPointer(sink) }) ?? false,
      !Self.ownTypes.contains(type)
    else { return }
    var name = String(cString: gst_message_type_get_name(type))
    if type == GST_MESSAGE_ELEMENT, let structure = gst_message_get_structure(message) {
      name = String(cString: gst_structure_get_name(structure))
    }
    flush(at: name)
  }

  private func handle(_ event: UnsafeMutablePointer<GstEvent>) {
    // The seeks themselves pass here.
    guard ![GST_EVENT_SEEK, GST_EVENT_LATENCY, GST_EVENT_QOS].contains(event.pointee.type) else { return }
    let isKeyFrameRequest = gst_video_event_is_force_key_unit(event) != 0
    flush(at: isKeyFrameRequest ? "key frame request" : String(cString: gst_event_type_get_name(event.pointee.type)))
  }

  /// Without taking locks.
  private var isPlaying: Bool {
    let state = pipeline.pointee
    return state.current_state == GST_STATE_PLAYING && state.pending_state == GST_STATE_VOID_PENDING
  }

  private func flush(at kind: String) {
    let isFirst = state.withLock { state in
      guard isPlaying, state.pending.isEmpty, state.answered.insert(kind).inserted else { return false }
      state.pending.insert(kind)
      return true
    }
    guard isFirst else { return }
    gst_element_seek_simple(source, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0)
    state.withLock { _ = $0.pending.remove(kind) }
    state.broadcast()
  }
}
