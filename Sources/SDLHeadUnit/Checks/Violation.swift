import H264
import SDLMessages
import SDLWire

/// A rule of SDL that the app broke, with the values that show it.
package enum Violation: Equatable, Sendable {
  case malformedBytes(FrameHeader.InvalidHeader)
  /// A rule of the transport below SDL, in a form that can follow a colon.
  case transport(String)
  /// SDL Core refuses message id 0 in data frames.
  case messageIDZero(ServiceType)
  /// More than 10 malformed frames in a second; the transport is closed.
  case tooManyMalformedFrames(limit: Int, within: Duration)
  /// More than 1000 frames in a second, the data of audio and video aside; the app is unregistered.
  case tooManyFrames(limit: Int, within: Duration)
  /// More than 100 violations in a second; until there are fewer, they are not reported.
  case tooManyViolations(limit: Int, within: Duration)
  /// The frame is not of the negotiated version.
  case headerVersion(expected: UInt8, got: UInt8)
  case sessionID(expected: UInt8, got: UInt8)
  /// Anything but StartService(RPC) before there is a session.
  case noSession(ServiceType)
  /// Marked as encrypted on a service that is not.
  case encryptedFrame(ServiceType)
  /// In clear on an encrypted service. Reported once per start of the service.
  case clearFrame(ServiceType)
  /// Its payload is no whole TLS records, or was changed; the app is unregistered.
  case undecryptableFrame(ServiceType)
  case brokenMessage(ServiceType, MessageAssembler.Failure)
  /// A control frame that only head units send.
  case unexpectedControlFrame(ControlFrame, ServiceType)

  case malformedRPC(RPCMessage.Malformed)
  /// More requests than allowed, in any level: SDL Core does not apply the lower limit of its settings for NONE
  /// (observed).
  case tooManyRequests(limit: Int, within: Duration)
  case notificationNotAllowed(FunctionID, HMILevel?)
  /// A rule for OnAppCapabilityUpdated (SDL-0332).
  case appCapability(AppCapabilityFault)

  /// On another transport than `expected`, which is the service's for media, and the primary one for everything else.
  /// Of a service's data only the first frame is reported.
  case wrongTransport(ServiceType, expected: TransportRole)
  case startBeforeRegistration(ServiceType)
  case startWhileActive(ServiceType)
  case endOfServiceNotRunning(ServiceType)
  case hashID(expected: Int32, got: Int32?)
  case endServiceNotAcknowledged(ServiceType, after: Duration)
  case heartbeatUnanswered(after: Duration)
  /// Data of a service whose start is not acknowledged yet.
  case dataBeforeAcknowledgement(ServiceType)
  /// Data on a service that was never started.
  case dataWithoutService(ServiceType)
  /// Data this long after the service ended.
  case dataAfterEndService(ServiceType, after: Duration)
  /// Data this long after an HMI status that forbids video.
  case videoWhileForbidden(for: Duration)
  /// Data this long after an HMI status that forbids sound, because of its level or because the app is not audible.
  case audioWhileForbidden(for: Duration)

  case haptics(HapticFault)

  case stream(VideoStreamViolation)
  case audio(AudioStreamViolation)
}

/// A rule of the audio service that the app broke.
package enum AudioStreamViolation: Equatable, Sendable {
  /// A message that is not made of whole samples.
  case partialSample(byteCount: Int, sampleByteCount: Int)
  /// Sound is ahead of its playback by this time. Reported once, until all sound has been played.
  case fasterThanRealTime(by: Duration)
}

/// A fault of touchable rectangles that SDL Core accepts.
package enum HapticFault: Equatable, Sendable {
  /// The capability does not support them (`hapticSpatialDataSupported`).
  case notSupported
  /// Two rectangles of a list have this id.
  case repeatedID(Int)
  case outsideDisplay(HapticRectangle, display: VideoSize)
}

/// A rule of the video stream (H.264, RTP, and the limits of the capability) that the app broke.
package enum VideoStreamViolation: Equatable, Sendable {
  /// Bytes before the first start code of a service.
  case notByteStream(firstByte: UInt8)
  /// The first NAL unit after a start, or after a pause of more than a second, is not an SPS; the type is as in the
  /// H.264 specification, table 7-1.
  case firstNALUnit(type: UInt8)
  /// A key frame without a PPS since the last start.
  case missingPictureParameterSet
  case pictureBeforeKeyFrame
  case unreadableSequenceParameterSet
  case pictureSize(expected: VideoSize, got: VideoSize)
  /// Pictures within the window, where at most `limit` are allowed.
  case frameRate(pictures: Int, limit: Int, within: Duration)
  /// Bits within the window, where at most `limit` are allowed.
  case bitrate(bits: Int, limit: Int, within: Duration)
  /// A rule of RTP; each is reported once per service.
  case rtp(RTPFault)
  /// More access units than this over RTP in one message; the others are left out. Reported once per service.
  case tooManyAccessUnits(limit: Int)
}

