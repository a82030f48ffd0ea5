import GStreamerKit
import SDLApp

/// The state that all threads share for samples.
struct SampleState: StreamPathState {
  var counters = AudioSinkCounters()
  /// 0 for muted.
  var gain = AudioSinkSettings().gain
  /// Payloads that come back from the connection, to be used again.
  var payloads: [SamplePayload] = []
  var isPathTaken = false
}

/// The path of the samples, piece by piece: waits for the right to send and for their time, makes payloads of them
/// (``SamplePacker``), and queues those. Has the state between buffers.
///
/// Only the thread that has it through ``PathAccess`` may use it.
final class SamplePath: StreamPath {
  typealias Stream = AudioStream

  /// A buffer, or part of one, that is being sent.
  private struct Input {
    var buffer: UnsafeMutablePointer<GstBuffer>
    var bytes: UnsafeRawBufferPointer
    /// The rest, in samples.
    var range: Range<Int>
    /// The buffer is flagged as a gap.
    var isGap: Bool
    var isSilence: Bool
    var isLive: Bool

    var object: UnsafeMutablePointer<GstMiniObject> { UnsafeMutablePointer(OpaquePointer(buffer)) }
  }

  private enum SendDecision {
    case grant(AudioGrant)
    case drop(SampleDropReason)
    case stop(GstFlowReturn)
  }

  /// The largest part of a buffer in one payload: it bounds bursts, and how long other threads wait.
  private static let longestPiece = Duration.milliseconds(100)
  /// How much of a live source's sound may be on its way, beyond the lead.
  private static let longestLinkDelay = Duration.milliseconds(500)

  let sink: AudioSink
  /// Nil before the first caps.
  private var input: AudioFormatCheck?
  private var timeline = SampleTimeline(format: PCMFormat())
  private var packer: SamplePacker
  private var playout = SamplePlayout(lead: .zero)
  private var linkDelay = LinkDelay()
  private var liveness = UpstreamLiveness()
  /// Incomplete samples in buffers have been reported.
  private var hasWarnedOfParts = false
  /// The grant for which samples were sent last.
  private var epoch: UInt32 = 0

  init(sink: AudioSink) {
    self.sink = sink
    packer = SamplePacker(sink: sink)
  }

  var isUpstreamLive: Bool { liveness.isLive(at: sink.pad) }

  /// Why the last samples were not sent, if the head unit plays another format.
  var formatProblem: AudioProblem? { input?.problem }

  func taken(_ state: inout SampleState) {
    packer.update(&state)
    playout.lead = sink.lead
  }

  /// The samples of a buffer have come.
  func count(arriving byteCount: Int, _ counters: inout AudioSinkCounters) {
    if let format = input?.format { counters.samplesArrived(format.sampleCount(ofByteCount: byteCount)) }
  }

  func setFormat(_ format: PCMFormat, _ stream: AudioStream) {
    guard input?.format != format else { return }
    sendRest(stream)
    input = AudioFormatCheck(format: format)
    timeline = SampleTimeline(format: format)
    packer.setFormat(format)
  }

  func flush(_ stream: AudioStream) {
    stream.channel.setAwaitsAcknowledgement(false)
    packer.flush()
    input?.flush()
    timeline.reset()
  }
}

// MARK: Buffers

