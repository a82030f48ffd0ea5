/// Errors of a video stream, with advice for the user.
package enum VideoProblem: Error, Equatable, Sendable {
  /// The consequence of a refused start.
  package enum Outlook: Equatable, Sendable {
    /// Nil when the HMI level does not allow video: not before the driver opens the app.
    case retry(after: Duration?)
    /// A sentence.
    case next(String)
  }

  /// The head unit lists no format that can be sent, or none that the user allows.
  case noCommonFormat(offered: [VideoStreamingFormat], allowed: [VideoStreamingProtocol]?)
  /// The head unit wants pictures that are larger than the user allows. `others`: it has other displays besides.
  case tooLarge([VideoSize], largest: VideoSize, others: Bool)
  /// The app supports none of the head unit's displays.
  case noSupportedDisplay(String)
  /// `resize-policy=error`.
  case resizeForbidden(from: VideoSize, to: VideoSize)
  case sizeMismatch(SizeMismatch)
  case startRefused(VideoStartFailure, VideoStartRequest, Outlook)
  /// Everything was refused.
  case exhausted(VideoStartFailure, VideoStartLadder, isInputRaw: Bool)

  /// Whether the head unit's permission is missing, rather than a format.
  package var concernsPermission: Bool {
    if case .startRefused(_, _, .retry) = self { true } else { false }
  }

  /// For developers.
  package var details: String? {
    if case .startRefused(_, let request, _) = self { "requested \(request)" } else { nil }
  }
}

extension VideoProblem: CustomStringConvertible {
  /// What happened, and advice.
  package var description: String {
    switch self {
    case .noCommonFormat(let offered, let allowed):
      let takes = offered.map(\.description).joined(separator: ", ")
      let sends = (allowed ?? VideoStreamingProtocol.allCases).map(\.rawValue).joined(separator: ", ")
      return "There is no common format: the head unit takes \(takes), and the sink sends H264 over \(sends)"
        + (allowed == nil ? "." : " as set by video-formats.")
    case .tooLarge(let sizes, let largest, others: true):
      return "The head unit's display of \(Self.names(sizes)) is left out, because that has more pixels than "
        + "max-width × max-height, \(largest)."
    case .tooLarge(let sizes, let largest, others: false):
      return "The head unit takes only pictures of \(Self.names(sizes)), which have more pixels than "
        + "max-width × max-height, \(largest): raise these properties if this machine has the memory and computing "
        + "time for such pictures."
    case .noSupportedDisplay(let reason): return reason
    case .resizeForbidden(let size, let offered):
      return "The head unit resizes the picture from \(size) to \(offered), which resize-policy=error forbids."
    case .sizeMismatch(let mismatch):
      let advice = mismatch.isRaw ? Self.scaleAdvice : "encode the stream in a size that the head unit takes"
      return "\(mismatch): \(advice)."
    case .startRefused(let failure, _, .retry(nil)):
      return "\(failure.sentence) Trying again \(Self.reopening)."
    case .startRefused(let failure, _, .retry(let time?)):
      let retry = "Trying again in \(time.inTenthsOfSeconds)"
      return "\(failure.sentence) \(retry), or, if the app has left the screen by then, \(Self.reopening)."
    case .startRefused(let failure, _, .next(let sentence)): return "\(failure.sentence) \(sentence)"
    case .exhausted(let failure, let ladder, let isRaw):
      let attempts = ladder.attempts.map(\.description).joined(separator: "; ")
      let text = "\(failure.sentence) No other format or size is left to try. Tried: \(attempts)."
      guard ladder.isInputFixed else { return text }
      let untried = ladder.sizes.map(\.description).joined(separator: ", ")
      let advice = isRaw ? Self.scaleAdvice : "encode the stream in such a size"
      return text + " The head unit offers \(untried) too, but the size of the input can't change: \(advice)."
    }
  }

  /// Each once.
  private static func names(_ sizes: [VideoSize]) -> String {
    sizes.reduce(into: [String]()) { if !$0.contains("\($1)") { $0.append("\($1)") } }.joined(separator: ", ")
  }

  fileprivate static let reopening = "when the driver opens the app again"
  private static let scaleAdvice = "put videoconvertscale before sdlvideosink"
}

extension SizeMismatch: CustomStringConvertible {
  /// "The input is 640×480, but the head unit takes 800×480".
  package var description: String {
    "The input is \(size.map { "\($0)" } ?? "of unknown size"), but the head unit takes \(accepted)"
      + (rejectionReason.map { " (\($0))" } ?? "")
  }
}

extension VideoStartLadder {
  /// The consequence of the refusal of `request`, as a sentence.
  /// - Parameter isHidden: whether the driver has to open the app before.
  func outlook(for request: VideoStartRequest, isHidden: Bool) -> String {
    let time = isHidden ? " \(VideoProblem.reopening)" : ""
    if !allows(request.size) {
      let names = sizes.map(\.description).reduce(into: [String]()) { names, name in
        if !names.contains(name) { names.append(name) }
      }
      return "Trying another size\(time): \(names.joined(separator: ", "))."
    }
    return self.request(for: request.size).map { "Trying \($0)\(time)." } ?? ""
  }
}

extension VideoStartFailure {
  fileprivate var sentence: String {
    let text = description
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}
