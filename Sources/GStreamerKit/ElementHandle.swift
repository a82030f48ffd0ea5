import Synchronization

/// A weak handle for callbacks on other threads, of an element that the application may stop or free at any time. A run
/// gets one for its callbacks and ends it when it stops, so that a late callback finds nothing:
///
///     let handle = ElementHandle(self)
///     server.onEvent = { event in handle.withReference { $0.receive(event) } }
///     …
///     handle.end()   // in stop
///
/// The reference is taken under the same lock under which the element was found alive, and released without a lock: it
/// may be the last one.
package final class ElementHandle<Element>: Sendable {
  // Called only with a reference to the GstElement, which keeps the Swift object until it is finalized.
  private let element: @Sendable () -> Element
  // GObject clears it before it finalizes the element, under a lock of its own. Its address must not change.
  nonisolated(unsafe) private let reference: UnsafeMutablePointer<GWeakRef>
  private let isEnded = Mutex(false)

  /// A handle on the Swift object that `element` returns; that must not keep it.
  package init(_ gstElement: UnsafeMutablePointer<GstElement>, _ element: @escaping @Sendable () -> Element) {
    self.element = element
    reference = .allocate(capacity: 1)
    g_weak_ref_init(reference, gstElement)
  }

  package convenience init(_ element: Element) where Element: GStreamerElement {
    self.init(element.gstElement) { [unowned element] in element }
  }

  deinit {
    g_weak_ref_clear(reference)
    reference.deallocate()
  }

  /// From now on the element is not found any more. Bodies that run already run on.
  package func end() {
    isEnded.withLock { $0 = true }
  }

  /// Calls `body` with the element, which is kept alive meanwhile; without any lock.
  ///
  /// - Returns: what `body` returns; nil if the handle has ended or the element is being freed.
  @discardableResult
  package func withReference<Result>(_ body: (Element) throws -> Result) rethrows -> Result? {
    let pointer = isEnded.withLock { isEnded in
      // As an address, because a raw pointer can't leave the lock.
      isEnded ? nil : g_weak_ref_get(reference).map { UInt(bitPattern: $0) }
    }
    guard let object = pointer.flatMap({ UnsafeMutableRawPointer(bitPattern: $0) }) else { return nil }
    defer { gst_object_unref(object) }
    return try body(element())
  }
}

/// A weak reference to the outermost bin around an element: its pipeline.
package final class PipelineReference: Sendable {
  // GObject clears it before it finalizes the pipeline, under a lock of its own. Its address must not change.
  nonisolated(unsafe) private let reference: UnsafeMutablePointer<GWeakRef>

  /// Nil if the element is in no bin.
  package init?<Element: GStreamerElement>(of element: Element) {
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
  package var state: GstState {
    guard let object = g_weak_ref_get(reference) else { return GST_STATE_NULL }
    defer { gst_object_unref(object) }
    var (state, pending) = (GST_STATE_NULL, GST_STATE_VOID_PENDING)
    gst_element_get_state(object.assumingMemoryBound(to: GstElement.self), &state, &pending, 0)
    return pending == GST_STATE_VOID_PENDING ? state : pending
  }
}
