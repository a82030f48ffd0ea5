import GStreamerKit
import SDLApp
import SDLLink

/// What becomes of a start of video that fails: the same again later, or something else at once. On the connection
/// thread, except where upstream turns out not to follow.
extension VideoSink {
  /// The head unit lists nothing that can be sent, or nothing that the user allows.
  func noCommonFormat(_ offered: [VideoStreamingFormat], _ wished: [VideoTransport]?) {
    let takes = offered.map(\.description).joined(separator: ", ")
    let sends = (wished ?? VideoTransport.allCases).map(\.rawValue).joined(separator: ", ")
    failed(
      .stream(
        GST_STREAM_ERROR_FORMAT,
        "There is no common format: the head unit takes \(takes), and the sink sends H264 over \(sends)\(wished == nil ? "" : " as video-formats says")."
      ))
  }

  func videoStartFailed(_ failure: VideoStartFailure, _ request: VideoStartRequest, _ retryAfter: Duration?) {
    counters.withLock { $0.startFailures += 1 }
    let details = "requested \(request)"
    guard let retryAfter else { return descend(failure, request, details) }
    warn(
      .resource(
        GST_RESOURCE_ERROR_NOT_AUTHORIZED,
        "\(failure.sentence) Trying again in \(retryAfter.components.seconds) s, or when the driver opens the app.",
        details: details))
  }

  /// Goes on to what the head unit has not refused yet.
  private func descend(_ failure: VideoStartFailure, _ request: VideoStartRequest, _ details: String) {
    let ladder = state.withLock { state in
      state.ladder.refused(request, failure)
      if failure.concernsSize { state.insistedDisplay = nil }
      // Raw video is asked to change by who brings it. H.264 never is: an encoder that can't change ends the pipeline
      // with an error, before the last resort could be tried.
      if let size = state.inputSize, !state.isInputRaw, !state.ladder.allows(size) { state.ladder.fixInput() }
      return state.ladder
    }
    guard !ladder.isExhausted else { return failed(exhausted(ladder, failure)) }
    warn(.stream(GST_STREAM_ERROR_FORMAT, "\(failure.sentence) \(ladder.outlook(for: request))", details: details))
    state.broadcast()
    updateWish()
    letUpstreamChange()
  }

  /// Upstream can't leave a size that the head unit has refused: the head unit has to say what it wants. False when the
  /// size was not refused, but never offered.
  func keepRefusedSize() -> Bool {
    let isRefused = state.withLock { state in
      guard let size = state.inputSize, state.insistedDisplay == nil, !state.ladder.allows(size) else { return false }
      state.ladder.fixInput()
      state.framesBeforeWish = 0
      state.expectedSize = nil
      return true
    }
    guard isRefused else { return false }
    log(GST_LEVEL_INFO, "upstream can't change its size: asking without parameters")
    updateWish()
    return true
  }

  /// Everything was refused.
  private func exhausted(_ ladder: VideoStartLadder, _ failure: VideoStartFailure) -> ElementError {
    let tried = ladder.attempts.map(\.description).joined(separator: "; ")
    let untried = ladder.sizes.map(\.description).joined(separator: ", ")
    let advice =
      state.withLock { $0.isInputRaw }
      ? "put videoconvertscale before sdlvideosink" : "encode the stream in such a size"
    return .stream(
      GST_STREAM_ERROR_FORMAT,
      "\(failure.sentence) Nothing is left to try of what it offers. Tried: \(tried)."
        + (ladder.isInputFixed
          ? " The head unit offers \(untried) too, but the size of the input can't change: \(advice)." : ""))
  }
}

extension VideoStartLadder {
  /// What follows the refusal of `request`, as a sentence.
  fileprivate func outlook(for request: VideoStartRequest) -> String {
    if !allows(request.size) {
      let names = sizes.map(\.description).reduce(into: [String]()) { names, name in
        if !names.contains(name) { names.append(name) }
      }
      return "Trying another size: \(names.joined(separator: ", "))."
    }
    return self.request(for: request.size).map { "Trying \($0)." } ?? ""
  }
}

extension VideoStartFailure {
  /// As a sentence.
  fileprivate var sentence: String {
    let text = description
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}
