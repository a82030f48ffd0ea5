/// The parameters of a start of a media service.
package protocol StreamRequest: Hashable, Sendable {
  /// "video" or "audio", for messages to the user.
  static var mediaName: String { get }
}

/// Why a stream could not start. It is tried again unless the failure ``isFinal(for:)`` the request.
package enum StreamStartFailure<Request: StreamRequest>: Error, Equatable, Sendable, CustomStringConvertible {
  /// StartServiceNAK.
  case refused(rejectedParameters: [String], reason: String?)
  /// StartServiceACK for a format that can't be sent; `format` is its name for messages.
  case unusableAnswer(rejectedParameters: [String], format: String)
  /// `count` StartServiceNAKs in a row that named no parameter; `reason` is that of the last.
  case keptRefusing(count: Int, reason: String?)
  /// Neither ACK nor NAK came in time.
  case unanswered
  /// Neither ACK nor NAK came in time, while a TLS handshake was under way.
  case handshakeUnfinished
  /// The head unit ended the service so soon after its start, and not for the first time.
  case endedEarly(after: Duration)

  /// The keys of the request that the head unit refused.
  package var rejectedParameters: [String] {
    switch self {
    case .refused(let parameters, _), .unusableAnswer(let parameters, _): parameters
    case .keptRefusing, .unanswered, .handshakeUnfinished, .endedEarly: []
    }
  }

  /// Another size may be accepted.
  package var concernsSize: Bool { rejectedParameters.contains { $0 == "width" || $0 == "height" } }

  /// Another codec or protocol may be accepted.
  package var concernsFormat: Bool { rejectedParameters.contains { $0 == "videoCodec" || $0 == "videoProtocol" } }

  /// The head unit accepts this service only encrypted, by the text of its refusal: SDL Core has "Allowed only in
  /// protected mode", and "unprotected" for the opposite.
  package var concernsProtection: Bool {
    guard case .refused(_, let reason?) = self else { return false }
    return reason.contains("protected") && !reason.contains("unprotected")
  }

  /// A text for messages to the user.
  package var description: String {
    switch self {
    case .unanswered: "the head unit did not answer the request to start \(Request.mediaName)"
    case .handshakeUnfinished:
      "the head unit did not answer the request to start encrypted \(Request.mediaName), and no TLS handshake was "
        + "completed"
    case .endedEarly(let time):
      "the head unit accepts \(Request.mediaName), but ends it again \(Self.text(time)); its HMI may not accept the "
        + "stream"
    case .unusableAnswer(_, let format):
      "the head unit accepts \(Request.mediaName), but as \(format), which can't be sent"
    case .keptRefusing(let count, let reason):
      "the head unit has refused to start \(Request.mediaName) \(count) times" + (reason.map { ": \($0)" } ?? "")
    case .refused(let parameters, let reason):
      "the head unit refused to start \(Request.mediaName)"
        + (parameters.isEmpty ? "" : ", rejecting \(parameters.joined(separator: ", "))")
        + (reason.map { ": \($0)" } ?? "") + (concernsProtection ? " (see the property encryption)" : "")
    }
  }

  private static func text(_ time: Duration) -> String {
    time < .seconds(1) ? "at once" : "after \(time.inTenthsOfSeconds)"
  }
}

extension StreamStartFailure where Request: ServiceRequest {
  /// Whether the same request would only be refused again. A start without parameters has none that could be named.
  func isFinal(for request: Request) -> Bool {
    switch self {
    case .refused, .unusableAnswer:
      request.isBare || concernsSize || concernsFormat
    case .keptRefusing: true
    case .unanswered, .handshakeUnfinished, .endedEarly: false
    }
  }
}

package typealias VideoStartFailure = StreamStartFailure<VideoStartRequest>
package typealias AudioStartFailure = StreamStartFailure<AudioStartRequest>
