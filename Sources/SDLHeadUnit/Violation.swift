import H264
import SDLMessages
import SDLWire

/// A rule of SDL that the app broke, with the values that show it.
public enum Violation: Equatable, Sendable {
  case malformedBytes(FrameHeader.InvalidHeader)
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
  /// In clear on a service that is encrypted. Reported once per start of the service.
  case clearFrame(ServiceType)
  /// Its payload is no whole TLS records, or was changed; the app is unregistered.
  case undecryptableFrame(ServiceType)
  case brokenMessage(ServiceType, MessageAssembler.Failure)
  /// A control frame that only head units send.
  case unexpectedControlFrame(ControlFrame, ServiceType)

  case malformedRPC(RPCMessage.Malformed)
  /// More requests than allowed, in any level: SDL Core was not seen to keep to the lower limit of its settings for NONE.
  case tooManyRequests(limit: Int, within: Duration)
  case notificationNotAllowed(FunctionID, HMILevel?)
  /// A rule for OnAppCapabilityUpdated (SDL-0332).
  case appCapability(AppCapabilityFault)

  /// On the other transport than `expected`: of media that where the service runs, of everything else the primary one. Of
  /// a service's data only the first frame is reported.
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

/// A rule of the sound that the app broke.
public enum AudioStreamViolation: Equatable, Sendable {
  /// A message that is not made of whole samples.
  case partialSample(byteCount: Int, sampleByteCount: Int)
  /// More sound than can have been played, by this time. Reported once, until the app has nothing left to be played.
  case fasterThanRealTime(by: Duration)
}

/// A fault of touchable rectangles that SDL Core does not refuse.
public enum HapticFault: Equatable, Sendable {
  /// The capability does not support them (`hapticSpatialDataSupported`).
  case notSupported
  /// Two rectangles of a list have this id.
  case repeatedID(Int)
  /// It is not within the display.
  case outsideDisplay(HapticRectangle, display: ImageResolution)
}

/// A rule of the video stream (H.264, RTP, and the limits of the capability) that the app broke.
public enum VideoStreamViolation: Equatable, Sendable {
  /// Bytes before the first start code of a service.
  case notByteStream(firstByte: UInt8)
  /// The first NAL unit after a start, or after a pause of more than a second, is not an SPS; the type is as in the
  /// H.264 specification, table 7-1.
  case firstNALUnit(type: UInt8)
  /// A key frame without a PPS since the last start.
  case missingPictureParameterSet
  /// A picture before the first key frame.
  case pictureBeforeKeyFrame
  case unreadableSequenceParameterSet
  case pictureSize(expected: ImageResolution, got: ImageResolution)
  /// Pictures within the window, where at most `limit` are allowed.
  case frameRate(pictures: Int, limit: Int, within: Duration)
  /// Bits within the window, where at most `limit` are allowed.
  case bitrate(bits: Int, limit: Int, within: Duration)
  /// A rule of RTP; each is reported once per service.
  case rtp(RTPFault)
  /// More access units over RTP in one message; the others are left out. Reported once per service.
  case tooManyAccessUnits(limit: Int)
}
