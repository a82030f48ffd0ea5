import SDLMessages
import SDLWire

extension HeadUnitSession {
  /// Actions for the owner of the session, in order.
  package enum Action: Equatable, Sendable {
    /// Whole frames for the transport.
    case send([UInt8])
    /// Whole frames for the secondary transport.
    case sendOnSecondary([UInt8])
    case report(Event)
    /// The secondary transport is over. Close it after everything sent on it has been written.
    case closeSecondary
    /// The session is over, or the transport is unusable. Close the transport after everything sent has been written,
    /// unless only the session is over and the transport has others.
    case close(CloseScope)
  }

  package enum CloseScope: Equatable, Sendable {
    case session
    case transport
  }

  package enum Event: Equatable, Sendable {
    /// Of a session with ``HeadUnitConfiguration/reportsMessages``: an RPC or a control frame, before its effects.
    case message(ConversationMessage)
    /// RegisterAppInterface has succeeded, with this result.
    case appRegistered(name: String, id: String, types: [AppHMIType], protocolVersion: ProtocolVersion, ResultCode)
    /// RegisterAppInterface was refused; name and id are those of the request, empty if they are missing.
    case registrationRefused(name: String, id: String, ResultCode)
    case hmiStatusSent(HMIStatus)
    /// OnHMIStatus in which only the system context is new: the overlay in front of the app.
    case systemContextSent(HMIStatus)
    case touchSent(OnTouchEvent)
    /// A finger touches the screen of an app at FULL whose policies grant no touches (``PolicyTable/unknownApp``).
    case touchWithheld
    /// An input of the driver has reached the app.
    case driverInput(DriverInput)
    case driverInputWithoutEffect(DriverInput, DriverInputFault)
    /// The app has subscribed to these buttons of the car, and to no others.
    case buttonsSubscribed(Set<String>)
    /// The app shows an overlay, for at most this time. The inputs end it earlier.
    case interactionShown(FunctionID, for: Duration, [DriverInput])
    /// Texts of the app are shown or spoken, such as those of a turn (ShowConstantTBT, UpdateTurnList, AlertManeuver)
    /// or of an alert.
    case textShown(FunctionID, [String])
    /// The app has another name, in the head unit's language (ChangeRegistration).
    case nameChanged(String)
    /// The app has an icon now: a file that it has sent.
    case iconSet(String, byteCount: Int)
    /// SystemRequest: the app answers the head unit's request, or makes one itself.
    case systemRequestAnswered(String, byteCount: Int)
    /// The app's overlay has ended, with the result in the response.
    case interactionEnded(FunctionID, ResultCode)
    /// StartService(video) of a registered app; reported before the answer to it.
    case videoStartRequested(VideoServiceParameters)
    /// StartServiceACK(video), with the acknowledged parameters.
    case videoStarted(VideoServiceParameters, on: TransportRole)
    /// StartServiceNAK(video).
    case videoRefused(ServiceRejection)
    /// One message of the video service, as reassembled, while the app may stream; for H.264 over RTP an access unit as
    /// a byte stream (Annex B).
    case videoData([UInt8])
    /// The RTP timestamp, in units of 1/90 000 s, of the ``videoData(_:)`` that follows.
    case videoTimestamp(UInt32)
    /// Video that is lost, because no player is connected (``HeadUnitBehaviour/player-swift.property``).
    case videoMissed
    /// The service is open, but no video has come for this long; allowed while the app is suspended.
    case videoDataStopped(after: Duration)
    case videoStopped(reason: StopReason)
    /// StartService(audio) of a registered app; reported before the answer to it.
    case audioStartRequested
    /// The app has requested encrypted sound, and is answered in clear.
    case audioInClear
    /// StartServiceACK(audio): the format that the app has to send.
    case audioStarted(PCMFormat, on: TransportRole)
    /// StartServiceNAK(audio).
    case audioRefused(ServiceRejection)
    /// One message of the audio service, as reassembled, while the app may be heard.
    case audioData([UInt8])
    /// The counters are those of all audio services so far.
    case audioStopped(reason: StopReason, AudioStreamStatistics)
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
    /// It has failed, or was not answered; the start of video or sound continues in clear or is refused.
    case handshakeFailed(String)
    case violation(Violation)
    /// OnAppCapabilityUpdated: the formats that the app can stream.
    case appCapability(VideoStreamingCapability)
    /// An update of the capability is kept until the app subscribes to updates (GetSystemCapability).
    case capabilityUpdateDeferred
    /// The status of the app on the phone (OnHMIStatus from the app to the head unit).
    case appHMIStatus(HMIStatus)
    /// SendHapticData: the app's new list of touchable rectangles, which may be empty.
    case hapticRectangles([HapticRectangle])
  }

