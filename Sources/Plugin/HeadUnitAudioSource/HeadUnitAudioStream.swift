import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// The sound of the apps, from the server's thread to the pad.
final class HeadUnitAudioStream: HeadUnitStream {
  private struct State: Sendable {
    var schedule: ReceivedAudioSchedule
    var isFlushing = false
    /// The stream ends when the queue is empty.
    var isAtEnd = false
  }

  /// State of the streaming thread about the pushed buffers.
  private struct Output: Sendable {
    var hasCaps = false
  }

  static let service = ServiceType.audio

  private let state: Monitor<State>
  private let output = Monitor(Output())

  init(_ settings: HeadUnitElementSettings, after former: HeadUnitAudioStream?) {
    let counters = former?.state.withLock { $0.schedule.audio.counters } ?? ReceivedAudio.Counters()
    let timeline = ReceivedAudioTimeline(
      PCMFormat(), tolerance: UInt64(clamping: settings.tolerance.nanoseconds),
      playoutDelay: UInt64(settings.playoutDelay) * 1_000_000)
    state = Monitor(
      State(schedule: ReceivedAudioSchedule(ReceivedAudio(counters), timeline, filling: settings.silence)))
  }

  var app: UInt8? { state.withLock { $0.schedule.audio.app } }

  func fill(_ structure: borrowing Structure) {
    let audio = state.withLock { $0.schedule.audio }
    audio.counters.fill(structure)
    structure.set("samples-queued", UInt64(clamping: audio.queuedCount))
  }

  func join(_ headUnit: HeadUnit, _ setup: HeadUnitSetup, _ apps: ServedApps) {
    state.withLock { state in
      state.schedule.setFormat(setup.settings.soundFormat)
      for app in apps.all where app.audioTransport != nil { state.schedule.audio.begin(by: app.id) }
    }
  }

  func receive(_ event: HeadUnitSession.Event, from id: UInt8, _ apps: ServedApps, _ reporter: HeadUnitReporter) {
    switch event {
    case .audioData(let bytes):
      let now = MonotonicClock.now
      if state.withLock({ $0.schedule.audio.append(bytes, from: id, now: now) }) { state.broadcast() }
    case .audioStarted(let format, let transport):
      state.withLock { $0.schedule.audio.begin(by: id) }
      guard let app = apps[id] else { return }
      reporter.streamStarted(app, .audio, on: transport) { message in
        message.set("rate", Int32(clamping: format.samplingRate.hertz))
        message.set("format", format.formatName)
      }
    case .audioStopped(let reason, _):
      let samplesOut = state.withLock { state in
        state.schedule.audio.end(by: id)
        return state.schedule.audio.counters.samplesOut
      }
      if let app = apps[id] { reporter.streamStopped(app, .audio, reason) { $0.set("samples-out", samplesOut) } }
    default: break
    }
  }

  func appsChanged(_ apps: ServedApps, formerApp: UInt8?) {
    if let formerApp { state.withLock { $0.schedule.audio.end(by: formerApp) } }
  }

  func finish() {
    state.change { $0.isAtEnd = true }
  }

  func setFlushing(_ isFlushing: Bool) {
    state.change { $0.isFlushing = isFlushing }
  }

  /// Sound that comes while the pipeline is not playing is dropped.
  func setPlaying(_ isPlaying: Bool) {
    state.change { $0.schedule.audio.isPlaying = isPlaying }
  }

  func end() {
    state.withLock { $0.schedule.audio.discard() }
  }
}