extension Violation: CustomStringConvertible {
  /// One sentence for the developer of the app.
  package var description: String {
    switch self {
    case .malformedBytes(let reason): "bytes that are not a frame (\(reason))"
    case .transport(let fault): fault
    case .messageIDZero(let service): "message id 0 in a data frame of the \(service) service"
    case .tooManyMalformedFrames(let limit, let time): "more than \(limit) malformed frames within \(time.inSeconds)"
    case .tooManyFrames(let limit, let time): "more than \(limit) frames within \(time.inSeconds)"
    case .tooManyViolations(let limit, let time):
      "more than \(limit) violations within \(time.inSeconds); no more are reported"
    case .headerVersion(let expected, let got): "frame of protocol version \(got) in a session of version \(expected)"
    case .sessionID(let expected, let got): "frame of session \(got), but the session is \(expected)"
    case .noSession(let service): "frame of the \(service) service before a session was started"
    case .encryptedFrame(let service): "encrypted frame on the \(service) service, which is not encrypted"
    case .clearFrame(let service): "frame in clear on the \(service) service, which is encrypted"
    case .undecryptableFrame(let service): "frame on the \(service) service that can't be decrypted"
    case .brokenMessage(let service, let failure): "broken message on the \(service) service (\(failure))"
    case .unexpectedControlFrame(let frame, let service):
      "\(frame.name) on the \(service) service is for head units only"
    case .malformedRPC(let reason): "unreadable RPC (\(reason))"
    case .tooManyRequests(let limit, let time): "more than \(limit) requests within \(time.inSeconds)"
    case .notificationNotAllowed(let function, let level):
      "\(function) is not allowed at HMI level \(level?.rawValue ?? "unknown")"
    case .appCapability(let fault): "OnAppCapabilityUpdated \(fault)"
    case .wrongTransport(let service, let expected):
      "frame of the \(service) service on a transport other than the \(expected) one, where it belongs"
    case .startBeforeRegistration(let service): "start of the \(service) service before the app was registered"
    case .startWhileActive(let service): "start of the \(service) service, which is active already"
    case .endOfServiceNotRunning(let service): "end of the \(service) service, which is not running"
    case .hashID(let expected, let got):
      "end of the session with hash \(got.map { "\($0)" } ?? "missing"), not \(expected)"
    case .endServiceNotAcknowledged(let service, let time):
      "EndService of the \(service) service not acknowledged after \(time.inSeconds)"
    case .heartbeatUnanswered(let time): "heartbeat not answered after \(time.inSeconds)"
    case .haptics(.notSupported): "touchable rectangles, which this head unit does not support"
    case .haptics(.repeatedID(let id)): "two touchable rectangles with the id \(id)"
    case .haptics(.outsideDisplay(let rectangle, let display)):
      "the touchable rectangle \(rectangle) is not within the display of \(display)"
    case .dataBeforeAcknowledgement(let service):
      "data on the \(service) service before its start was acknowledged"
    case .dataWithoutService(let service): "data on the \(service) service, which was not started"
    case .dataAfterEndService(let service, let time): "data on the \(service) service \(time.inSeconds) after its end"
    case .videoWhileForbidden(let time): "video \(time.inSeconds) after the HMI status forbade it"
    case .audioWhileForbidden(let time): "sound \(time.inSeconds) after the HMI status forbade it"
    case .stream(let violation): violation.description
    case .audio(let violation): violation.description
    }
  }
}

extension AudioStreamViolation: CustomStringConvertible {
  /// One sentence for the developer of the app.
  package var description: String {
    switch self {
    case .partialSample(let byteCount, let size):
      "\(byteCount) bytes of sound, not a whole number of samples of \(size) bytes"
    case .fasterThanRealTime(let time): "sound that is sent faster than it is played, by \(time.inSeconds) so far"
    }
  }
}

extension VideoStreamViolation: CustomStringConvertible {
  /// One sentence for the developer of the app.
  package var description: String {
    switch self {
    case .notByteStream(let byte):
      "the video is not an H.264 byte stream: it begins with byte \(byte), not a start code"
    case .firstNALUnit(let type): "the video begins, or resumes after a pause, with NAL unit type \(type), not an SPS"
    case .missingPictureParameterSet: "key frame without a PPS before it"
    case .pictureBeforeKeyFrame: "picture before the first key frame"
    case .unreadableSequenceParameterSet: "unreadable SPS"
    case .pictureSize(let expected, let got): "pictures of \(got), where \(expected) was accepted"
    case .frameRate(let pictures, let limit, let time):
      "\(pictures) pictures within \(time.inSeconds), where at most \(limit) are allowed"
    case .bitrate(let bits, let limit, let time):
      "\(bits) bits within \(time.inSeconds), where at most \(limit) are allowed"
    case .rtp(let fault): fault.text
    case .tooManyAccessUnits(let limit): "more than \(limit) access units in one message; the rest is left out"
    }
  }
}

extension Violation {
  /// The rule's name for programs, such as "video-while-forbidden".
  package var rule: String {
    switch self {
    case .malformedBytes: "malformed-bytes"
    case .transport: "transport"
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
  package var numbers: [(name: String, value: Int)] {
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
  package var rule: String {
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
  package var numbers: [(name: String, value: Int)] {
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
