import CPluginTypes
import GStreamerKit
import SDLLink
import SDLWire

/// The work behind one `sdlheadunitaudiosrc`: a head unit that pushes the sound of the app that speaks. See
/// ``HeadUnitElement``.
final class HeadUnitAudioSource: HeadUnitElement {
  // Unowned: the instance frees this object in finalize, after its run has ended.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlHeadUnitAudioSrc>

  let settings = ElementSettings(HeadUnitAudioSourceSettings())
  let clock = Monitor(TimeSource.monotonic)
  let current = Monitor(HeadUnitElementState<HeadUnitAudioSourceRun>())

  static let log = LogCategory("sdlheadunitaudiosrc", "SmartDeviceLink head unit audio source")
  static let service = ServiceType.audio

  init(element: UnsafeMutablePointer<GstSdlHeadUnitAudioSrc>) {
    self.element = element
  }

  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }

  func makeRun(
    _ settings: HeadUnitAudioSourceSettings, _ history: HeadUnitHistory<ReceivedAudio.Counters>, clock: TimeSource
  ) -> HeadUnitAudioSourceRun {
    HeadUnitAudioSourceRun(element: self, settings: settings, history: history, clock: clock)
  }

  func changeStateOfParent(_ transition: GstStateChange) -> GstStateChangeReturn {
    if transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED { run?.setPlaying(false) }
    let result = gst_sdl_head_unit_audio_src_parent_change_state(gstElement, transition)
    if transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING, result != GST_STATE_CHANGE_FAILURE { run?.setPlaying(true) }
    return result
  }
}

/// What GstBaseSrc asks for; without a run there is nothing to push.
extension HeadUnitAudioSource {
  func setFlushing(_ isFlushing: Bool) {
    run?.setFlushing(isFlushing)
  }

  func create(_ buffer: inout UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    run?.create(&buffer, for: baseSource) ?? GST_FLOW_FLUSHING
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard query.pointee.type == GST_QUERY_LATENCY else {
      return gst_sdl_head_unit_audio_src_parent_query(baseSource, query) != 0
    }
    let latency = settings.current.tolerance + HeadUnitAudioSourceRun.pieceDuration
    gst_query_set_latency(query, 1, GstClockTime(clamping: latency.nanoseconds), .max)
    return true
  }
}
