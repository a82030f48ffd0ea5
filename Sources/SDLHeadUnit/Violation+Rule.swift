import SDLMessages
import SDLWire

extension Violation {
  /// The rule's name for programs, such as "video-while-forbidden".
  public var rule: String {
    switch self {
    case .malformedBytes: "malformed-bytes"
    case .messageIDZero: "message-id-zero"
    case .tooManyMalformedFrames: "too-many-malformed-frames"
    case .tooManyFrames: "too-many-frames"
    case .tooManyViolations: "too-many-violations"
    case .headerVersion: "header-version"
    case .sessionID: "session-id"
    case .noSession: "no-session"
    case .encryptedFrame: "encrypted-frame"
    case .clearFrame: "clear-frame"
    case .undecryptableFrame: "undecryptable-frame"
    case .brokenMessage: "broken-message"
    case .unexpectedControlFrame: "unexpected-control-frame"
    case .malformedRPC: "malformed-rpc"
    case .tooManyRequests: "too-many-requests"
    case .notificationNotAllowed: "notification-not-allowed"
    case .wrongTransport: "wrong-transport"
    case .startBeforeRegistration: "start-before-registration"
    case .startWhileActive: "start-while-active"
    case .endOfServiceNotRunning: "end-of-service-not-running"
    case .hashID: "hash-id"
    case .endServiceNotAcknowledged: "end-service-not-acknowledged"
    case .heartbeatUnanswered: "heartbeat-unanswered"
    case .dataBeforeAcknowledgement: "data-before-acknowledgement"
    case .dataWithoutService: "data-without-service"
    case .dataAfterEndService: "data-after-end-service"
    case .videoWhileForbidden: "video-while-forbidden"
    case .appCapability(.version): "app-capability-version"
    case .appCapability(.empty): "app-capability-empty"
    case .appCapability(.rootNotEmpty): "app-capability-root"
    case .appCapability(.duplicate): "app-capability-duplicate"
    case .appCapability(.notOffered): "app-capability-not-offered"
    case .haptics(.notSupported): "haptics-not-supported"
    case .haptics(.repeatedID): "haptics-repeated-id"
    case .haptics(.outsideDisplay): "haptics-outside-display"
    case .audioWhileForbidden: "audio-while-forbidden"
    case .audio(.partialSample): "partial-sample"
    case .audio(.fasterThanRealTime): "audio-faster-than-real-time"
    case .stream(let violation): violation.rule
    }
  }

  /// The numbers in it, with their names; times are in milliseconds.
  public var numbers: [(name: String, value: Int)] {
    switch self {
    case .tooManyMalformedFrames(let limit, let time), .tooManyFrames(let limit, let time),
      .tooManyViolations(let limit, let time), .tooManyRequests(let limit, let time):
      [("limit", limit), ("within-ms", time.milliseconds)]
    case .headerVersion(let expected, let got), .sessionID(let expected, let got):
      [("expected", Int(expected)), ("got", Int(got))]
    case .hashID(let expected, let got): [("expected", Int(expected))] + (got.map { [("got", Int($0))] } ?? [])
    case .endServiceNotAcknowledged(_, let time), .heartbeatUnanswered(let time), .dataAfterEndService(_, let time),
      .videoWhileForbidden(let time), .audioWhileForbidden(let time):
      [("after-ms", time.milliseconds)]
    case .appCapability(.duplicate(let index)), .appCapability(.notOffered(let index, _)): [("index", index)]
    case .haptics(.repeatedID(let id)): [("id", id)]
    case .audio(.partialSample(let byteCount, let size)): [("bytes", byteCount), ("sample-bytes", size)]
    case .audio(.fasterThanRealTime(let time)): [("ahead-ms", time.milliseconds)]
    case .stream(let violation): violation.numbers
    default: []
    }
  }
}

extension VideoStreamViolation {
  /// See ``Violation/rule``.
  public var rule: String {
    switch self {
    case .notByteStream: "not-byte-stream"
    case .firstNALUnit: "first-nal-unit"
    case .missingPictureParameterSet: "missing-picture-parameter-set"
    case .pictureBeforeKeyFrame: "picture-before-key-frame"
    case .unreadableSequenceParameterSet: "unreadable-sequence-parameter-set"
    case .pictureSize: "picture-size"
    case .frameRate: "frame-rate"
    case .bitrate: "bitrate"
    case .rtp: "rtp"
    case .tooManyAccessUnits: "too-many-access-units"
    }
  }

  /// See ``Violation/numbers``.
  public var numbers: [(name: String, value: Int)] {
    switch self {
    case .notByteStream(let byte): [("first-byte", Int(byte))]
    case .firstNALUnit(let type): [("nal-unit-type", Int(type))]
    case .pictureSize(let expected, let got):
      [
        ("expected-width", expected.width), ("expected-height", expected.height), ("width", got.width),
        ("height", got.height),
      ]
    case .frameRate(let pictures, let limit, let time):
      [("pictures", pictures), ("limit", limit), ("within-ms", time.milliseconds)]
    case .bitrate(let bits, let limit, let time):
      [("bits", bits), ("limit", limit), ("within-ms", time.milliseconds)]
    case .tooManyAccessUnits(let limit): [("limit", limit)]
    default: []
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Int {
    let (seconds, attoseconds) = components
    let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    return overflow ? .max : Int(clamping: milliseconds &+ attoseconds / 1_000_000_000_000_000)
  }
}
