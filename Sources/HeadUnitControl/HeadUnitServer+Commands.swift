import SDLHeadUnit
import SDLHeadUnitLink

extension HeadUnitServer {
  /// Carries out a command that was typed or sent, for the app on the screen.
  ///
  /// - Parameters:
  ///   - hasApp: whether an app is registered.
  ///   - policy: in which the groups of a command have to be.
  /// - Returns: why it has no effect; nil if it has one.
  package func carryOut(_ command: HeadUnitCommand, hasApp: Bool, policy: PolicyTable) -> String? {
    // An app in a cloud, which comes now.
    if webSockets.activate(command) { return nil }
    if command.needsApp, !hasApp { return "command without effect: no app is registered" }
    if let fault = policy.fault(of: command) { return "command without effect: \(fault)" }
    do throws(HeadUnitScriptFile.Failure) {
      perform(try HeadUnitScriptFile.completed(command))
      return nil
    } catch {
      return "command without effect: \(error)"
    }
  }
}

extension HeadUnitCommand {
  /// Whether it has no effect while no app is registered.
  fileprivate var needsApp: Bool {
    switch self {
    case .level, .resize, .frameRate, .maximumBitrate, .update, .driverDistraction, .notify, .policyUpdate, .activate,
      .close,
      .touch,
      .gesture,
      .driverInput, .audioStreaming, .endVideo, .endAudio, .cut, .cutSecondary, .unregister, .ignitionOff:
      true
    case .event, .language, .vehicle, .drive, .policy, .silent, .behave, .stall, .shape, .answerOnce,
      .refuseConnections,
      .serveSecondaryTransport, .expect, .picture, .fail, .quit, .help:
      false
    }
  }
}
