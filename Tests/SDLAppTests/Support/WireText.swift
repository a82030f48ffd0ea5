import SDLApp
import TestSupport

/// One line per frame, RPC and event, so that a test can compare a whole conversation at once.
enum WireText {
  static func text(_ frame: Frame) -> String {
    guard let control = frame.header.controlFrame else {
      return "\(frame.header.frameType) \(frame.header.service)" + (frame.header.isEncrypted ? " encrypted" : "")
    }
    let name = name(of: control)
    let words = [
      name, control == .heartbeat ? "" : "\(frame.header.service)", payloadText(control, frame),
      frame.header.isEncrypted ? "encrypted" : "",
    ]
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }

  private static func name(of control: ControlFrame) -> String {
    let name = "\(control)"
    return name.prefix(1).uppercased() + name.dropFirst()
  }

  private static func payloadText(_ control: ControlFrame, _ frame: Frame) -> String {
    let version = frame.header.version
    switch (control, frame.header.service) {
    case (.startService, .rpc):
      return RPCServiceRequest(payload: frame.payload).protocolVersion.map { "\($0)" } ?? ""
    case (.startServiceACK, .rpc):
      let answer = RPCServiceAcknowledgement(payload: frame.payload, version: version)
      return answer.protocolVersion.map { "\($0)" } ?? "v\(version)"
    case (.startService, .video), (.startServiceACK, .video):
      let parameters = VideoServiceParameters(payload: frame.payload)
      let size = parameters.width.flatMap { width in parameters.height.map { "\(width)×\($0)" } }
      return [size, parameters.videoProtocol, parameters.videoCodec].compactMap(\.self).joined(separator: " ")
    case (.startServiceNAK, _), (.endServiceNAK, _):
      let rejection = ServiceRejection(payload: frame.payload)
      return "[\(rejection.rejectedParameters.joined(separator: ","))]"
    case (.endService, .rpc):
      return EndServiceRequest(payload: frame.payload, version: version).hashID.map { "hash \($0)" } ?? ""
    default: return ""
    }
  }

  static func text(_ message: RPCMessage) -> String {
    let parameters = message.parameters
    switch message.type {
    case .request: return "\(message.function) request"
    case .response: return "\(message.function) response \(RPCResult(json: parameters).resultCode)"
    case .notification:
      switch message.function {
      case .onHMIStatus: return "OnHMIStatus \(text(HMIStatus(json: parameters)))"
      case .onAppInterfaceUnregistered:
        return "OnAppInterfaceUnregistered \(OnAppInterfaceUnregistered(json: parameters).reasonText)"
      default: return "\(message.function)"
      }
    }
  }

  static func text(_ status: HMIStatus) -> String {
    "\(status.level?.rawValue ?? "?") \(status.videoStreamingState.rawValue)"
  }

  static func text(_ event: AppSession.Event) -> String {
    switch event {
    case .sessionStarted(let version): "session \(version)"
    case .registered: "registered"
    case .hmiStatus(let status): "status \(text(status))"
    case .videoCapability(let capability?, _):
      "capability \(capability.preferredResolution.map { "\($0)" } ?? "without size")"
    case .videoCapability(nil, let size): "no capability, display \(size.map { "\($0)" } ?? "unknown")"
    case .videoStarted(let grant): "started \(grant.size) epoch \(grant.epoch)"
    case .videoStopped(let reason): "stopped \(reason.rawValue)"
    case .videoStartFailed(let failure, let request, let retryAfter):
      "start of \(request.size) failed [\(failure.rejectedParameters.joined(separator: ","))], "
        + (retryAfter.map { "again after \($0)" } ?? "never again")
    case .audioStarted(let grant): "audio started \(grant.format) epoch \(grant.epoch)"
    case .audioStopped(let reason): "audio stopped \(reason.rawValue)"
    case .audioStartFailed(_, let retryAfter):
      "start of audio failed, " + (retryAfter.map { "again after \($0)" } ?? "never again")
    case .driverDistraction(let distraction): "distraction \(distraction.isDistractionLimited)"
    case .touch(let actions): "touch \(actions.map(\.text).joined(separator: ", "))"
    case .touchInterrupted: "touch interrupted"
    case .applicationRPC(let message): "application: \(text(message))"
    case .presentationRefused(let function, let code, _): "\(function) refused \(code)"
    case .hapticRectanglesRefused(let code, _): "haptic rectangles refused \(code)"
    case .button(let notification): "button \(notification.button.rawValue) \(notification.signal)"
    case .keys(let actions): "keys \(actions.map(\.text).joined(separator: " "))"
    case .secured(let summary): "secured \(summary.cipher)"
    case .mediaInClear(.audio, _): "sound in clear"
    case .mediaInClear: "in clear"
    case .rpcProtected: "RPCs encrypted"
    case .rpcInClear(let reason): "RPCs in clear: \(reason)"
    case .rpcIgnored(let function): "\(function) ignored in clear"
    case .secondaryTransportChanged(let status):
      "secondary \(status.state)" + (status.address.map { " \($0)" } ?? "") + (status.reason.map { ": \($0)" } ?? "")
    case .transportProblem: "transport problem"
    case .diagnostic: "diagnostic"
    case .failed: "failed"
    }
  }
}

extension TouchAction {
  /// "down 0 (80.0, 160.0)".
  var text: String {
    func text(_ name: String, _ touch: Touch) -> String {
      "\(name) \(touch.id) (\(touch.position.x), \(touch.position.y))"
    }
    return switch self {
    case .down(let touch): text("down", touch)
    case .motion(let touch): text("motion", touch)
    case .up(let touch): text("up", touch)
    case .frame: "frame"
    case .cancel: "cancel"
    }
  }
}

/// Turns the bytes of one direction into lines.
struct WireReader {
  /// A frame or message of one side.
  enum Item {
    case control(Frame)
    case rpc(RPCMessage, Frame)
    /// Data of another service.
    case data(Frame)

    var frame: Frame {
      switch self {
      case .control(let frame), .data(let frame), .rpc(_, let frame): frame
      }
    }

    var text: String {
      switch self {
      case .control(let frame), .data(let frame): WireText.text(frame)
      case .rpc(let message, let frame): WireText.text(message) + (frame.header.isEncrypted ? " encrypted" : "")
      }
    }
  }

  private var decoder = FrameDecoder()
  private var assembler = MessageAssembler()

  /// The frames in `bytes`; RPCs appear when their last frame has come.
  mutating func read(_ bytes: [UInt8]) -> [Item] {
    decoder.append(bytes)
    var items: [Item] = []
    while case .frame(var frame)? = decoder.next() {
      if frame.header.isEncrypted, frame.header.frameType != .control {
        frame.payload = FakeChannel.plaintext(of: frame.payload)
        frame.header.dataSize = UInt32(frame.payload.count)
      }
      if frame.header.frameType == .control {
        items.append(.control(frame))
      } else if let message = try? assembler.accept(frame, now: .zero) {
        let rpc = [.rpc, .hybrid].contains(frame.header.service) ? try? RPCMessage(payload: message.payload) : nil
        items.append(rpc.map { .rpc($0, frame) } ?? .data(Frame(header: frame.header, payload: message.payload)))
      }
    }
    return items
  }
}

extension KeyAction {
  fileprivate var text: String {
    switch self {
    case .press(let button): "+\(button.rawValue)"
    case .release(let button): "−\(button.rawValue)"
    }
  }
}
