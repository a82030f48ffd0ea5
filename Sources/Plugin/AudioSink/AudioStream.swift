import GStreamerKit
import SDLApp
import SDLAppLink
import SDLLink
import Synchronization

/// A stream of sound, from READY→PAUSED to PAUSED→READY. It passes inputs to the negotiation, and carries out its
/// outputs.
///
/// The streaming thread brings caps, samples and events; the connection thread the head unit's messages. After
/// ``end()`` nothing of the stream reaches the element any more.
final class AudioStream: AppStream {
  let sink: AudioSink
  let app: AppClient
  let time: TimeSource

  let state: Monitor<AudioNegotiation>
  let notifications = NotificationQueue<AudioNotification>()
  let progress = StreamProgress()
  let startsOnData: Bool
  /// The app was registered since the samples' format was compared with that of the head unit.
  let isHeadUnitNew = AtomicFlag()
  /// The state between buffers.
  private let samples: PathAccess<SamplePath>
  /// The assumption of a format has been reported.
  private let hasReportedAssumption = AtomicFlag()

  init(sink: AudioSink, app: AppClient, settings: AudioSinkSettings) {
    self.sink = sink
    self.app = app
    time = sink.time
    startsOnData = settings.startsOnData
    state = Monitor(
      AudioNegotiation(settings: settings.negotiation(isMedia: app.settings.isMedia), activity: settings.activity),
      lock: sink.lock)
    samples = PathAccess(SamplePath(sink: sink), sink.state)
  }

  var channel: MediaChannel { connection.audio }

  func begin() {
    app.attach(self, of: sink) { status in update { $0.sessionChanged(to: status) } }
    if let headUnit = app.status.headUnit { reportAssumedFormat(of: headUnit) }
    deliverNotifications()
  }

  func discardRest() {
    withPath { $0.path.flush(self) }
    sink.countStream { $0.resumed(at: time.now) }
  }

  var driverWaitTexts: (waiting: String, over: String) {
    ("Waiting until the app is audible", "The app is audible")
  }

  func apply(_ outputs: [AudioNegotiation.Output]) -> Bool {
    var hasNotifications = false
    for output in outputs {
      switch output {
      case .request(let request): connection.setAudioRequest(request)
      case .setTimer(let time): connection.setTimer(at: time)
      case .notify(let notification):
        notifications.add(notification)
        hasNotifications = true
      }
    }
    return hasNotifications
  }

  /// While sound may be sent, which is the usual case, there are no outputs to carry out.
  func decide(
    _ negotiation: inout AudioNegotiation, _ timing: BufferTiming, isSilence: Bool
  ) -> AudioNegotiation.SampleDecision {
    let now = time.now
    noteRendering(&negotiation)
    let decision = negotiation.decide(timing, isSilence: isSilence, now: now)
    if case .send = decision, !negotiation.hasUrgentOutputs { return decision }
    carryOut(&negotiation, at: now)
    return decision
  }
}

/// Inputs of the pad, on the streaming thread.
extension AudioStream {
  /// Caps arrive; false if they can't be read.
  func setCaps(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    guard let structure = StructureView(caps: caps, 0), let format = PCMFormat(structure) else { return false }
    withPath { $0.path.setFormat(format, self) }
    sink.log(GST_LEVEL_INFO, "input \(format)")
    updateAndDeliver { $0.inputChanged(format) }
    return true
  }

  /// - Returns: false if upstream can't send the format.
  func askUpstream(for format: PCMFormat) -> Bool {
    let wanted = format.caps
    guard let answer = Caps.peerQuery(sink.pad, filter: wanted), !answer.intersected(with: wanted).isEmpty
    else { return false }
    sink.log(GST_LEVEL_INFO, "asking upstream for \(format)")
    Event.reconfigure()?.push(on: sink.pad)
    return true
  }

  func render(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else {
      fail(.stream(GST_STREAM_ERROR_FORMAT, "Sound can't be read: the memory of its buffer can't be mapped."))
      return GST_FLOW_ERROR
    }
    defer { gst_buffer_unmap(buffer, &map) }
    let bytes = UnsafeRawBufferPointer(start: map.data, count: Int(map.size))
    var held = samples.take(for: self) { path, state, _ in path.count(arriving: bytes.count, &state.counters) }
    let flow = held.path.render(buffer, bytes, &held)
    held.giveBack { _, _ in }
    return flow
  }

