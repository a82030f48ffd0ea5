import GStreamerKit
import SDLApp
import SDLLink

/// What happens when upstream sends a size that the head unit does not take, or likes less than another.
extension VideoSink {
  /// Frames and time that upstream gets to change to a size that the head unit takes.
  private static let mismatchFrames = 5
  private static let mismatchTime = Duration.seconds(2)
  /// Frames of the old size that may be under way when upstream has been asked for another.
  private static let framesUnderWay = 3

  /// Asks upstream for caps of the head unit's choice; false when upstream has nothing else.
  func requestRenegotiation() -> Bool {
    let canChange = canUpstreamChange()
    state.withLock { state in
      state.shouldRenegotiate = false
      state.framesBeforeWish = canChange ? Self.framesUnderWay : 0
    }
    updateWish()
    guard canChange else { return false }
    log(GST_LEVEL_INFO, "asking upstream for another size")
    gst_pad_push_event(cgst_base_sink_pad(element), gst_event_new_reconfigure())
    return true
  }

  /// Whether upstream could send raw video in a size that the head unit takes, other than the present one.
  private func canUpstreamChange() -> Bool {
    guard let caps = getCaps(filter: nil) else { return true }
    defer { gst_caps_unref(caps) }
    guard let possible = gst_pad_peer_query_caps(cgst_base_sink_pad(element), caps) else { return true }
    defer { gst_caps_unref(possible) }
    let (size, accepted) = state.withLock { ($0.inputSize, $0.acceptedDisplays ?? []) }
    // The answer may also hold sizes that ranges reject.
    return !CapsSizes.sizes(in: possible, among: accepted.compactMap(\.streamSize).filter { $0 != size }).isEmpty
  }

  /// A frame of a size that the head unit does not take: upstream gets a while to change, unless it can't anyway; then
  /// it is an error. Encoders and parsers may answer with what they send now, so for them only time tells. Nil: the frame
  /// may be sent after all, because the head unit is asked for what it wants.
  func mismatched() -> GstFlowReturn? {
    let (size, accepted, objection) = state.withLock {
      ($0.inputSize, $0.acceptedSizes, $0.objection(to: $0.inputSize))
    }
    var mismatch =
      input.mismatch.flatMap { $0.size == size && $0.accepted == accepted ? $0 : nil }
      ?? SizeMismatch(size: size, accepted: accepted, objection: objection, since: MonotonicClock.now)
    let isHopeless = mismatch.frames == 0 && !begin(mismatch)
    mismatch.frames += 1
    input.mismatch = mismatch
    let isOverdue =
      mismatch.frames >= Self.mismatchFrames && MonotonicClock.now - mismatch.since >= Self.mismatchTime
    guard isHopeless || isOverdue else { return drop(.wrongSize) }
    if keepRefusedSize() {
      input.mismatch = nil
      return nil
    }
    fail(mismatch)
    return drop(.wrongSize, GST_FLOW_ERROR)
  }

  /// Asks for another size; false when it would be in vain. An encoder that can't change may end the pipeline with an
  /// error of its own, so the reason is told before.
  private func begin(_ mismatch: SizeMismatch) -> Bool {
    if !input.isRaw {
      warn(.stream(GST_STREAM_ERROR_FORMAT, "\(mismatch.description(of: "H.264")): asking upstream for that."))
    }
    return requestRenegotiation() || !input.isRaw
  }

  /// The error for a stream whose size fits nothing that the head unit offers.
  func fail(_ mismatch: SizeMismatch) {
    let advice =
      input.isRaw
      ? "put videoconvertscale before sdlvideosink" : "encode the stream in a size that the head unit takes"
    fail(.stream(GST_STREAM_ERROR_FORMAT, "\(mismatch.description(of: "input")): \(advice)."))
  }
}

/// Frames come in a size that the head unit does not take.
struct SizeMismatch {
  var size: VideoSize?
  /// What would be accepted, for people.
  var accepted: String
  /// Why the app does not support the size, if that is what is wrong with it.
  var objection: String?
  var since: Duration
  var frames = 0

  func description(of subject: String) -> String {
    "The \(subject) is \(size.map { "\($0)" } ?? "of unknown size"), but the head unit takes \(accepted)"
      + (objection.map { " (\($0))" } ?? "")
  }
}