extension SamplePath {
  /// Sends the samples of a buffer, which are counted already.
  func render(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ bytes: UnsafeRawBufferPointer, _ held: inout HeldPath<SamplePath>
  ) -> GstFlowReturn {
    guard let format = input?.format else {
      let error = ElementError.stream(
        GST_STREAM_ERROR_WRONG_TYPE, "The input has no caps: put decodebin and audioconvert before sdlaudiosink.")
      held.whileGivenBack { $0.fail(error) }
      return GST_FLOW_ERROR
    }
    let count = format.sampleCount(ofByteCount: bytes.count)
    if format.byteCount(ofSampleCount: count) != bytes.count, !hasWarnedOfParts {
      hasWarnedOfParts = true
      let error = ElementError.stream(
        GST_STREAM_ERROR_FORMAT, "A buffer ends in the middle of a sample; the incomplete sample is dropped.")
      held.whileGivenBack { $0.warn(error) }
    }
    if let refused = refuse(count, &held) { return refused }
    let isGap = cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) != 0
    let input = Input(
      buffer: buffer, bytes: bytes, range: 0..<count, isGap: isGap,
      isSilence: isGap || (held.stream.startsOnData && format.isSilent(bytes)), isLive: isUpstreamLive)
    return place(input, &held)
  }

  /// If the head unit does not play the format, upstream is asked for another, and nothing is sent until it comes.
  ///
  /// - Returns: nil if it does.
  private func refuse(_ count: Int, _ held: inout HeldPath<SamplePath>) -> GstFlowReturn? {
    if held.stream.isHeadUnitNew.take() { input?.headUnitChanged() }
    switch input?.check(count, headUnit: held.stream.app.status.pcmFormat, now: held.stream.time.now) {
    case .played, nil: return nil
    case .wait: return drop(count, .wrongFormat)
    case .ask(let format) where held.whileGivenBack({ $0.askUpstream(for: format) }):
      return drop(count, .wrongFormat)
    case .ask, .failed:
      if let problem = input?.problem { held.whileGivenBack { $0.fail(ElementError(problem)) } }
      return drop(count, .wrongFormat, GST_FLOW_ERROR)
    }
  }

  /// Clips the samples to the segment, and sends them, after silence for a gap in front of them.
  private func place(_ input: Input, _ held: inout HeldPath<SamplePath>) -> GstFlowReturn {
    var input = input
    let count = input.range.count
    guard let clip = SegmentClip(sink, buffer: input.buffer, count: count, format: timeline.format) else {
      return drop(count, .overlap)
    }
    _ = drop(count - clip.range.count, .overlap)
    input.range = clip.range
    let placement = timeline.place(
      at: clip.runningTime, now: sink.presentTime + (input.isLive ? playout.lead : .zero))
    if placement.silence > 0 {
      let result = sendSilence(placement.silence, in: input.object, isLive: input.isLive, &held)
      guard result == GST_FLOW_OK else { return drop(input.range.count, .discarded, result) }
    }
    if placement.overlap > 0 {
      let count = min(placement.overlap, input.range.count)
      _ = drop(count, .overlap)
      input.range = (input.range.lowerBound + count)..<input.range.upperBound
      packer.bridge()
    }
    while !input.range.isEmpty {
      let result = sendPiece(of: &input, &held)
      guard result == GST_FLOW_OK else { return drop(input.range.count, .discarded, result) }
    }
    return GST_FLOW_OK
  }

  /// Sends the next samples, or leaves some out; removes them from `input`.
  private func sendPiece(of input: inout Input, _ held: inout HeldPath<SamplePath>) -> GstFlowReturn {
    let grant: AudioGrant
    switch sendDecision(isSilence: input.isSilence, isLive: input.isLive, &held) {
    case .grant(let present): grant = present
    case .drop(let reason): return pass(&input, reason)
    case .stop(let result): return result
    }
    // A message handler has flushed the pipeline, including these samples.
    guard !held.wasFlushed else {
      let rest = input.range.count
      input.range = input.range.upperBound..<input.range.upperBound
      return drop(rest, .discarded)
    }
    let count = min(input.range.count, longestPiece)
    var (result, correction) = waitForTime(of: count, in: input.object, grant, isSilence: input.isGap)
    if case .silence(let missing) = correction { result = fill(missing, grant, isLive: input.isLive, &held) }
    guard result == GST_FLOW_OK else { return result }
    if case .leaveOut(let excess) = correction {
      playout.skipped(isAll: excess == count)
      return leaveOut(excess, .late, of: &input)
    }
    noteSent(count)
    if isBehind(isLive: input.isLive, held.stream) { return leaveOut(count, .queueFull, of: &input) }
    let piece = input.range.prefix(count)
    input.range = piece.upperBound..<input.range.upperBound
    timeline.advance(by: count)
    guard let payload = packer.payload(of: input.buffer, input.bytes, piece, isSilence: input.isGap) else {
      return GST_FLOW_OK
    }
    return deliver(payload, grant, isSilence: input.isSilence, isLive: input.isLive, &held)
  }

  /// Samples that may not be sent pass at the time at which they would have left, unless they are live: then they come
  /// at that time.
  private func pass(_ input: inout Input, _ reason: SampleDropReason) -> GstFlowReturn {
    guard !input.isLive, let time = timeline.end else { return leaveOut(input.range.count, reason, of: &input) }
    let result = wait(until: max(time - playout.lead, .zero), in: input.object)
    return result == GST_FLOW_OK ? leaveOut(min(input.range.count, longestPiece), reason, of: &input) : result
  }

  private func leaveOut(_ count: Int, _ reason: SampleDropReason, of input: inout Input) -> GstFlowReturn {
    input.range = (input.range.lowerBound + count)..<input.range.upperBound
    timeline.advance(by: count)
    packer.bridge()
    return drop(count, reason)
  }

  /// Counts samples that are not sent.
  private func drop(_ count: Int, _ reason: SampleDropReason, _ result: GstFlowReturn = GST_FLOW_OK) -> GstFlowReturn {
    guard count > 0 else { return result }
    sink.count { $0.samplesDropped(count, reason) }
    sink.log(GST_LEVEL_LOG, "dropped \(count) samples: \(reason)")
    return result
  }
}

