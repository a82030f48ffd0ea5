import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

extension HeadUnitServer {
  /// What the server's thread carries out for other threads, or for the script.
  enum Operation: Sendable {
    case control(Recipient, @Sendable (inout HeadUnitSession, Duration) -> [HeadUnitSession.Action])
    case read(id: UInt8, Bool)
    case disconnect(Recipient, TransportRole)
    case answerOnce(Recipient, HeadUnitBehaviour.VideoStartAnswer)
    case setCondition(HeadUnitConditions.Change)
    case behave(HeadUnitBehaviour.Change)
    case touch(Recipient, TouchGesture)
    case stall(Duration)
    case shape(LinkShape?)
    case refuseConnections(Bool)
    case configure(HeadUnitConfiguration)
    /// At the present port if nil is given.
    case serveSecondary(port: UInt16?)
    case transport(TransportEvent)
    /// An expectation, another command of tests, or a drive.
    case script(HeadUnitCommand)
    case endPicture(HeadUnitScriptRun.Picture, failure: String?)
  }

  /// The apps that an operation is for.
  package enum Recipient: Sendable {
    /// Ignored when it is not connected.
    case app(UInt8)
    /// The app that was opened last, if it is still registered; otherwise the first one that is.
    case appOnScreen
    /// The app whose overlay takes the input, else the one on the screen.
    case appInFront(DriverInput)
    case everyApp
  }
}

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
    if !hasApp, Self.needsApp(command) { return "command without effect: no app is registered" }
    if let fault = policy.fault(of: command) { return "command without effect: \(fault)" }
    do throws(HeadUnitScriptFile.Failure) {
      perform(try HeadUnitScriptFile.completed(command))
      return nil
    } catch {
      return "command without effect: \(error)"
    }
  }

  /// Whether a command that names no app does nothing while none is registered.
  private static func needsApp(_ command: HeadUnitCommand) -> Bool {
    Operation(command, for: .appOnScreen)?.requiredRecipient != nil
  }
}

extension HeadUnitServer.Operation {
  /// Nil for a command that is not for a head unit. `recipient` gets commands for one app that name none.
  init?(_ command: HeadUnitCommand, for recipient: HeadUnitServer.Recipient) {
    switch command {
    case .level(let level, let state, let sound):
      let usual: AudioStreamingState = level == .full || level == .limited ? .audible : .notAudible
      let status = HMIStatus(level: level, audioStreamingState: sound ?? usual, videoStreamingState: state)
      self = .control(recipient) { $0.setHMIStatus(status, now: $1) }
    case .event(let event, let isActive): self = .setCondition(.event(event, isActive: isActive))
    case .silent(let isSilent): self = .setCondition(.videoSilence(isSilent))
    case .behave(let change): self = .behave(change)
    case .resize(let size, let scale): self = .control(recipient) { $0.resize(to: size, scale: scale, now: $1) }
    case .update(let update): self = .control(recipient) { $0.updateCapability(update, now: $1) }
    case .driverDistraction(let distraction):
      self = .control(.everyApp) { $0.notify(.onDriverDistraction, distraction.json, now: $1) }
    case .notify(let function, let members): self = .control(.everyApp) { $0.notify(function, members, now: $1) }
    case .vehicle(let reading): self = .setCondition(.vehicle(reading))
    case .language(let language): self = .setCondition(.language(language))
    case .policy(let change): self = .setCondition(.policy(change))
    case .policyUpdate(let url): self = .control(.everyApp) { $0.requestPolicyUpdate(from: url, now: $1) }
    case .activate(let id): self = .control(id.map { .app($0) } ?? recipient) { $0.activateApp(now: $1) }
    case .close(let id): self = .control(id.map { .app($0) } ?? recipient) { $0.setHMIStatus(.closed, now: $1) }
    case .touch(let event): self = .control(recipient) { $0.touch(event, now: $1) }
    case .gesture(let gesture): self = .touch(recipient, gesture)
    case .driverInput(let input):
      let recipient = if case .appOnScreen = recipient { HeadUnitServer.Recipient.appInFront(input) } else { recipient }
      self = .control(recipient) { $0.take(input, now: $1) }
    case .audioStreaming(let state): self = .control(recipient) { $0.setAudioStreaming(state, now: $1) }
    case .endAudio: self = .control(recipient) { $0.endService(.audio, now: $1) }
    case .endVideo: self = .control(recipient) { $0.endService(.video, now: $1) }
    case .cut: self = .disconnect(recipient, .primary)
    case .cutSecondary: self = .disconnect(recipient, .secondary)
    case .serveSecondaryTransport(let port): self = .serveSecondary(port: port)
    case .unregister(let reason): self = .control(recipient) { $0.unregisterApp(reason, now: $1) }
    case .ignitionOff: self = .control(.everyApp) { $0.unregisterApp(.ignitionOff, now: $1) }
    case .answerOnce(let answer): self = .answerOnce(recipient, answer)
    case .stall(let time): self = .stall(time)
    case .shape(let shape): self = .shape(shape)
    case .refuseConnections(let isRefusing): self = .refuseConnections(isRefusing)
    case .drive, .expect, .picture, .fail, .quit: self = .script(command)
    case .help: return nil
    }
  }

  /// The recipient without which the operation does nothing; nil for operations on the head unit, or that can wait for
  /// an app.
  var requiredRecipient: HeadUnitServer.Recipient? {
    switch self {
    case .control(let recipient, _), .disconnect(let recipient, _), .touch(let recipient, _): recipient
    case .read(let id, _): .app(id)
    case .answerOnce(.app(let id), _): .app(id)
    case .answerOnce, .setCondition, .behave, .stall, .shape, .refuseConnections, .configure, .serveSecondary,
      .transport, .script, .endPicture:
      nil
    }
  }
}
