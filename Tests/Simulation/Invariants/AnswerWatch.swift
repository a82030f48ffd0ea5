import SDLMessages
import SDLWire

/// What a head unit owes an app on its first connection: each request one answer, each key that goes down its release,
/// and each change of the secondary transport's address one message.
struct AnswerWatch {
  /// These are answered at once, while the answers to others wait for the driver.
  private static let promptFunctions: Set<FunctionID> = [
    .registerAppInterface, .getSystemCapability, .subscribeButton, .unsubscribeButton, .sendHapticData,
    .changeRegistration, .setAppIcon, .putFile, .unregisterAppInterface, .show, .listFiles, .subscribeVehicleData,
    .unsubscribeVehicleData, .getVehicleData,
  ]
  /// Of an answer that nothing delays.
  private static let longestAnswer = Duration.seconds(10)
  /// Of a key, even with a long press.
  private static let longestPress = Duration.seconds(6)
  /// Scripts hold this one for any time.
  private static let heldButton = "NAV_PAN_LEFT"

  private enum Request: Hashable {
    case rpc(Int32)
    case heartbeat
  }

  private var rpcs = RPCWatch()
  /// The ids of requests without an answer.
  private var unanswered: Set<Int32> = []
  /// Nothing was encrypted so far.
  private var isReadable = true
  private var pending: [Request: (time: Duration, text: String)] = [:]
  private var buttons: [String: Duration] = [:]
  /// The messages about the secondary transport's address that the head unit may still send.
  private var updateCount = 1

  /// The driver changes whether, and where, there is a secondary transport.
  mutating func secondaryChanged() { updateCount += 1 }

  mutating func sent(_ frame: Frame, now: Duration) {
    switch frame.header.controlFrame {
    // The session ends.
    case .endService where frame.header.service == .rpc: pending = [:]
    case .heartbeat: pending[.heartbeat] = pending[.heartbeat] ?? (now, "a heartbeat")
    // Encrypted, it protects the session's RPCs.
    case .startService where frame.header.service == .rpc && !frame.header.isEncrypted: self = AnswerWatch()
    default: break
    }
    guard case .message(let message)? = rpcs.receive(frame, now: now), message.type == .request else { return }
    unanswered.insert(message.correlationID)
    if message.function == .unsubscribeButton { buttons = [:] }
    guard Self.promptFunctions.contains(message.function) else { return }
    pending[.rpc(message.correlationID)] = (now, "\(message.function)")
  }

  mutating func received(_ frame: Frame) -> String? {
    switch frame.header.controlFrame {
    case .heartbeatACK: pending[.heartbeat] = nil
    case .endService where frame.header.service == .rpc: pending = [:]
    case .transportEventUpdate:
      updateCount -= 1
      if updateCount < 0 { return "the address of the secondary transport comes again, and has not changed" }
    default: break
    }
    return nil
  }

  mutating func received(_ item: RPCWatch.Item, now: Duration) -> String? {
    guard case .message(let message) = item else {
      // From now on its answers can't be read.
      (pending, isReadable) = ([:], false)
      return nil
    }
    switch message.type {
    case .response:
      pending[.rpc(message.correlationID)] = nil
      let isExpected = unanswered.remove(message.correlationID) != nil
      return isExpected || !isReadable
        ? nil : "an answer to \(message.function) \(message.correlationID), which was not sent, or has one"
    case .notification: return notified(message, now: now)
    case .request: return nil
    }
  }

  private mutating func notified(_ message: RPCMessage, now: Duration) -> String? {
    switch message.function {
    // The head unit does not tell a release to an app that may not have the button any more.
    case .onHMIStatus: buttons = [:]
    case .onAppInterfaceUnregistered:
      buttons = [:]
      pending = [:]
    case .onButtonEvent:
      guard let name = message.parameters["buttonName"]?.string else { return "a button without a name" }
      let isDown = message.parameters["buttonEventMode"]?.string == "BUTTONDOWN"
      defer { buttons[name] = isDown ? now : nil }
      if isDown, buttons[name] != nil { return "\(name) goes down twice" }
    default: break
    }
    return nil
  }

  /// What should have happened before.
  ///
  /// - Parameter quietSince: since when nothing has delayed anything.
  mutating func fault(now: Duration, quietSince: Duration) -> String? {
    if let (name, time) = buttons.first(where: { $0.key != Self.heldButton && now - $0.value > Self.longestPress }) {
      buttons = [:]
      return "\(name) is down since \((now - time).text), and is not released"
    }
    for (request, (time, text)) in pending where now - max(time, quietSince) > Self.longestAnswer {
      pending[request] = nil
      return "\(text) is not answered in \((now - time).text)"
    }
    return nil
  }
}