// MARK: Silence where upstream has nothing

extension SamplePath {
  /// Fills the time of a GAP event. If it has no duration, the next buffer shows its length.
  ///
  /// - Returns: nil if it is not filled.
  func fillGap(_ event: UnsafeMutablePointer<GstEvent>, _ held: inout HeldPath<SamplePath>) -> GstFlowReturn? {
    guard input != nil, timeline.end != nil, let (start, duration) = sink.partOfSegment(event),
      duration <= SampleTimeline.longestSilence
    else { return nil }
    // The base class would wait until the gap begins, which would use up the lead.
    let object = UnsafeMutablePointer<GstMiniObject>(OpaquePointer(event))
    let result = gst_base_sink_do_preroll(sink.baseSink, object)
    guard result == GST_FLOW_OK else { return result }
    var count = timeline.format.sampleCount(in: duration)
    // A part of it may have been sent already, or another gap is in front of it.
    if let time = sink.time(of: start) {
      let placement = timeline.place(at: time, now: time)
      count += placement.silence - min(placement.overlap, count)
    }
    return sendSilence(count, in: object, isLive: isUpstreamLive, &held)
  }

  /// Silence does not wait for the right to send: without it, it is only counted.
  private func sendSilence(
    _ count: Int, in object: UnsafeMutablePointer<GstMiniObject>, isLive: Bool, _ held: inout HeldPath<SamplePath>
  ) -> GstFlowReturn {
    var left = count
    while left > 0 {
      guard let grant = held.stream.state.withLock({ $0.permission }) else {
        timeline.advance(by: left)
        return GST_FLOW_OK
      }
      let piece = min(left, longestPiece)
      var (result, correction) = waitForTime(of: piece, in: object, grant, isSilence: true)
      if case .silence(let missing) = correction { result = fill(missing, grant, isLive: isLive, &held) }
      guard result == GST_FLOW_OK else { return result }
      if case .leaveOut(let excess) = correction {
        left -= excess
        timeline.advance(by: excess)
        playout.skipped(isAll: excess == piece)
        continue
      }
      left -= piece
      noteSent(piece)
      timeline.advance(by: piece)
      guard !isBehind(isLive: isLive, held.stream) else { continue }
      result = deliver(packer.silence(piece), grant, isSilence: true, isLive: isLive, &held)
      guard result == GST_FLOW_OK else { return result }
    }
    return GST_FLOW_OK
  }

  /// Sends silence that fills the time until the next samples are due.
  private func fill(
    _ count: Int, _ grant: AudioGrant, isLive: Bool, _ held: inout HeldPath<SamplePath>
  ) -> GstFlowReturn {
    noteSent(count)
    return deliver(packer.silence(count), grant, isSilence: true, isLive: isLive, &held)
  }