  package enum StopReason: Equatable, Sendable {
    /// EndService from the app.
    case endedByApp
    /// ``HeadUnitSession/endService(_:_:now:)``.
    case endedByHeadUnit
    case hmiLevelNone
    /// The app kept sending while its HMI status forbade it.
    case streamingForbidden
    /// Another app started its video service.
    case otherAppStarted
    /// The registration or the session ended.
    case unregistered
    case transportLost
  }

  package enum UnregistrationReason: Equatable, Sendable {
    /// UnregisterAppInterface from the app.
    case requestedByApp
    /// EndService(RPC) from the app.
    case sessionEndedByApp
    /// A further RegisterAppInterface was invalid, which ends the session.
    case registrationRefused
    /// The head unit sent OnAppInterfaceUnregistered.
    case headUnit(UnregisteredReason)
    case heartbeatTimeout
    /// Too much garbage; the transport is closed.
    case malformedFrames
    case transportLost
  }
}

extension HeadUnitSession.Event {
  private static let mostRectangles = 4
  private static let mostInputs = 8
  private static let mostTypes = 8

  /// A line for the log, in which an app's texts can't fake anything; nil for frequent events, such as data.
  package var text: String? {
    switch self {
    case .message(let message): message.text
    case .appRegistered(let name, let id, let types, let version, let code):
      "registered \(name.quoted) (id \(id.quoted), \(Self.list(types.map(\.rawValue), most: Self.mostTypes)))"
        + " over protocol \(version): \(code.rawValue)"
    case .registrationRefused(let name, let id, let code):
      "registration of \(name.quoted) (id \(id.quoted)) refused: \(code.rawValue)"
    case .hmiStatusSent(let status): "HMI status \(status.text)"
    case .systemContextSent(let status): "system context \(status.systemContext.rawValue)"
    case .driverInput(let input): "\(input)".printable()
    case .driverInputWithoutEffect(let input, let fault): "without effect: \(input), because \(fault)".printable()
    case .interactionShown(let function, let time, let inputs):
      "\(function) for at most \(time.inSeconds)"
        + (inputs.isEmpty
          ? "" : ", or until: \(Self.list(inputs.map(\.description), most: Self.mostInputs))".printable())
    case .textShown(let function, let texts): "\(function) \(Self.list(texts.map(\.quoted), most: Self.mostInputs))"
    case .nameChanged(let name): "the app's name is \(name.quoted) now"
    case .iconSet(let name, let size): "the app's icon is \(name.quoted) now, \(size) bytes"
    case .systemRequestAnswered(let type, let size): "SystemRequest \(type.printable(limit: 100)), \(size) bytes"
    case .interactionEnded(let function, let code): "\(function) has ended: \(code.rawValue)"
    case .touchSent(let event):
      "touch \(event.kind?.rawValue ?? "")"
        + event.fingers.map { finger in
          " #\(finger.id)" + finger.samples.map { " (\($0.x), \($0.y))" }.joined()
        }.joined()
    case .touchWithheld: "touch not sent: the policies grant the app no OnTouchEvent"
    case .appHMIStatus(let status): "the app's own status \(status.text)"
    case .videoStarted(let parameters, let transport): "video started, \(parameters.text)\(transport.text)"
    case .videoRefused(let rejection): "video refused\(rejection.text)"
    case .videoStartRequested(let parameters): "the app asks for video, \(parameters.text)"
    case .audioStartRequested: "the app asks for audio"
    case .audioData, .videoData, .videoMissed, .videoTimestamp, .buttonsSubscribed: nil
    case .videoDataStopped(let time): "no video for \(time.inSeconds)"
    case .videoStopped(let reason): "video stopped: \(reason)"
    case .audioStarted(let format, let transport): "audio started, \(format)\(transport.text)"
    case .audioRefused(let rejection): "audio refused\(rejection.text)"
    case .audioStopped(let reason, let statistics):
      "audio stopped: \(reason), \(statistics.samples) samples in \(statistics.messages) messages so far"
    case .secondaryTransportRegistered: "secondary transport registered"
    case .secondaryTransportRefused(let reason): "secondary transport refused: \(reason.rawValue)"
    case .secondaryTransportLost: "secondary transport lost"
    case .appUnregistered(let reason): "unregistered: \(reason)"
    case .secured(let summary):
      "\(summary.protocolVersion), \(summary.cipher)"
        + (summary.peer.map { ", \($0.subject.printable(limit: 200))" } ?? "")
    case .audioInClear: "encrypted sound was requested, but is sent in clear"
    case .rpcProtected: "RPCs are encrypted from now on"
    case .handshakeFailed(let reason): "TLS handshake failed: \(reason.printable())"
    case .violation(let violation): "violation: \(violation)"
    case .appCapability(let capability):
      "the app can stream \(capability.additionalCapabilities?.count ?? 0) of the offered formats"
    case .capabilityUpdateDeferred: "the update of the capability is sent once the app subscribes to updates"
    case .hapticRectangles(let rectangles):
      "\(rectangles.count) haptic rectangles"
        + (rectangles.isEmpty ? "" : ", \(Self.list(rectangles.map(\.description), most: Self.mostRectangles))")
    }
  }

