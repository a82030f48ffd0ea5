import SDLMessages

/// Errors of a stream of sound, with advice for the user.
public enum AudioProblem: Error, Equatable, Sendable {
  /// Tried again after that time; nil: when the driver makes the app audible.
  case startRefused(AudioStartFailure, retryAfter: Duration?)
  /// The head unit would refuse it again, so that there is no sound on this connection, whatever becomes of video.
  case refused(AudioStartFailure, isVideoStreaming: Bool)
  /// Upstream can't send the head unit's format.
  case wrongFormat(input: PCMFormat, headUnit: PCMFormat)
}

extension AudioProblem: CustomStringConvertible {
  /// What happened, and advice.
  public var description: String {
    switch self {
    case .startRefused(let failure, nil):
      "\(Self.sentence(failure)) Trying again when the app is audible."
    case .startRefused(let failure, let time?):
      "\(Self.sentence(failure)) Trying again in \(time.components.seconds) s."
    case .refused(let failure, let isVideoStreaming):
      "\(Self.sentence(failure)) It would refuse the same again."
        + (isVideoStreaming ? " Video continues without sound." : "")
    case .wrongFormat(let input, let headUnit):
      "The head unit plays \(headUnit), one channel, but the input is \(input): "
        + "put audioconvert ! audioresample before sdlaudiosink."
    }
  }

  private static func sentence(_ failure: AudioStartFailure) -> String {
    let text = "\(failure)"
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}
