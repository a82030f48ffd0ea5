import GStreamerKit
import SDLLink
import SDLWire

/// The implementation of one `sdlheadunitaudiosrc`: a head unit that pushes the sound of the app that speaks. See
/// ``HeadUnitElement``.
final class HeadUnitAudioSource: HeadUnitElement {
  // Unowned: the instance frees this object in finalize, after its run has ended.
  nonisolated(unsafe) let baseSource: UnsafeMutablePointer<GstBaseSrc>

  let settings = ElementSettings(HeadUnitElementSettings())
  let current = Monitor(HeadUnitElementState<HeadUnitAudioStream>())

  static let log = LogCategory("sdlheadunitaudiosrc", "SmartDeviceLink head unit audio source")

  private init(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) {
    self.baseSource = baseSource
  }
}

/// GstBaseSrc's virtual functions; without a run there is nothing to push.
extension HeadUnitAudioSource {
  func create(_ buffer: inout UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    stream?.create(&buffer, of: self) ?? GST_FLOW_FLUSHING
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard query.pointee.type == GST_QUERY_LATENCY else {
      return answerByParent(query)
    }
    let latency = settings.current.tolerance + ReceivedAudioSchedule.pieceDuration
    gst_query_set_latency(query, 1, GstClockTime(clamping: latency.nanoseconds), .max)
    return true
  }
}

extension HeadUnitAudioSource {
  /// `sdl-sound-gap`: the car had nothing to play in the middle of an app's sound.
  func postGaps(_ report: ReceivedAudioGaps.Report) {
    let message = Structure("sdl-sound-gap")
    message.set("gaps", report.count)
    message.set("duration", report.duration)
    message.set("running-time", report.runningTime)
    postElementMessage(message)
  }
}

extension HeadUnitAudioSource {
  static let type = PushSourceType.register("GstSdlHeadUnitAudioSrc") { sourceClass, _ in
    // Registers the debug categories, which GST_DEBUG help then lists.
    _ = (HeadUnitAudioSource.log, ProtocolLog.category)
    PushSourceType.install(
      on: sourceClass, HeadUnitAudioSource.properties,
      ElementDetails(
        "SmartDeviceLink Head Unit Audio Source", "Source/Audio/Network",
        "Acts as a car's head unit for SmartDeviceLink apps, and outputs their sound",
        .source(
          "audio/x-raw, format = (string) { S16LE, U8 }, rate = (int) { 8000, 16000, 22000, 44000 }, "
            + "channels = (int) 1, layout = (string) interleaved")))
  } initInstance: { instance, _ in
    PushSourceType.begin(instance, with: HeadUnitAudioSource(PushSourceType.parent(of: instance).cast()))
  }
}

extension HeadUnitAudioSource {
  static let properties = PropertyList<HeadUnitAudioSource>(
    Property.headUnit,
    // How it plays sound.
    .unsigned(
      "latency", \.latency, 0...10_000, "Latency",
      "How late sound may come without a gap, in milliseconds; playback is delayed by as much", .mutableReady),
    .unsigned(
      "playout-delay", \.playoutDelay, 0...10_000, "Playout delay",
      "How long the car buffers sound before playback, in milliseconds: it is heard that much later than the picture, and may come that much later without a gap",
      .mutableReady),
    .enumeration(
      "silence", \.silence, "Silence", "Output while no app sends sound", .mutableReady),
    .endsWithApp(
      "End the stream when the app whose sound was output last has disconnected; before any sound, when an app that streamed video has"
    ),
    .structure(
      "sdl-stats", "SDL statistics",
      "Counters of this element (application/x-sdl-stats): samples-in = samples-out + every samples-dropped-* + samples-queued; …"
    ) { $0.statistics }
  )
}
