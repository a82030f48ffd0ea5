import GStreamerKit
import SDLLink

/// An application that stops its pipeline and gives up the last reference to it, at the first element message of a
/// name, on the thread of that message.
///
/// `@unchecked Sendable`: the pointer is used before the message and by its handler, and the monitor separates the two.
final class OwningApplication: @unchecked Sendable {
  private let pipeline: UnsafeMutablePointer<GstElement>
  private let message: String
  private let isDone = Monitor(false)

  /// - Parameters:
  ///   - description: of a pipeline with a source of the name "src".
  ///   - message: the name of the message.
  ///   - gone: called when the source is freed.
  init(_ description: String, _ message: String, gone: @escaping @Sendable () -> Void) throws {
    guard GStreamer.isReady, let parsed = gst_parse_launch(description, nil) else { throw TestFailure("no pipeline") }
    gst_object_ref_sink(parsed)
    pipeline = parsed
    self.message = message
    let bin: UnsafeMutablePointer<GstBin> = parsed.cast()
    guard let source = gst_bin_get_by_name(bin, "src") else { throw TestFailure("no source") }
    g_object_weak_ref(
      source.cast(),
      { data, _ in if let data { Unmanaged<Notice>.fromOpaque(data).takeRetainedValue().run() } },
      Unmanaged.passRetained(Notice(run: gone)).toOpaque())
    gst_object_unref(source)
    let bus = gst_element_get_bus(pipeline)
    gst_bus_set_sync_handler(
      bus,
      { _, message, data in
        guard let message, let data else { return GST_BUS_PASS }
        Unmanaged<OwningApplication>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.handle(message) }
        // Each message that is kept would keep the element that posted it.
        gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
        return GST_BUS_DROP
      }, Unmanaged.passRetained(self).toOpaque(),
      { if let data = $0 { Unmanaged<OwningApplication>.fromOpaque(data).release() } })
    gst_object_unref(bus)
  }

  func play() throws {
    gst_object_ref(pipeline)
    defer { gst_object_unref(pipeline) }
    guard gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE else {
      throw TestFailure("the pipeline did not start")
    }
  }

  private func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    guard message.pointee.type == GST_MESSAGE_ELEMENT, let structure = gst_message_get_structure(message),
      gst_structure_has_name(structure, self.message) != 0,
      isDone.withLock({ isDone in
        defer { isDone = true }
        return !isDone
      })
    else { return }
    gst_element_set_state(pipeline, GST_STATE_NULL)
    gst_object_unref(pipeline)
  }
}

private final class Notice: Sendable {
  let run: @Sendable () -> Void

  init(run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}
