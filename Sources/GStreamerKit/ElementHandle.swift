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
public final class ElementHandle<Element>: Sendable {
  // Called only with a reference to the GstElement, which keeps the Swift object until it is finalized.
  private let element: @Sendable () -> Element
  // GObject clears it before it finalizes the element, under a lock of its own. Its address must not change.
  nonisolated(unsafe) private let reference: UnsafeMutablePointer<GWeakRef>
  private let isEnded = Mutex(false)

  /// A handle on the Swift object that `element` returns; that must not keep it.
  public init(_ gstElement: UnsafeMutablePointer<GstElement>, _ element: @escaping @Sendable () -> Element) {
    self.element = element
    reference = .allocate(capacity: 1)
    g_weak_ref_init(reference, gstElement)
  }

  public convenience init(_ element: Element) where Element: GStreamerElement {
    self.init(element.gstElement) { [unowned element] in element }
  }

  deinit {
    g_weak_ref_clear(reference)
    reference.deallocate()
  }

  /// From now on the element is not found any more. Bodies that run already run on.
  public func end() {
    isEnded.withLock { $0 = true }
  }

  /// Calls `body` with the element, which is kept alive meanwhile; without any lock.
  ///
  /// - Returns: what `body` returns; nil if the handle has ended or the element is being freed.
  @discardableResult
  public func withReference<Result>(_ body: (Element) throws -> Result) rethrows -> Result? {
    let pointer = isEnded.withLock { isEnded in
      // As an address, because a raw pointer can't leave the lock.
      isEnded ? nil : g_weak_ref_get(reference).map { UInt(bitPattern: $0) }
    }
    guard let object = pointer.flatMap({ UnsafeMutableRawPointer(bitPattern: $0) }) else { return nil }
    defer { gst_object_unref(object) }
    return try body(element())
  }
}
