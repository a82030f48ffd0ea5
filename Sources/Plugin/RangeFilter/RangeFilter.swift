import CPluginTypes
import GStreamerKit
import SDLApp
import Synchronization

/// The Swift object behind one `sdlrangefilter`: a GstBaseTransform in passthrough mode that restricts caps to the sizes
/// that the app supports.
///
/// A capsfilter can't do this: orientation and ratio can't be expressed in caps, and only the head unit knows its diagonal
/// and the size on its screen, which the ratio is of. So the filter asks for those downstream (``CapabilityQuery``).
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → the run's → a child's settings. None of ours is
/// held while calling GStreamer.
final class RangeFilter: GStreamerElement {
  // Unowned: the instance frees this object in finalize.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlRangeFilter>
  private let landscape: RangeChild
  private let portrait: RangeChild
  private let currentRun = Mutex<RangeFilterRun?>(nil)

  static let log = LogCategory("sdlrangefilter", "SmartDeviceLink range filter")

  init(element: UnsafeMutablePointer<GstSdlRangeFilter>, landscape: RangeChild, portrait: RangeChild) {
    self.element = element
    self.landscape = landscape
    self.portrait = portrait
  }

  var transform: UnsafeMutablePointer<GstBaseTransform> { element.cast() }
  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }
  var sourcePad: UnsafeMutablePointer<GstPad> { cgst_base_transform_src_pad(element) }

  /// What the app supports, as the children's properties are now.
  var ranges: VideoRanges {
    VideoRanges(landscape: landscape.settings.current, portrait: portrait.settings.current)
  }

  /// Nil in NULL and READY.
  var run: RangeFilterRun? { currentRun.withLock { $0 } }

  /// READY to PAUSED.
  func start() {
    for child in [landscape, portrait] {
      for refusal in child.settings.takeRefusals() { warn(refusal) }
    }
    currentRun.withLock { $0 = RangeFilterRun(ranges: ranges) }
  }

  /// PAUSED to READY.
  func stop() {
    currentRun.withLock { $0 = nil }
  }

  /// A child's property was set: upstream is asked to negotiate by the new ranges, and the sink to choose again. Buffers
  /// of caps that were chosen before pass until the new ones come.
  func rangesChanged() {
    guard let run, run.updateRanges({ self.ranges }) else { return }
    gst_base_transform_reconfigure_sink(transform)
    notifyDownstream(run)
  }

  /// Sends the event of ``RangesQuery`` from another thread, because an event may have to wait where a pad is blocked, and
  /// the thread that changes a property may be the one to unblock it.
  private func notifyDownstream(_ run: RangeFilterRun) {
    guard run.beginNotification() else { return }
    gst_element_call_async(
      gstElement,
      { element, data in
        guard let element, let data else { return }
        let run = Unmanaged<RangeFilterRun>.fromOpaque(data).takeUnretainedValue()
        RangeFilter.of(element)._withUnsafeGuaranteedRef { $0.sendRangesChanged(run) }
      },
      Unmanaged.passRetained(run).toOpaque(),
      { data in
        if let data { Unmanaged<RangeFilterRun>.fromOpaque(data).release() }
      })
  }

  private func sendRangesChanged(_ run: RangeFilterRun) {
    run.endNotification()
    guard self.run === run else { return }
    RangesQuery.changeEvent()?.push(on: sourcePad)
  }
}
