import CPluginTypes
import GStreamerKit
import SDLApp
import Synchronization

/// The work behind one `sdlrangefilter`: a GstBaseTransform that never touches a buffer, and prunes caps by what the app
/// supports.
///
/// It is no capsfilter, because orientation, ratio and diagonal fit no caps, and because only the head unit knows the
/// diagonal, and the size on its screen, which the ratio is of. So it asks for those downstream (``CapabilityQuery``).
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → `state` → a child's range. None of ours is held
/// while calling GStreamer.
final class RangeFilter: GStreamerElement {
  // Unowned: the instance frees this object in finalize.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlRangeFilter>

  let state = Mutex(RangeFilterState())

  static let log = LogCategory("sdlrangefilter", "SmartDeviceLink range filter")

  init(element: UnsafeMutablePointer<GstSdlRangeFilter>) {
    self.element = element
  }

  var transform: UnsafeMutablePointer<GstBaseTransform> { element.cast() }
  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }

  /// The children, in the order of `VideoOrientation`. They are there until the element is disposed of.
  private var children: [(VideoOrientation, RangeChild)] {
    [(.landscape, element.pointee.landscape), (.portrait, element.pointee.portrait)].compactMap { orientation, child in
      child.map { (orientation, RangeChild.of($0).takeUnretainedValue()) }
    }
  }

  /// Takes the children's values, and asks upstream to negotiate by them. Buffers of caps that were chosen before pass
  /// until the new ones come.
  func rangesChanged() {
    var ranges = VideoRanges()
    for (orientation, child) in children { ranges[orientation] = child.settings.current }
    let hasChanged = state.withLock { state in
      defer { state.ranges = ranges }
      return state.ranges != ranges
    }
    guard hasChanged else { return }
    gst_base_transform_reconfigure_sink(transform)
    tellChange()
  }

  func start() {
    for (_, child) in children {
      for refusal in child.settings.takeRefusals() { refusal.post(as: GST_MESSAGE_WARNING, from: gstElement) }
    }
    state.withLock { $0.restart() }
  }

  func stop() {
    state.withLock { $0.restart() }
  }
}
