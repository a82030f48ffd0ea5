import SDLMessages
import SDLWire

extension HeadUnitSession {
  /// What the owner of the session has to do, in order.
  public enum Action: Equatable, Sendable {
    /// Whole frames for the transport.
    case send([UInt8])
    case report(Event)
    /// Close the transport after everything sent has been written.
    case close
  }

  /// News for the head unit's own software.
  public enum Event: Equatable, Sendable {
    case appRegistered(name: String, id: String, types: [AppHMIType], protocolVersion: ProtocolVersion)
    case hmiStatusSent(HMIStatus)
    /// The app was told of fingers on the screen.
    case touchSent(OnTouchEvent)
    /// A StartService(video) of a registered app, before its answer.
    case videoStartRequested(VideoServiceParameters)
    /// What was acknowledged.
    case videoStarted(VideoServiceParameters)
    /// What was answered to a StartService(video).
    case videoRefused(ServiceRejection)
    /// One message of the video service, as reassembled, while the app may stream; of H.264 over RTP an access unit as a
    /// byte stream (Annex B) instead.
    case videoData([UInt8])
    /// Comes in front of the ``videoData(_:)`` that it belongs to, if that came over RTP: its timestamp, in 90 kHz.
    case videoTimestamp(UInt32)
    /// As ``videoData(_:)``, but nothing shows it: there is no player.
    case videoMissed
    /// The service is open but nothing came for this long; legal while the app is suspended.
    case videoDataStopped(after: Duration)
    case videoStopped(reason: VideoStopReason)
    case appUnregistered(reason: UnregistrationReason)
    /// The app broke a rule.
    case violation(Violation)
    /// What the app says it can stream (OnAppCapabilityUpdated).
    case appCapability(VideoStreamingCapability)
    /// An update of the capability is kept until the app subscribes to them (GetSystemCapability).
    case capabilityUpdateDeferred
    /// How the app stands on the phone (OnHMIStatus in the direction app to head unit).
    case appHMIStatus(HMIStatus)
    /// The app's list of touchable rectangles was replaced; an empty one was cleared.
    case hapticRectangles([HapticRectangle])
  }

  /// Why a video service is over.
  public enum VideoStopReason: Equatable, Sendable {
    /// EndService from the app.
    case endedByApp
    /// ``HeadUnitSession/endVideoService(now:)``.
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
