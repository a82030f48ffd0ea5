import GStreamerKit

/// Raw pictures that equal the one that the decoder shows.
extension FramePath {
  /// What a raw picture changes on the screen.
  enum Change {
    /// It differs, or has to be encoded in any case.
    case picture
    /// It has the same pixels, which the decoder does not show as well as it could yet, or has not been sent for a while.
    case refinement
    /// There is nothing to send.
    case nothing
  }

  /// Compares a raw picture with the one that was encoded last.
  func change(by picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo) -> Change {
    // The first frame of a service is always queued, since others wait for it, such as the end of a resize.
    guard !needsKeyFrame, queuedEpoch == epoch, !keyFrameRequest.peek,
      sink.settings.withLock({ $0.skipsUnchanged }), encodedPicture.equals(picture, info)
    else { return .picture }
    // Half of the decoder's time-out, so that at two or more pictures per second the next one is not too late, even if the
    // keep-alive timer is off or waits for longer.
    guard encodedPicture.isSharp, time.now - lastSent < Self.decoderTimeout / 2 else { return .refinement }
    // It also replaces a picture that was left out and would be shown later.
    thinning.forgetDelayed()
    return .nothing
  }

  /// The decoder is about to show a picture.
  func noteEncoded(_ picture: UnsafeMutablePointer<GstBuffer>, isKeyFrame: Bool) {
    needsKeyFrame = false
    encodedPicture.note(picture, isKeyFrame: isKeyFrame, isSettled: encoder.isSettled)
  }
}
