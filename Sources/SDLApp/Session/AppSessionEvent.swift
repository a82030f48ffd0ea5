extension AppSession {
  /// Actions for the caller, in order.
  package enum Action: Equatable, Sendable {
    /// Whole frames for the transport; never dropped, sent before any further frame of video or audio.
    case send([UInt8])
    /// As ``send(_:)``, encrypted by ``AppSession/secureChannel`` when it is written.
    case sendProtected(ProtectedMessage)
    /// As ``send(_:)``, on the secondary transport.
    case sendOnSecondary([UInt8])
    /// Connect to this address for a secondary transport, and report the result with the number of the attempt: first
    /// ``AppSession/secondaryConnected(attempt:now:)``, then, or instead of it,
    /// ``AppSession/secondaryClosed(attempt:reason:now:)``.
    case openSecondary(TransportAddress, attempt: UInt32)
    /// Close the secondary transport, or give up the attempt.
    case closeSecondary
    case report(Event)
    /// Of a session with ``Configuration/reportsMessages``: an RPC or a control frame, before it is sent, or before its
    /// effects.
    case note(ConversationMessage)
    /// Close the transport once everything has been written; the session is over.
    case close
  }

  package enum Event: Equatable, Sendable {
    /// The session has begun; the app is not registered yet.
    case sessionStarted(ProtocolVersion)
    case registered(HeadUnitInfo)
    /// The status of the main window has changed, or was repeated.
    case hmiStatus(HMIStatus)
    /// The head unit's video capability, at first and after each change. `fallbackSize` is for head units that announce
    /// no size: that of the screen or, on an old screen that enlarges pictures, that of the pictures.
    case videoCapability(VideoStreamingCapability?, fallbackSize: VideoSize?)
    case videoStarted(VideoGrant)
    case videoStopped(StreamStopReason)
    /// `retryAfter` is nil when nothing is tried again by itself.
    case videoStartFailed(VideoStartFailure, request: VideoStartRequest, retryAfter: Duration?)
    case audioStarted(AudioGrant)
    case audioStopped(StreamStopReason)
    /// `retryAfter` is nil when nothing is tried again by itself.
    case audioStartFailed(AudioStartFailure, retryAfter: Duration?)
    case driverDistraction(OnDriverDistraction)
    /// The touches of one message of the head unit, in pixels of the stream.
    case touch([TouchAction])
    /// The driver uses a button of the car that the app has subscribed to.
    case button(ButtonNotification)
    /// The key event for the button; also repeats while it is held, and the release.
    case keys([KeyAction])
    /// The answer to an RPC request of the application, or a notification that it wants.
    case applicationRPC(RPCMessage)
    case secondaryTransportChanged(SecondaryTransportStatus)
    /// Something about the transports that the user should know; a text that can follow a colon.
    case transportProblem(String)
    /// Forget all fingers that are down, because the stream is suspended, stops, or is shown elsewhere.
    case touchInterrupted
    /// The head unit refuses touchable rectangles although it asked for them. Once for each code, up to 32.
    case hapticRectanglesRefused(resultCode: String, info: String?)
    /// The head unit refuses the app's name (ChangeRegistration) or icon (PutFile, SetAppIcon); this has no other
    /// consequences.
    case presentationRefused(FunctionID, resultCode: String, info: String?)
    /// A TLS handshake with the head unit is complete.
    case secured(SecureChannelSummary)
    /// Encrypted video, or sound, was requested, but starts in clear; why, in a form that can follow a colon. Only with
    /// ``EncryptionPolicy/prefer``.
    case mediaInClear(ServiceType, String)
    /// RPCs are encrypted from now on, as the head unit's policy or the app requires.
    case rpcProtected
    /// RPCs are not encrypted although the policy requires it, so the head unit may refuse some; why, in a form that
    /// can follow a colon.
    case rpcInClear(String)
    /// A notification came in clear although RPCs are encrypted, and the app takes none in clear. Once in a session.
    case rpcIgnored(FunctionID)
    /// Something unexpected without consequences, for the log.
    case diagnostic(String)
    /// The session has ended without the app having asked for it. At most once.
    case failed(AppSessionFailure)
  }
}
