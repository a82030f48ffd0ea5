import CPluginTypes
import GStreamerKit
import SDLLink
import SDLWire

/// The work behind one `sdlheadunitsrc`: a head unit that pushes the video of the app on the screen. See ``HeadUnitElement``.
final class HeadUnitSource: HeadUnitElement {
  // Unowned: the instance frees this object in finalize, after its run has ended.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlHeadUnitSrc>

  let settings = ElementSettings(HeadUnitSourceSettings())
  let clock = Monitor(TimeSource.monotonic)
  let current = Monitor(HeadUnitElementState<HeadUnitSourceRun>())

  static let log = LogCategory("sdlheadunitsrc", "SmartDeviceLink head unit source")
  static let service = ServiceType.video

  init(element: UnsafeMutablePointer<GstSdlHeadUnitSrc>) {
    self.element = element
  }

  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }

  func makeRun(
    _ settings: HeadUnitSourceSettings, _ history: HeadUnitHistory<HeadUnitSourceCounters>, clock: TimeSource
  ) -> HeadUnitSourceRun {
    HeadUnitSourceRun(element: self, settings: settings, history: history, clock: clock)
  }

  func changeStateOfParent(_ transition: GstStateChange) -> GstStateChangeReturn {
    gst_sdl_head_unit_src_parent_change_state(gstElement, transition)
  }
}

/// What GstBaseSrc asks for; without a run there is nothing to push, and nobody to touch.
extension HeadUnitSource {
  func setFlushing(_ isFlushing: Bool) {
    run?.setFlushing(isFlushing)
  }

  func create(_ buffer: inout UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    run?.create(&buffer, for: baseSource) ?? GST_FLOW_FLUSHING
  }

  /// Handles an event from downstream; false if nobody does.
  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    guard event.pointee.type == GST_EVENT_NAVIGATION else {
      return gst_sdl_head_unit_src_parent_event(baseSource, event) != 0
    }
    return run?.navigate(event, pad: cgst_base_src_pad(element)) ?? false
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard query.pointee.type == GST_QUERY_LATENCY else {
      return gst_sdl_head_unit_src_parent_query(baseSource, query) != 0
    }
    gst_query_set_latency(query, 1, GstClockTime(clamping: (run?.latency ?? .zero).nanoseconds), .max)
    return true
  }
}
