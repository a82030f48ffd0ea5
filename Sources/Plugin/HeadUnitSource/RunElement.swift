import GStreamerKit
import SDLLink

/// The element as one of its runs sees it: there until the run ends.
///
/// An application may stop the element, restart it, or drop the last reference to it from inside any callback. Each use
/// takes a reference of its own, inside the lock under which ``invalidate()`` takes the element away. So no use of an ended
/// run reaches the element, nor one that has been freed.
final class RunElement: Sendable {
  /// `@unchecked Sendable`: the pointer is only copied here, and GStreamer's objects have locks of their own.
  private struct Target: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GstElement>
  }

  private let target: Monitor<Target?>

  /// - Parameter element: must outlive this object, or the call of ``invalidate()``.
  init(_ element: UnsafeMutablePointer<GstElement>) {
    target = Monitor(Target(pointer: element))
  }

  /// The run is over: the element is not used any more, except by calls that have begun.
  func invalidate() {
    target.withLock { $0 = nil }
  }

  /// Runs `body` with a reference to the element and no lock held; does nothing after ``invalidate()``.
  ///
  /// - Returns: what `body` returns, or nil when the run is over.
  @discardableResult
  func use<Result>(_ body: (UnsafeMutablePointer<GstElement>) -> Result) -> Result? {
    let target = target.withLock { target in
      if let target { gst_object_ref(target.pointer) }
      return target
    }
    guard let target else { return nil }
    defer { gst_object_unref(target.pointer) }
    return body(target.pointer)
  }
}
