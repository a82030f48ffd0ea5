import SDLMessages
import SDLWire

extension HeadUnitSession.Event {
  /// More are not listed.
  private static let mostRectangles = 4
  private static let mostInputs = 8
  private static let mostTypes = 8

  /// What happened, as a line of a log for people, in which nothing that an app has chosen looks like anything else; nil
  /// for events that are too many, such as data.
  public var text: String? {
    switch self {
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
    case .interactionEnded(let function, let code): "\(function) is over: \(code.rawValue)"
    case .touchSent(let event):
      "touch \(event.kind?.rawValue ?? "")"
        + event.fingers.map { finger in
          " #\(finger.id)" + finger.samples.map { " (\($0.x), \($0.y))" }.joined()
        }.joined()
    case .appHMIStatus(let status): "the app's own status \(status.text)"
    case .videoStarted(let parameters, let transport): "video started, \(parameters.text)\(transport.text)"
    case .videoRefused(let rejection): "video refused\(rejection.text)"
    case .videoStartRequested(let parameters): "the app asks for video, \(parameters.text)"
    case .audioStartRequested: "the app asks for audio"
    case .audioData, .videoData, .videoMissed, .videoTimestamp: nil
    case .videoDataStopped(let time): "no video for \(time.inSeconds)"
    case .videoStopped(let reason): "video stopped: \(reason)"
    case .audioStarted(let format, let transport): "audio started, \(format)\(transport.text)"
    case .audioRefused(let rejection): "audio refused\(rejection.text)"
    case .audioStopped(let reason, let statistics):
      "audio stopped: \(reason), \(statistics.samples) samples in \(statistics.messages) messages so far"
    case .secondaryTransportRegistered: "secondary transport registered"
    case .secondaryTransportRefused(let reason): "secondary transport refused: \(reason.rawValue)"
    case .secondaryTransportLost: "secondary transport gone"
    case .appUnregistered(let reason): "unregistered: \(reason)"
    case .secured(let summary):
      "\(summary.protocolVersion), \(summary.cipher)"
        + (summary.peer.map { ", \($0.subject.printable(limit: 200))" } ?? "")
    case .audioInClear: "encrypted sound was asked for, and is sent in clear: only video and RPCs are encrypted"
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

extension HeadUnitSession.StreamStopReason: CustomStringConvertible {
  /// Who ended the service, or what.
  public var description: String {
    switch self {
    case .endedByApp: "by the app"
    case .endedByHeadUnit: "by the head unit"
    case .hmiLevelNone: "the HMI level is NONE"
    case .streamingForbidden: "the app kept sending although its HMI status forbids it"
    case .otherAppStarted: "another app has started its video"
    case .unregistered: "the registration or the session is over"
    case .transportLost: "the connection is gone"
    }
  }
}

extension HeadUnitSession.UnregistrationReason: CustomStringConvertible {
  /// Who ended the registration, or what.
  public var description: String {
    switch self {
    case .requestedByApp: "by the app"
    case .sessionEndedByApp: "the app has ended its session"
    case .headUnit(let reason): "by the head unit, \(reason.rawValue)"
    case .heartbeatTimeout: "a heartbeat was not answered"
    case .malformedFrames: "too many malformed frames"
    case .transportLost: "the connection is gone"
    }
  }
}

extension TransportRole {
  /// Nothing for the transport that every session has.
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
