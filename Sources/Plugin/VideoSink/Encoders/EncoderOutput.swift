import GStreamerKit
import SDLLink

/// The output of an encoder element: access units, from any thread, and errors.
final class EncoderOutput: Sendable {
  /// An element with more access units than this is broken, since there are fewer pictures.
  private static let maximumCount = 64

  // The lists own their buffers.
  private struct State: @unchecked Sendable {
    var buffers: [UnsafeMutablePointer<GstBuffer>] = []
    var failure: String?
    /// The end of the stream has come.
    var hasEnded = false
    /// Posts messages of the encoder for the application, such as NEED_CONTEXT for a display.
    var listener: UnsafeMutablePointer<GstElement>?
  }

  private let state = Monitor(State())

  init(for listener: UnsafeMutablePointer<GstElement>) {
    let reference = Listener(pointer: listener)
    state.withLock { $0.listener = reference.pointer }
  }

  deinit {
    state.withLock { state in state.buffers.forEach { gst_buffer_unref($0) } }
  }

  /// Stops passing messages to the sink: an element that is stuck may outlive it.
  func forgetListener() {
    state.withLock { $0.listener = nil }
  }

  /// The element's error.
  var failure: String? { state.withLock { $0.failure } }

  /// The oldest access unit; nil if there is none.
  func takeFirst() -> Buffer? {
    Buffer(owning: state.withLock { $0.buffers.isEmpty ? nil : Reference($0.buffers.removeFirst()) }?.pointer)
  }

  var count: Int { state.withLock { $0.buffers.count } }

  /// Waits until there are so many access units, or the element has failed or ended.
  func wait(for count: Int, until deadline: Duration) {
    state.wait(atLatest: deadline) { $0.buffers.count >= count || $0.failure != nil || $0.hasEnded }
  }

  private struct Listener: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GstElement>?

    /// Ends the reference.
    func post(_ message: UnsafeMutablePointer<GstMessage>) {
      guard let pointer else { return }
      gst_mini_object_ref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
      gst_element_post_message(pointer, message)
      gst_object_unref(pointer)
    }
  }

  private struct Reference: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GstBuffer>

    init(_ pointer: UnsafeMutablePointer<GstBuffer>) {
      self.pointer = pointer
    }
  }

  fileprivate func receive(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    let reference = Reference(buffer)
    let isTaken = state.change { state in
      guard state.buffers.count < Self.maximumCount else { return false }
      state.buffers.append(reference.pointer)
      return true
    }
    if !isTaken { gst_buffer_unref(buffer) }
    return isTaken ? GST_FLOW_OK : GST_FLOW_ERROR
  }

  fileprivate func end() {
    state.change { $0.hasEnded = true }
  }

  private func fail(_ reason: String) {
    state.change { $0.failure = $0.failure ?? reason }
  }

  private func receive(_ message: UnsafeMutablePointer<GstMessage>) {
    switch message.pointee.type {
    case GST_MESSAGE_ERROR:
      var error: UnsafeMutablePointer<GError>?
      gst_message_parse_error(message, &error, nil)
      fail(error.map { String(cString: $0.pointee.message) } ?? "it gives no reason")
      g_error_free(error)
    case GST_MESSAGE_NEED_CONTEXT, GST_MESSAGE_HAVE_CONTEXT:
      let listener = state.withLock { state in
        if let listener = state.listener { gst_object_ref(listener) }
        return Listener(pointer: state.listener)
      }
      listener.post(message)
    default: break
    }
  }
}

/// The callbacks; each has a reference.
extension EncoderOutput {
  /// A pad that takes the element's buffers.
  ///
  /// - Parameters:
  ///   - template: all usable caps.
  ///   - preferred: the caps that the element is asked for.
  func makePad(_ template: borrowing Caps, preferred: borrowing Caps) -> ObjectReference<GstPad>? {
    let padTemplate = gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, template.pointer)
    gst_object_ref_sink(padTemplate)
    defer { gst_object_unref(padTemplate) }
    guard let pad = ObjectReference(owning: gst_pad_new_from_template(padTemplate, "sink")) else { return nil }
    gst_object_ref_sink(pad.pointer)
    let kept = preferred.shared().take()
    gst_pad_set_query_function_full(
      pad.pointer,
      { pad, parent, query in
        guard let pad, let query else { return 0 }
        guard query.pointee.type == GST_QUERY_CAPS, let preferred = pad.pointee.querydata else {
          return gst_pad_query_default(pad, parent, query)
        }
        var filter: UnsafeMutablePointer<GstCaps>?
        gst_query_parse_caps(query, &filter)
        let caps = Caps(retaining: preferred.assumingMemoryBound(to: GstCaps.self))
        if let filter {
          let answer = Caps(retaining: filter).intersected(with: caps)
          gst_query_set_caps_result(query, answer.pointer)
        } else {
          gst_query_set_caps_result(query, caps.pointer)
        }
        return 1
      },
      kept, { gst_mini_object_unref($0.map { $0.assumingMemoryBound(to: GstMiniObject.self) }) })
    // The element's caps may lack the profile, or have another one.
    cgst_pad_set_accept_template(pad.pointer)
    gst_pad_set_chain_function_full(
      pad.pointer,
      { pad, _, buffer in
        guard let buffer, let output = EncoderOutput.of(pad?.pointee.chaindata) else { return GST_FLOW_ERROR }
        return output.receive(buffer)
      }, reference, Self.release)
    gst_pad_set_event_function_full(
      pad.pointer,
      { pad, _, event in
        guard let event else { return 0 }
        if event.pointee.type == GST_EVENT_EOS { EncoderOutput.of(pad?.pointee.eventdata)?.end() }
        gst_event_unref(event)
        return 1
      }, reference, Self.release)
    return pad
  }

  /// A bus that passes on only messages for the application.
  func makeBus() -> ObjectReference<GstBus>? {
    guard let bus = ObjectReference(owning: gst_bus_new()) else { return nil }
    gst_bus_set_sync_handler(
      bus.pointer,
      { _, message, data in
        guard let message else { return GST_BUS_DROP }
        EncoderOutput.of(data)?.receive(message)
        gst_message_unref(message)
        return GST_BUS_DROP
      }, reference, Self.release)
    return bus
  }

  private var reference: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

  private static let release: GDestroyNotify = { data in
    if let data { Unmanaged<EncoderOutput>.fromOpaque(data).release() }
  }

  private static func of(_ data: UnsafeMutableRawPointer?) -> EncoderOutput? {
    data.map { Unmanaged<EncoderOutput>.fromOpaque($0).takeUnretainedValue() }
  }
}
