import SDLApp
import SDLMessages

extension AppSession.Event {
  /// What the session tells its owner; nil for what the messages of the head unit say already.
  var text: String? {
    switch self {
    case .sessionStarted, .applicationRPC: nil
    case .registered(let headUnit): "is registered with \(headUnit.make ?? "a head unit")"
    case .hmiStatus(let status):
      "is at \(status.level?.rawValue ?? "-"), \(status.videoStreamingState), \(status.audioStreamingState)"
    case .videoCapability(let capability, let fallback):
      "may show \((capability?.preferredResolution ?? fallback).map { "\($0)" } ?? "any size")"
        + ", scale \(capability?.scale ?? 1)"
    case .videoStarted(let grant): "may send video, \(grant.text)"
    case .videoStopped(let reason): "sends no more video: \(reason.rawValue)"
    case .videoStartFailed(let failure, let request, let pause):
      "has no video of \(request): \(failure)\(pause.text)"
    case .audioStarted(let grant): "may send sound, \(grant.text)"
    case .audioStopped(let reason): "sends no more sound: \(reason.rawValue)"
    case .audioStartFailed(let failure, let pause): "has no sound: \(failure)\(pause.text)"
    case .driverDistraction(let distraction):
      distraction.isDistractionLimited ? "must not distract the driver" : "may distract the driver again"
    case .touch(let actions): "is touched: \(actions.map(\.text).joined(separator: ", "))"
    case .button(let notification): "feels \(notification.button) \(notification.signal)"
    case .keys(let actions): "has keys: \(actions.map(\.text).joined(separator: ", "))"
    case .secondaryTransportChanged(let status):
      "has a second connection that is \(status.state.rawValue)" + (status.address.map { ", to \($0)" } ?? "")
        + (status.reason.map { ": \($0)" } ?? "")
    case .transportProblem(let text): "warns: \(text)"
    case .touchInterrupted: "forgets all fingers"
    case .hapticRectanglesRefused(let code, let info): "has its rectangles refused: \(code) \(info ?? "")"
    case .presentationRefused(let function, let code, let info): "has its \(function) refused: \(code) \(info ?? "")"
    case .secured: "has completed a handshake"
    case .mediaInClear(let service, let reason): "sends \(service) in clear: \(reason)"
    case .rpcProtected: "encrypts RPCs"
    case .rpcInClear(let reason): "leaves RPCs in clear: \(reason)"
    case .rpcIgnored(let function): "ignores \(function)"
    case .diagnostic(let text): "notes: \(text)"
    case .failed(let failure): "fails: \(failure)"
    }
  }
}

extension VideoNotification {
  /// What the application hears of its stream.
  var text: String {
    switch self {
    case .started(let grant, let reason): "video: started, \(reason), \(grant.text)"
    case .stream(let notification): "video: \(notification)"
    case .stopped(let reason): "video: stopped, \(reason.rawValue)"
    case .resized(let resize):
      "video: \(resize.present) instead of \(resize.former) after \(resize.duration.text), "
        + "\(resize.lostFrames) pictures lost"
    case .resizeIgnored(let kept, let offered, let reason): "video: stays \(kept), not \(offered): \(reason.rawValue)"
    case .problem(let problem): "video: \(problem)"
    }
  }
}

extension AudioNotification {
  /// What the application hears of its stream.
  var text: String {
    switch self {
    case .started(let grant, let reason): "sound: started, \(reason), \(grant.text)"
    case .stream(let notification): "sound: \(notification)"
    case .stopped(let reason): "sound: stopped, \(reason.name)"
    case .problem(let problem): "sound: \(problem)"
    }
  }
}

extension VideoGrant {
  fileprivate var text: String { "\(size) over \(streamingProtocol)\(media.text)" }
}

extension AudioGrant {
  fileprivate var text: String { "\(format)\(isFormatAssumed ? ", as usual" : "")\(media.text)" }
}

extension MediaGrant {
  fileprivate var text: String {
    ", at most \(maximumPayload) bytes a frame" + (isEncrypted ? ", encrypted" : "")
      + (role == .secondary ? ", second connection" : "")
  }
}

extension TouchAction {
  fileprivate var text: String {
    func place(_ touch: Touch) -> String { "\(touch.id) at \(touch.position.x) \(touch.position.y)" }
    return switch self {
    case .down(let touch): "down \(place(touch))"
    case .motion(let touch): "motion \(place(touch))"
    case .up(let touch): "up \(place(touch))"
    case .frame: "frame"
    case .cancel: "cancel"
    }
  }
}

extension KeyAction {
  fileprivate var text: String {
    switch self {
    case .press(let button): "press \(button)"
    case .release(let button): "release \(button)"
    }
  }
}

extension Duration? {
  fileprivate var text: String { map { ", again after \($0.text)" } ?? ", not again" }
}

extension SimulatedApp {
  /// Its counters, at its end.
  var summary: String {
    let media: [(String, SimulatedVideo.Counters?)] = [("pictures", video?.counters), ("sounds", sound?.counters)]
    let parts = media.compactMap { name, counters in
      counters.map { "\($0.arrived) \(name) came, \($0.sent) sent, \($0.dropped) dropped, \($0.discarded) discarded" }
    }
    return "\(name): " + (parts + ["\(connection.statistics.sentByteCount) bytes sent"]).joined(separator: "; ")
  }
}
