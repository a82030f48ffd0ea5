/// A resize that is not followed: the stream goes on in a size that the head unit still takes, and the application hears of
/// the one that it would like.
extension VideoNegotiation {
  /// Encoded input goes on while its upstream is asked for the preferred size. Encoders do not say what else they could make,
  /// and to stop the stream until they have changed would cost one that can't a group of pictures.
  struct EncodedResize: Equatable, Sendable {
    var offered: VideoSize
    /// Without other pictures until then, upstream stays as it is.
    var deadline: Duration
  }

  /// How long an encoder may take to change.
  static let encodedResizeTime = Duration.seconds(2)

  /// The head unit prefers another size than before.
  ///
  /// - Parameter formerSize: what it preferred before.
  /// - Returns: whether upstream has to be asked for it, behind the back of the stream.
  mutating func beginEncodedResize(formerSize: VideoSize?, now: Duration) -> Bool {
    encodedResize = nil
    guard settings.resizePolicy == .renegotiate, let input, !input.isRaw, input.size == resize.size,
      accepts(input.size) == true, let preferred = acceptedDisplays?.first?.streamSize, preferred != input.size,
      preferred != formerSize
    else { return false }
    encodedResize = EncodedResize(offered: preferred, deadline: now + Self.encodedResizeTime)
    return true
  }

  /// Tells the application when the time for an encoder to change is over.
  mutating func endEncodedResize(now: Duration) {
    guard let resize = encodedResize else { return }
    guard resize.deadline <= now else { return outputs.append(.setTimer(at: resize.deadline)) }
    encodedResize = nil
    if isRunning, let input { notify(.resizeIgnored(kept: input.size, offered: resize.offered, .upstream)) }
  }

  /// Upstream of raw video stays in its size, which is accepted.
  mutating func upstreamStays() {
    if resize.isUnderWay, let input, let preferred = acceptedDisplays?.first?.streamSize, preferred != input.size {
      notify(.resizeIgnored(kept: input.size, offered: preferred, .upstream))
    }
    resize.callOff()
  }
}

/// Why a resize is not followed; the field `reason` of `sdl-resize-ignored`.
public enum ResizeIgnoredReason: String, Sendable {
  /// `resize-policy=keep`.
  case policy = "resize-policy"
  /// Upstream sends no other size.
  case upstream
}
