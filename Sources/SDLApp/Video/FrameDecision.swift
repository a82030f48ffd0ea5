extension VideoNegotiation {
  /// The right to send pictures of the input now, and the targets for encoding them.
  package struct Permission: Equatable, Sendable {
    package var grant: VideoGrant
    package var targets: EncoderTargets
    /// The frame rate that user or head unit prefer, for H.264 input, which can't be thinned out; nil if neither has a
    /// preference.
    package var frameRateLimit: Fraction?
  }

  /// What to do with the frame at hand.
  package enum FrameDecision: Equatable, Sendable {
    case send(Permission)
    case drop(FrameDropReason)
    /// Ask upstream what it can send, give the answer to ``upstreamAnswered(_:_:)`` and decide again;
    /// `dropsFrame` if it changes.
    case askUpstream(UpstreamQuestion, dropsFrame: Bool)
    /// Wait a moment until something has changed, and then drop it.
    case wait(thenDrop: FrameDropReason)
    /// Wait for the pipeline to leave flushing or PAUSED.
    case interrupted
    case fail(VideoProblem?)
  }
}

package enum FrameDropReason: Int, CaseIterable, Sendable {
  /// There is no connection, or no stream yet.
  case notStreaming
  /// Driver or app do not want video now; before the first stream it is ``notStreaming``.
  case suspended
  /// The head unit does not take frames as fast as they come.
  case queueFull
  /// The link was not ready for it in time: a newer picture replaced it, or it would have come too late.
  case latency
  /// A raw picture that came after its time.
  case late
  /// The frame has a size that the head unit does not take.
  case wrongSize
  /// H.264 that can't be decoded before the next key frame.
  case waitingForKeyFrame
  /// More frames per second than the head unit, the app or trick modes wish.
  case frameRate
  /// Flushed, stopped, or cut off by the end of the connection or of the service.
  case discarded
  /// Without content (flagged as a gap), or not decodable.
  case noPicture

  /// Whether the viewer misses something, which is reported to the application. A lower frame rate is intended.
  package var isLossOfQuality: Bool {
    switch self {
    case .notStreaming, .suspended, .queueFull, .latency, .late, .wrongSize, .waitingForKeyFrame: true
    case .frameRate, .discarded, .noPicture: false
    }
  }
}
