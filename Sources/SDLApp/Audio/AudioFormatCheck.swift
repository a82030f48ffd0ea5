import SDLMessages

/// Whether sound has the format that the head unit plays, and how long upstream has had to change it.
package struct AudioFormatCheck: Sendable {
  /// What happens to samples.
  package enum Result: Equatable, Sendable {
    case played
    /// Not sent: ask upstream for the head unit's format.
    case ask(PCMFormat)
    /// Not sent: upstream has been asked.
    case wait
    /// Not sent: upstream has had its time.
    case failed
  }

  /// How long upstream may take, and how much sound may come until then: none comes during a pause, and much at once
  /// from a file without sync.
  private static let limit = Duration.seconds(5)

  package let format: PCMFormat
  private var isPlayed = false
  /// Since the first samples in another format; nil if the last ones had the head unit's.
  private var mismatch: (headUnit: PCMFormat, began: Duration, sampleCount: Int)?

  package init(format: PCMFormat) {
    self.format = format
  }

  /// Why the last samples were not sent; nil if they were.
  package var problem: AudioProblem? { mismatch.map { .wrongFormat(input: format, headUnit: $0.headUnit) } }

  /// A head unit has registered the app.
  package mutating func headUnitChanged() {
    isPlayed = false
  }

  package mutating func flush() {
    mismatch = nil
  }

  /// - Parameters:
  ///   - sampleCount: of the samples at hand.
  ///   - headUnit: the head unit's format; nil if that is not known.
  package mutating func check(
    _ sampleCount: Int, headUnit: @autoclosure () -> PCMFormat?, now: @autoclosure () -> Duration
  ) -> Result {
    guard !isPlayed else { return .played }
    let (headUnit, now) = (headUnit(), now())
    guard let headUnit, format != headUnit else {
      mismatch = nil
      isPlayed = headUnit != nil
      return .played
    }
    let former = mismatch
    let (began, sum) = (former?.began ?? now, (former?.sampleCount ?? 0) + sampleCount)
    mismatch = (headUnit, began, sum)
    if former == nil { return .ask(headUnit) }
    return min(now - began, format.duration(ofSampleCount: sum)) > Self.limit ? .failed : .wait
  }
}

/// Errors of a stream of sound, with advice for the user.
package enum AudioProblem: Error, Equatable, Sendable {
  /// Tried again after that time; nil: when the driver makes the app audible.
  case startRefused(AudioStartFailure, retryAfter: Duration?)
  /// The head unit would refuse it again, so that there is no sound on this connection, whatever becomes of video.
  case refused(AudioStartFailure, isVideoStreaming: Bool)
  /// Upstream can't send the head unit's format.
  case wrongFormat(input: PCMFormat, headUnit: PCMFormat)
}

extension AudioProblem: CustomStringConvertible {
  /// What happened, and advice.
  package var description: String {
    switch self {
    case .startRefused(let failure, nil):
      "\(Self.sentence(failure)) Trying again when the app is audible."
    case .startRefused(let failure, let time?):
      "\(Self.sentence(failure)) Trying again in \(time.inTenthsOfSeconds)."
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
