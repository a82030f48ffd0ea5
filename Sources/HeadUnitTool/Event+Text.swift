import SDLHeadUnit
import SDLMessages
import SDLWire

extension HeadUnitSession.Event {
  /// More are not printed.
  private static let mostRectangles = 4
  private static let mostInputs = 8

  /// One line of the log; nil for events that are not logged.
  var text: String? {
    switch self {
    case .appRegistered(let name, let id, let types, let version):
      "registered \"\(name)\" (\(id), \(types.map(\.rawValue).joined(separator: ", "))) over protocol \(version)"
    case .hmiStatusSent(let status): "HMI status \(status.text)"
    case .systemContextSent(let status): "system context \(status.systemContext.rawValue)"
    case .driverInput(let input): "\(input)"
    // Also printed where nothing else is: EventPrinter.
    case .driverInputWithoutEffect: nil
    case .interactionShown(let function, let time, let inputs):
      "\(function) for at most \(time)" + (inputs.isEmpty ? "" : ", or until: ")
        + (inputs.prefix(Self.mostInputs).map(\.description) + (inputs.count > Self.mostInputs ? ["…"] : []))
        .joined(separator: ", ")
    case .interactionEnded(let function, let code): "\(function) is over: \(code.rawValue)"
    case .touchSent(let event):
      "touch \(event.kind?.rawValue ?? "")"
        + event.fingers.map { finger in
          " #\(finger.id)" + finger.samples.map { " (\($0.x), \($0.y))" }.joined()
        }.joined()
    case .appHMIStatus(let status): "the app's own status \(status.text)"
    case .videoStarted(let parameters, let transport): "video started, \(parameters.text)\(transport.text)"
    case .videoRefused(let rejection):
      "video refused"
        + (rejection.rejectedParameters.isEmpty ? "" : ", rejecting \(rejection.rejectedParameters)")
        + (rejection.reason.map { ": \($0)" } ?? "")
    case .videoStartRequested, .audioStartRequested, .audioData, .videoData, .videoMissed, .videoTimestamp: nil
    case .videoDataStopped(let time): "no video for \(time)"
    case .videoStopped(let reason): "video stopped: \(reason)"
    case .audioStarted(let format, let transport): "audio started, \(format)\(transport.text)"
    case .audioRefused(let rejection): "audio refused" + (rejection.reason.map { ": \($0)" } ?? "")
    case .audioStopped(let reason, let statistics):
      "audio stopped: \(reason), \(statistics.samples) samples in \(statistics.messages) messages so far"
    case .secondaryTransportRegistered: "secondary transport registered"
    case .secondaryTransportRefused(let reason): "secondary transport refused: \(reason.rawValue)"
    case .secondaryTransportLost: "secondary transport gone"
    case .appUnregistered(let reason): "unregistered: \(reason)"
    case .secured(let summary):
      "\(summary.protocolVersion), \(summary.cipher)" + (summary.peer.map { ", \($0.subject)" } ?? "")
    case .rpcProtected: "RPCs are encrypted from now on"
    case .audioInClear: "encrypted sound was asked for, and is sent in clear: only video and RPCs are encrypted"
    case .handshakeFailed(let reason): "TLS handshake failed: \(reason)"
    case .violation(let violation): "violation: \(violation)"
    case .appCapability(let capability):
      "the app can stream \(capability.additionalCapabilities?.count ?? 0) of the offered formats"
    case .capabilityUpdateDeferred: "the update of the capability is sent once the app subscribes to updates"
    case .hapticRectangles(let rectangles):
      (["\(rectangles.count) haptic rectangles"] + rectangles.prefix(Self.mostRectangles).map(\.description)
        + (rectangles.count > Self.mostRectangles ? ["…"] : []))
        .joined(separator: ", ")
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

extension VideoServiceParameters {
  fileprivate var text: String {
    let size = width.flatMap { width in height.map { "\(width)×\($0)" } } ?? "of any size"
    return "\(videoCodec ?? "H264") over \(videoProtocol ?? "RAW"), \(size)"
  }
}
