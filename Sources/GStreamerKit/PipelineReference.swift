/// A weak reference to the outermost bin around an element: its pipeline.
public final class PipelineReference: Sendable {
  // GObject clears it before it finalizes the pipeline, under a lock of its own. Its address must not change.
  nonisolated(unsafe) private let reference: UnsafeMutablePointer<GWeakRef>

  /// Nil if the element is in no bin.
  public init?<Element: GStreamerElement>(of element: Element) {
    let pipeline = Element.outermostBin(of: element.gstElement)
    guard pipeline.pointer != UnsafeMutableRawPointer(element.gstElement).assumingMemoryBound(to: GstObject.self) else {
      return nil
    }
    reference = .allocate(capacity: 1)
    g_weak_ref_init(reference, pipeline.pointer)
  }

  deinit {
    g_weak_ref_clear(reference)
    reference.deallocate()
  }

  /// The pipeline's state, or the one to which it changes; NULL if it is gone.
  public var state: GstState {
    guard let object = g_weak_ref_get(reference) else { return GST_STATE_NULL }
    defer { gst_object_unref(object) }
    var (state, pending) = (GST_STATE_NULL, GST_STATE_VOID_PENDING)
    gst_element_get_state(object.assumingMemoryBound(to: GstElement.self), &state, &pending, 0)
    return pending == GST_STATE_VOID_PENDING ? state : pending
  }
}