  func observe(_ event: UnsafeMutablePointer<GstEvent>) {
    switch event.pointee.type {
    case GST_EVENT_FLUSH_STOP:
      progress.flushEnded()
      withPath { $0.path.flush(self) }
      updateAndDeliver { $0.flushed() }
    case GST_EVENT_STREAM_START, GST_EVENT_SEGMENT: updateAndDeliver { $0.streamBegan() }
    default: break
    }
  }

  /// Waits for the time of a GAP, and fills it, or for the end: all sound is played before the service is closed and
  /// the application gets EOS.
  func wait(for event: UnsafeMutablePointer<GstEvent>) -> GstFlowReturn {
    switch event.pointee.type {
    case GST_EVENT_GAP:
      return withPath { $0.path.fillGap(event, &$0) } ?? sink.waitByParent(for: event)
    case GST_EVENT_EOS:
      let sent = withPath { $0.path.sendRest(before: event, self) }
      guard sent == GST_FLOW_OK else { return sent }
      let result = sink.waitByParent(for: event)
      return result == GST_FLOW_OK ? finish() : result
    default: return sink.waitByParent(for: event)
    }
  }

  private func finish() -> GstFlowReturn {
    if let problem = withPath({ $0.path.formatProblem }) {
      fail(ElementError(problem))
      return GST_FLOW_ERROR
    }
    let result = withPath { waitUntilSent($0.path) }
    return result == GST_FLOW_OK ? endService() : result
  }

  /// Waits until the queue is empty, and the head unit has had time to play the rest. The lead is added for a head unit
  /// that began late.
  private func waitUntilSent(_ path: SamplePath) -> GstFlowReturn {
    let result = waitUntilDrained(of: "sound")
    guard result == GST_FLOW_OK else { return result }
    guard state.withLock({ $0.hasGrant }), let end = path.end else { return GST_FLOW_OK }
    let played = end + sink.renderDelay + sink.lead
    return gst_base_sink_wait(sink.baseSink, GstClockTime(clamping: played.nanoseconds), nil)
  }
}

/// The sample path.
extension AudioStream {
  private func withPath<Result>(_ body: (inout HeldPath<SamplePath>) -> Result) -> Result {
    var held = samples.take(for: self)
    let result = body(&held)
    held.giveBack { _, _ in }
    return result
  }
}

/// Reports of the app's connection. On the connection thread, without locks.
extension AudioStream {
  func sessionChanged(to status: AppSession.Status) {
    let former = state.withLock { $0.session }
    if former.headUnit == nil, let headUnit = status.headUnit {
      isHeadUnitNew.raise()
      reportAssumedFormat(of: headUnit)
    }
    if let grant = status.audio.grant, grant.epoch != former.audio.grant?.epoch { sink.countStream { $0.starts &+= 1 } }
    updateAndDeliver { $0.sessionChanged(to: status) }
  }

  func timerFired() {
    updateAndDeliver { _ in }
  }

  func appReported(_ event: AppSession.Event) {
    switch event {
    case .audioStartFailed(let failure, let retryAfter): startFailed(failure, retryAfter)
    default: break
    }
  }

  private func startFailed(_ failure: AudioStartFailure, _ retryAfter: Duration?) {
    sink.countStream { $0.startFailures &+= 1 }
    let hasVideo = app.elementName(of: .video) != nil
    do throws(AudioProblem) {
      try updateAndDeliver { negotiation throws(AudioProblem) in
        try negotiation.startFailed(failure, retryAfter: retryAfter, hasVideo: hasVideo)
      }
    } catch {
      failConnection(ElementError(error))
    }
  }

  /// Once for each stream.
  private func reportAssumedFormat(of headUnit: HeadUnitInfo) {
    guard headUnit.announcedPCMFormat == nil, !hasReportedAssumption.peek, !hasEnded else { return }
    hasReportedAssumption.raise()
    sink.postAssumedFormat(PCMFormat())
  }

  func post(_ notification: AudioNotification) {
    switch notification {
    case .started(let grant, let reason):
      sink.countStream { $0.resumed(at: time.now) }
      sink.postStreamStarted(grant, reason: reason)
    case .stream(let notification): postShared(notification)
    case .stopped(let reason): sink.postStreamStopped(reason)
    case .problem(let problem): warn(ElementError(problem))
    }
  }
}

extension ElementError {
  init(_ problem: AudioProblem) {
    switch problem {
    case .startRefused, .refused: self = .resource(GST_RESOURCE_ERROR_NOT_AUTHORIZED, problem.description)
    case .wrongFormat: self = .stream(GST_STREAM_ERROR_FORMAT, problem.description)
    }
  }
}