/// The path of the sound from the queue to the pad, on the streaming thread.
extension HeadUnitAudioStream {
  /// Waits for the next step.
  func create(
    _ buffer: inout UnsafeMutablePointer<GstBuffer>?, of element: HeadUnitAudioSource
  ) -> GstFlowReturn {
    let format = state.withLock { $0.schedule.audio.format }
    guard setCaps(format, of: element) else { return GST_FLOW_NOT_NEGOTIATED }
    while true {
      let present = PresentTime(of: element.gstElement)
      let (step, gaps) = state.withLock { state -> (ReceivedAudioSchedule.Step, ReceivedAudioGaps.Report?) in
        if state.isFlushing { return (.flushing, nil) }
        let step = state.schedule.step(
          now: present.now, runningTime: present.runningTime, isAtEnd: state.isAtEnd)
        return (step, state.schedule.takeGapReport())
      }
      if let gaps { element.postGaps(gaps) }
      switch step {
      case .wait(let nanoseconds): wait(nanoseconds)
      case .pause: waitForPlaying()
      case .gap(let start, let end): pushGap(from: start, to: end, on: element.pad)
      case .flushing: return GST_FLOW_FLUSHING
      case .end: return GST_FLOW_EOS
      case .sound(let bytes, let place, let isDiscontinuous):
        guard let made = Self.buffer(place, byteCount: bytes.count, isDiscontinuous) else { return GST_FLOW_ERROR }
        gst_buffer_fill(made.pointer, 0, bytes, gsize(bytes.count))
        buffer = made.take()
        return GST_FLOW_OK
      case .silence(let place, let isDiscontinuous):
        let byteCount = format.byteCount(ofSampleCount: place.sampleCount)
        guard let made = Self.buffer(place, byteCount: byteCount, isDiscontinuous) else { return GST_FLOW_ERROR }
        gst_buffer_memset(made.pointer, 0, format.sampleSize == .bits8 ? 0x80 : 0, gsize(byteCount))
        cgst_buffer_set_flags(made.pointer, UInt32(GST_BUFFER_FLAG_GAP.rawValue))
        buffer = made.take()
        return GST_FLOW_OK
      }
    }
  }

  /// Waits until there is sound, or another step to take.
  private func wait(_ nanoseconds: UInt64) {
    // The monitor waits by the system's clock, whatever clock the pipeline has.
    let end = MonotonicClock.now + .nanoseconds(Int64(clamping: nanoseconds))
    state.wait(atLatest: end) { $0.isFlushing || $0.isAtEnd || $0.schedule.audio.first != nil }
  }

  private func waitForPlaying() {
    state.wait { $0.isFlushing || $0.schedule.audio.isPlaying }
  }

  private static func buffer(_ place: ReceivedAudioTimeline.Place, byteCount: Int, _ isDiscontinuous: Bool) -> Buffer? {
    guard let buffer = Buffer(owning: gst_buffer_new_allocate(nil, gsize(byteCount), nil)) else { return nil }
    buffer.pointer.pointee.pts = GstClockTime(place.time)
    buffer.pointer.pointee.duration = GstClockTime(place.duration)
    buffer.pointer.pointee.offset = guint64(place.offset)
    buffer.pointer.pointee.offset_end = guint64(place.offset &+ UInt64(clamping: place.sampleCount))
    if isDiscontinuous { cgst_buffer_set_flags(buffer.pointer, UInt32(GST_BUFFER_FLAG_DISCONT.rawValue)) }
    return buffer
  }

  private func setCaps(_ format: PCMFormat, of element: HeadUnitAudioSource) -> Bool {
    if output.withLock({ $0.hasCaps }) { return true }
    let caps = format.caps
    element.log(GST_LEVEL_INFO, "the sound is \(format.caps.text)")
    guard gst_base_src_set_caps(element.baseSource, caps.pointer) != 0 else { return false }
    output.withLock { $0.hasCaps = true }
    return true
  }

  private func pushGap(from start: UInt64, to end: UInt64, on pad: UnsafeMutablePointer<GstPad>) {
    // GstBaseSrc sends the segment with the first buffer, but a GAP event needs it earlier, and again after a flush.
    if let segment = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0) {
      gst_event_unref(segment)
    } else {
      var segment = GstSegment()
      gst_segment_init(&segment, GST_FORMAT_TIME)
      gst_pad_push_event(pad, gst_event_new_segment(&segment))
    }
    gst_pad_push_event(pad, gst_event_new_gap(GstClockTime(start), GstClockTime(end - min(start, end))))
  }
}