  private static func list(_ texts: [String], most: Int) -> String {
    (texts.prefix(most) + (texts.count > most ? ["…"] : [])).joined(separator: ", ")
  }
}

extension HeadUnitSession.StopReason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .endedByApp: "by the app"
    case .endedByHeadUnit: "by the head unit"
    case .hmiLevelNone: "the HMI level is NONE"
    case .streamingForbidden: "the app kept sending although its HMI status forbids it"
    case .otherAppStarted: "another app has started its video"
    case .unregistered: "the registration or the session has ended"
    case .transportLost: "the connection was lost"
    }
  }
}

extension HeadUnitSession.UnregistrationReason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .requestedByApp: "by the app"
    case .sessionEndedByApp: "the app has ended its session"
    case .registrationRefused: "a further registration was invalid"
    case .headUnit(let reason): "by the head unit, \(reason.rawValue)"
    case .heartbeatTimeout: "a heartbeat was not answered"
    case .malformedFrames: "too many malformed frames"
    case .transportLost: "the connection was lost"
    }
  }
}

extension TransportRole {
  /// Empty for the primary transport.
  fileprivate var text: String { self == .secondary ? ", on the secondary transport" : "" }
}

extension HMIStatus {
  fileprivate var text: String {
    "\(level?.rawValue ?? "unknown"), \(videoStreamingState.rawValue), \(audioStreamingState.rawValue)"
  }
}

extension ServiceRejection {
  fileprivate var text: String {
    (rejectedParameters.isEmpty ? "" : ", rejecting \(rejectedParameters.joined(separator: ", "))".printable())
      + (reason.map { ": \($0.printable())" } ?? "")
  }
}

extension VideoServiceParameters {
  fileprivate var text: String {
    let size = width.flatMap { width in height.map { "\(width)×\($0)" } } ?? "of any size"
    return "\(videoCodec ?? "H264") over \(videoProtocol ?? "RAW"), \(size)".printable(limit: 200)
  }
}
