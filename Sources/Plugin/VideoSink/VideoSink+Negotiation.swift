import GStreamerKit
import SDLApp
import SDLLink

/// What happens when upstream sends a size that the head unit does not take, or likes less than another.
extension VideoSink {
  /// Frames and time that upstream gets to change to a size that the head unit takes.
  private static let mismatchFrames = 5
  private static let mismatchTime = Duration.seconds(2)
  /// The same when upstream has said that it can: what it has made before may wait in long queues.
  private static let promisedTime = Duration.seconds(10)
  /// Frames of the old size that may be under way when upstream has been asked for another.
  private static let framesUnderWay = 3

  /// Asks upstream for caps of the head unit's choice; false when upstream has nothing else, nil when the choice has
  /// changed meanwhile. On any thread.
  @discardableResult
  func requestRenegotiation() -> Bool? {
    let (displays, number) = state.withLock { ($0.acceptedDisplays, $0.choiceNumber) }
    let expectedSize = sizeToCome()
    let mustAsk = state.withLock { state -> Bool? in
      guard state.acceptedDisplays == displays, state.choiceNumber == number else { return nil }
      let isAccepted = state.inputSize.flatMap(state.accepts) == true
      // The answer of encoders and parsers may be what they send now, although whoever is before them can change.
      let mustAsk = expectedSize != nil || (!state.isInputRaw && !isAccepted)
      state.shouldRenegotiate = false
      state.expectedSize = expectedSize
      state.framesBeforeWish = mustAsk && isAccepted ? Self.framesUnderWay : 0
      if !mustAsk && isAccepted { state.resize.callOff() }
      return mustAsk
    }
    guard let mustAsk else { return nil }
    updateWish()
    guard mustAsk else { return false }
    log(GST_LEVEL_INFO, "asking upstream for \(expectedSize.map { "\($0)" } ?? "another size")")
    gst_pad_push_event(cgst_base_sink_pad(element), gst_event_new_reconfigure())
    return true
  }

  /// The size that upstream will choose when it is asked, as far as one can know; nil for none but the present one.
  private func sizeToCome() -> VideoSize? {
    let (size, accepted, isAccepted) = state.withLock { state in
      // The answer may also hold sizes that ranges reject.
      let accepted = Set((state.acceptedDisplays ?? []).compactMap(\.streamSize))
      return (state.inputSize, accepted, state.inputSize.flatMap(state.accepts) == true)
    }
    guard let caps = getCaps(filter: nil) else { return nil }
    defer { gst_caps_unref(caps) }
    guard let answer = gst_pad_peer_query_caps(cgst_base_sink_pad(element), caps) else { return nil }
    defer { gst_caps_unref(answer) }
    guard let possible = gst_caps_intersect_full(caps, answer, GST_CAPS_INTERSECT_FIRST) else { return nil }
    defer { gst_caps_unref(possible) }
    for index in 0..<gst_caps_get_size(possible) {
      guard let structure = gst_caps_get_structure(possible, index), let possibleSize = CapsSizes.size(structure),
        accepted.contains(possibleSize)
      else { continue }
      if possibleSize != size { return possibleSize }
      // It likes what it sends better than anything behind.
      if isAccepted { return nil }
    }
    return nil
  }

  /// A frame of a size that the head unit does not take: upstream gets a while to change, unless it can't anyway; then
  /// it is an error. Encoders and parsers may answer with what they send now, so for them only time tells. Nil: the frame
  /// may be sent after all, because the head unit is asked for what it wants.
  func mismatched() -> GstFlowReturn? {
    let (size, accepted, objection, isPromised) = state.withLock { state in
      (
        state.inputSize, state.acceptedSizes, state.objection(to: state.inputSize),
        state.isInputRaw && state.expectedSize != nil
      )
    }
    var mismatch =
      input.mismatch.flatMap { $0.size == size && $0.accepted == accepted ? $0 : nil }
      ?? SizeMismatch(size: size, accepted: accepted, objection: objection, since: MonotonicClock.now)
    let canChange = mismatch.frames == 0 ? requestRenegotiation() : true
    // The head unit may have come back to this size just now.
    guard state.withLock({ $0.inputSize.flatMap($0.accepts) }) != true else { return nil }
    guard let canChange else { return nil }
    mismatch.frames += 1
    input.mismatch = mismatch
    let time = isPromised ? Self.promisedTime : Self.mismatchTime
    let isOverdue = mismatch.frames >= Self.mismatchFrames && MonotonicClock.now - mismatch.since >= time
    guard !canChange || isOverdue else { return drop(.wrongSize) }
    if keepRefusedSize() {
      input.mismatch = nil
      return nil
    }
    fail(mismatch)
    return drop(.wrongSize, GST_FLOW_ERROR)
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
