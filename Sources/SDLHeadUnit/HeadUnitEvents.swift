import SDLMessages
import SDLWire

extension HeadUnitSession {
  /// What the owner of the session has to do, in order.
  public enum Action: Equatable, Sendable {
    /// Whole frames for the transport.
    case send([UInt8])
    /// Whole frames for the secondary transport.
    case sendOnSecondary([UInt8])
    case report(Event)
    /// The secondary transport is over. Close it after everything sent on it has been written.
    case closeSecondary
    /// The session is over, or the transport is unusable. Close the transport after everything sent has been written, unless
    /// only the session is over and the transport has others.
    case close(CloseScope)
  }

  /// What ``Action/close(_:)`` is about.
  public enum CloseScope: Equatable, Sendable {
    case session
    case transport
  }

  /// What happened in the session.
  public enum Event: Equatable, Sendable {
    /// RegisterAppInterface has succeeded, with this result.
    case appRegistered(name: String, id: String, types: [AppHMIType], protocolVersion: ProtocolVersion, ResultCode)
    /// RegisterAppInterface was refused; name and id are those of the request, empty if they are missing.
    case registrationRefused(name: String, id: String, ResultCode)
    case hmiStatusSent(HMIStatus)
    /// OnHMIStatus, of which only the system context is new: what is in front of the app on the screen.
    case systemContextSent(HMIStatus)
    /// OnTouchEvent was sent.
    case touchSent(OnTouchEvent)
    /// What the driver did has reached the app.
    case driverInput(DriverInput)
    /// What the driver did has no effect on the app.
    case driverInputWithoutEffect(DriverInput, DriverInputFault)
    /// The app shows something in front of its screen, for at most this time. The inputs are those that end it sooner.
    case interactionShown(FunctionID, for: Duration, [DriverInput])
    /// What the app showed is over, with the result in the response.
    case interactionEnded(FunctionID, ResultCode)
    /// StartService(video) of a registered app; reported before the answer to it.
    case videoStartRequested(VideoServiceParameters)
    /// StartServiceACK(video), with the acknowledged parameters.
    case videoStarted(VideoServiceParameters, on: TransportRole)
    /// StartServiceNAK(video).
    case videoRefused(ServiceRejection)
    /// One message of the video service, as reassembled, while the app may stream; of H.264 over RTP an access unit as a
    /// byte stream (Annex B) instead.
    case videoData([UInt8])
    /// The RTP timestamp, in units of 1/90 000 s, of the ``videoData(_:)`` that follows.
    case videoTimestamp(UInt32)
    /// Video that is lost, because no player is connected (``HeadUnitBehaviour/player-swift.property``).
    case videoMissed
    /// The service is open, but no video has come for this long; allowed while the app is suspended.
    case videoDataStopped(after: Duration)
    case videoStopped(reason: StreamStopReason)
    /// StartService(audio) of a registered app; reported before the answer to it.
    case audioStartRequested
    /// The app has asked for encrypted sound, and is answered in clear.
    case audioInClear
    /// StartServiceACK(audio): what the app has to send.
    case audioStarted(PCMFormat, on: TransportRole)
    /// StartServiceNAK(audio).
    case audioRefused(ServiceRejection)
    /// One message of the audio service, as reassembled, while the app may be heard.
    case audioData([UInt8])
    /// The counters are those of all audio services so far.
    case audioStopped(reason: StreamStopReason, AudioStreamStatistics)
    case appUnregistered(reason: UnregistrationReason)
    /// RegisterSecondaryTransportACK.
    case secondaryTransportRegistered
    /// RegisterSecondaryTransportNAK on a connection that is closed then.
    case secondaryTransportRefused(SecondaryRefusal)
    /// The secondary transport is gone, by either side; its services have ended.
    case secondaryTransportLost
    /// The RPCs of the app, and those to it, are encrypted from now on.
    case rpcProtected
    /// A TLS handshake with the app is complete.
    case secured(SecureChannelSummary)
    /// It has failed, or was not answered; the start of video goes on in clear or is refused.
    case handshakeFailed(String)
    /// The app broke a rule.
    case violation(Violation)
    /// OnAppCapabilityUpdated: the formats that the app can stream.
    case appCapability(VideoStreamingCapability)
    /// An update of the capability is kept until the app subscribes to them (GetSystemCapability).
    case capabilityUpdateDeferred
    /// The status of the app on the phone (OnHMIStatus from the app to the head unit).
    case appHMIStatus(HMIStatus)
    /// SendHapticData: the app's new list of touchable rectangles, which may be empty.
    case hapticRectangles([HapticRectangle])
  }

  /// Why a service that carries media is over.
  public enum StreamStopReason: Equatable, Sendable {
    /// EndService from the app.
    case endedByApp
    /// ``HeadUnitSession/endVideoService(now:)``, ``HeadUnitSession/endAudioService(now:)``.
    case endedByHeadUnit
    /// The HMI level became NONE.
    case hmiLevelNone
    /// The app kept sending while its HMI status forbade it.
    case streamingForbidden
    /// Another app started its video service.
    case otherAppStarted
    /// The registration or the session ended.
    case unregistered
    case transportLost
  }

  /// Why the registration is over.
  public enum UnregistrationReason: Equatable, Sendable {
    /// UnregisterAppInterface from the app.
    case requestedByApp
    /// EndService(RPC) from the app.
    case sessionEndedByApp
    /// The head unit sent OnAppInterfaceUnregistered.
    case headUnit(UnregisteredReason)
    /// A heartbeat stayed unanswered.
    case heartbeatTimeout
    /// Too much garbage; the transport is closed.
    case malformedFrames
    case transportLost
  }
}
