import GStreamerKit
import SDLLink
import SDLWire

/// The work behind one `sdlheadunitaudiosrc`: a head unit that pushes the sound of the app that speaks. See
/// ``HeadUnitElement``.
final class HeadUnitAudioSource: HeadUnitElement {
  // Unowned: the instance frees this object in finalize, after its run has ended.
  nonisolated(unsafe) let baseSource: UnsafeMutablePointer<GstBaseSrc>

  let settings = ElementSettings(HeadUnitAudioSourceSettings())
  let current = Monitor(HeadUnitElementState<HeadUnitAudioSourceRun>())

  static let log = LogCategory("sdlheadunitaudiosrc", "SmartDeviceLink head unit audio source")
  static let service = ServiceType.audio

  private init(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) {
    self.baseSource = baseSource
  }

  func makeRun(
    _ settings: HeadUnitAudioSourceSettings, _ history: HeadUnitHistory<ReceivedAudio.Counters>
  ) -> HeadUnitAudioSourceRun {
    HeadUnitAudioSourceRun(element: self, settings: settings, history: history)
  }

  func changeBaseState(_ transition: GstStateChange) -> GstStateChangeReturn {
    if transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED { run?.setPlaying(false) }
    let result = changeParentState(transition)
    if transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING, result != GST_STATE_CHANGE_FAILURE { run?.setPlaying(true) }
    return result
  }
}

/// What GstBaseSrc asks for; without a run there is nothing to push.
extension HeadUnitAudioSource {
  func create(_ buffer: inout UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    run?.create(&buffer, for: baseSource) ?? GST_FLOW_FLUSHING
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard query.pointee.type == GST_QUERY_LATENCY else {
      return answerByParent(query)
    }
    let latency = settings.current.tolerance + HeadUnitAudioSourceRun.pieceDuration
    gst_query_set_latency(query, 1, GstClockTime(clamping: latency.nanoseconds), .max)
    return true
  }
}

/// The type.
extension HeadUnitAudioSource {
  static let type = PushSourceType.register("GstSdlHeadUnitAudioSrc") { sourceClass, _ in
    // Registers the debug categories, which GST_DEBUG help then lists.
    _ = (HeadUnitAudioSource.log, ProtocolLog.category)
    PushSourceType.install(
      on: sourceClass, HeadUnitAudioSource.properties,
      ElementDetails(
        "SmartDeviceLink Head Unit Audio Source", "Source/Audio/Network",
        "Is a car's head unit for apps that speak SmartDeviceLink, and plays the sound that they send",
        .source(
          "audio/x-raw, format = (string) { S16LE, U8 }, rate = (int) { 8000, 16000, 22000, 44000 }, "
            + "channels = (int) 1, layout = (string) interleaved")))
  } initInstance: { instance, _ in
    PushSourceType.begin(instance, with: HeadUnitAudioSource(PushSourceType.parent(of: instance).cast()))
  }
}