  /// Sends short buffers that wait for more, if that does not block.
  func sendRest(_ stream: AudioStream) {
    guard let payload = packer.takePending() else { return }
    guard let grant = stream.state.withLock({ $0.permission }),
      stream.channel.submit(payload, grantEpoch: grant.epoch, blocking: false) == .queued
    else { return payload.giveUp(.discarded) }
  }

  /// The same at the end of the stream, as soon as the pipeline plays: the base class waits for the end of playback.
  func sendRest(before end: UnsafeMutablePointer<GstEvent>, _ stream: AudioStream) -> GstFlowReturn {
    guard packer.hasPending else { return GST_FLOW_OK }
    let result = gst_base_sink_do_preroll(sink.baseSink, UnsafeMutablePointer(OpaquePointer(end)))
    if result == GST_FLOW_OK { sendRest(stream) }
    return result
  }
}

// MARK: The right to send

extension SamplePath {
  /// Decides what to do with the samples at hand, after a moment in which that may change, or a pause.
  private func sendDecision(isSilence: Bool, isLive: Bool, _ held: inout HeldPath<SamplePath>) -> SendDecision {
    let timing: BufferTiming = isLive ? .live : sink.hasClock ? .synchronized : .unsynchronized
    while true {
      switch decide(timing, isSilence: isSilence, &held) {
      case .send(let grant): return .grant(grant)
      case .drop(let reason), .wait(let reason, _): return .drop(reason)
      case .interrupted:
        let result = gst_base_sink_wait_preroll(sink.baseSink)
        guard result == GST_FLOW_OK else { return .stop(result) }
      case .fail: return .stop(GST_FLOW_ERROR)
      }
    }
  }

  private func decide(
    _ timing: BufferTiming, isSilence: Bool, _ held: inout HeldPath<SamplePath>
  ) -> AudioNegotiation.SampleDecision {
    let decision = held.stream.state.withLock { held.stream.decide(&$0, timing, isSilence: isSilence) }
    if case .send = decision { return decision }
    held.whileGivenBack { $0.deliverNotifications() }
    guard case .wait(_, let longest) = decision else { return decision }
    defer { held.whileGivenBack { $0.deliverNotifications() } }
    sink.log(GST_LEVEL_DEBUG, "waiting until the head unit plays the app's sound")
    return held.stream.waitForHeadUnit(atMost: longest) { negotiation in
      switch held.stream.decide(&negotiation, timing, isSilence: isSilence) {
      case .wait, .drop: nil
      case let next: next
      }
    } ?? decision
  }

  /// A grant is about to be used. With a new grant, the head unit starts to play from an empty queue.
  private func use(_ grant: AudioGrant) {
    guard epoch != grant.epoch else { return }
    epoch = grant.epoch
    playout.reset()
    packer.begin()
  }
}

// MARK: Time

extension SamplePath {
  /// In samples.
  private var longestPiece: Int { max(timeline.format.sampleCount(in: Self.longestPiece), 1) }

  /// The running time of the samples sent last; nil before the first.
  var end: Duration? { timeline.end }

  /// Waits until the next samples may leave, and returns the correction so that they are heard in time.
  ///
  /// - Parameter object: the buffer or event that they belong to.
  private func waitForTime(
    of count: Int, in object: UnsafeMutablePointer<GstMiniObject>, _ grant: AudioGrant, isSilence: Bool
  ) -> (result: GstFlowReturn, correction: SamplePlayout.Correction) {
    guard let time = timeline.end else { return (GST_FLOW_OK, .none) }
    // Nothing leaves before running time 0; samples after the first ones leave together with them.
    let result = wait(until: max(time - playout.lead, .zero), in: object)
    guard result == GST_FLOW_OK else { return (result, .none) }
    use(grant)
    return (result, correction(of: count, at: time, isSilence: isSilence))
  }

