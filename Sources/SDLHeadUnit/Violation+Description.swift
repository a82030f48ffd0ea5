import SDLMessages
import SDLWire

extension Violation: CustomStringConvertible {
  /// One sentence for the developer of the app.
  public var description: String {
    switch self {
    case .malformedBytes(let reason): "bytes that are no frame (\(reason))"
    case .messageIDZero(let service): "message id 0 in a data frame of the \(service) service"
    case .tooManyMalformedFrames(let limit, let time): "more than \(limit) malformed frames within \(time.inSeconds)"
    case .tooManyFrames(let limit, let time): "more than \(limit) frames within \(time.inSeconds)"
    case .tooManyViolations(let limit, let time):
      "more than \(limit) violations within \(time.inSeconds), of which no more are reported"
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
  public var description: String {
    switch self {
    case .partialSample(let byteCount, let size):
      "\(byteCount) bytes of sound, which are no whole samples of \(size) bytes"
    case .fasterThanRealTime(let time): "sound that is sent faster than it is played, by \(time.inSeconds) so far"
    }
  }
}

extension VideoStreamViolation: CustomStringConvertible {
  /// One sentence for the developer of the app.
  public var description: String {
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
    case .tooManyAccessUnits(let limit): "more than \(limit) access units in one message, of which the rest is left out"
    }
  }
}