  /// Waits in PLAYING until a running time. `gst_base_sink_wait` does so too, but then a change to PAUSED would never
  /// complete, because that needs a preroll.
  private func wait(until time: Duration, in object: UnsafeMutablePointer<GstMiniObject>) -> GstFlowReturn {
    while true {
      let result = gst_base_sink_do_preroll(sink.baseSink, object)
      guard result == GST_FLOW_OK else { return result }
      let clockTime = GstClockTime(clamping: sink.clockTime(of: time).nanoseconds)
      let status = gst_base_sink_wait_clock(sink.baseSink, clockTime, nil)
      guard cgst_pad_is_flushing(sink.pad) == 0 else { return GST_FLOW_FLUSHING }
      guard status == GST_CLOCK_UNSCHEDULED else { return GST_FLOW_OK }
    }
  }

  /// Without a clock, and with sync=false, there is no wait.
  private func correction(of count: Int, at time: Duration, isSilence: Bool) -> SamplePlayout.Correction {
    guard let (due, now) = sink.schedule(of: time) else {
      playout.reset()
      return .none
    }
    let correction = playout.correction(for: count, due: due, now: now, isSilence: isSilence, format: timeline.format)
    if correction != .none { sink.log(GST_LEVEL_DEBUG, "\(correction): the samples are due in \(due - now)") }
    return correction
  }

  /// Samples leave now, or waiting ones in front of them use their time.
  private func noteSent(_ count: Int) {
    guard let time = timeline.end, let (_, now) = sink.schedule(of: time) else { return }
    playout.sent(count, now: now, format: timeline.format)
  }
}

// MARK: Payloads

extension SamplePath {
  /// Queues a payload; sound that is not live waits for room, and for another grant if this one ends. Silence does not
  /// wait for a grant.
  private func deliver(
    _ payload: SamplePayload, _ grant: AudioGrant, isSilence: Bool, isLive: Bool, _ held: inout HeldPath<SamplePath>
  ) -> GstFlowReturn {
    var grant = grant
    while true {
      switch held.stream.channel.submit(payload, grantEpoch: grant.epoch, blocking: !isLive) {
      case .queued: return GST_FLOW_OK
      case .full:
        payload.giveUp(.queueFull)
        packer.bridge()
        return GST_FLOW_OK
      case .ending:
        payload.giveUp(.notStreaming)
        return GST_FLOW_OK
      case .closed, .stale:
        guard !isLive, held.stream.waitForEnd(ofGrant: grant.epoch) else {
          payload.giveUp(.notStreaming)
          return GST_FLOW_OK
        }
      case .flushing: break
      }
      switch sendDecision(isSilence: isSilence, isLive: isLive, &held) {
      case .grant(let next):
        if next.epoch != grant.epoch { begin(next, with: payload, isLive: isLive, &held) }
        grant = next
      case .drop(let reason):
        payload.giveUp(reason)
        return GST_FLOW_OK
      case .stop(let flow):
        payload.giveUp(.discarded)
        return flow
      }
    }
  }

  /// The grant has changed since the payload was made: the head unit starts to play from an empty queue.
  private func begin(
    _ grant: AudioGrant, with payload: SamplePayload, isLive: Bool, _ held: inout HeldPath<SamplePath>
  ) {
    use(grant)
    let count = payload.sampleCount + payload.silenceCount
    guard let end = timeline.end else { return }
    let time = max(end - timeline.format.duration(ofSampleCount: count), .zero)
    if case .silence(let missing) = correction(of: count, at: time, isSilence: false) {
      _ = fill(missing, grant, isLive: isLive, &held)
    }
    noteSent(count)
  }

  /// Whether so much of a live source's sound waits, here or in the kernel, that more would come too late. Then the
  /// connection watches a head unit that takes none.
  private func isBehind(isLive: Bool, _ stream: AudioStream) -> Bool {
    let isBehind = isLive && isTooMuchOnItsWay(stream)
    stream.channel.setAwaitsAcknowledgement(isBehind)
    return isBehind
  }

  private func isTooMuchOnItsWay(_ stream: AudioStream) -> Bool {
    let longest = playout.lead + Self.longestLinkDelay
    let (sample, queued) = stream.channel.linkSampleAndQueuedByteCount()
    let format = timeline.format
    if queued > format.byteCount(ofSampleCount: format.sampleCount(in: longest)) { return true }
    return sample.map { linkDelay.age($0) > longest } ?? false
  }
}
