import SDLApp
import SDLHeadUnit
import TestSupport

/// An ``AppSession`` and an emulated head unit joined by two connections in memory. Bytes, connections and their ends
/// arrive in any order that two connections allow, as the seed says.
final class JoinedTransports {
  private(set) var app: AppSession
  private(set) var headUnit: HeadUnitSession
  private(set) var now = Duration.zero
  private(set) var violations: [Violation] = []
  /// The video that has reached the head unit.
  private(set) var received: [[UInt8]] = []
  private(set) var failure: AppSessionFailure?

  private var random: SeededGenerator
  private var toHeadUnit: [TransportRole: [UInt8]] = [:]
  private var toApp: [TransportRole: [UInt8]] = [:]
  private var appDecoders: [TransportRole: FrameDecoder] = [:]
  private var headUnitDecoders: [TransportRole: FrameDecoder] = [:]
  /// Asked for, and not made yet.
  private var pendingAttempt: UInt32?
  /// Of the connection that stands, as the app sees it.
  private var attempt: UInt32?
  private var isKnownToHeadUnit = false
  /// An end that the other side has not noticed.
  private var isClosedByApp = false
  private var isClosedByHeadUnit = false
  private var messageIDs = MessageIDs.video

  init(_ configuration: HeadUnitConfiguration, seed: UInt64) {
    app = AppSession(configuration: AppDriver.configuration)
    headUnit = HeadUnitSession(configuration: configuration)
    random = SeededGenerator(seed: seed)
  }

  func connect() {
    perform(headUnit.transportConnected(now: now))
    headUnitDoes { $0.setServedTransport(TransportEventUpdate(address: "192.0.2.1", port: 4000), now: $1) }
    perform(app.transportConnected(now: now))
  }

  func appDoes(_ act: (inout AppSession, Duration) -> [AppSession.Action]) {
    perform(act(&app, now))
  }

  func headUnitDoes(_ act: (inout HeadUnitSession, Duration) -> [HeadUnitSession.Action]) {
    perform(act(&headUnit, now))
  }

  /// The second connection breaks, and what is on the way there is gone. The head unit notices first.
  func cut() {
    guard let attempt else { return }
    noticeEndByApp()
    perform(app.secondaryClosed(attempt: attempt, reason: "cut", now: now))
  }

  private func forgetSecondary() {
    attempt = nil
    (isClosedByApp, isClosedByHeadUnit) = (false, false)
    toHeadUnit[.secondary] = []
    toApp[.secondary] = []
    appDecoders[.secondary] = nil
    headUnitDecoders[.secondary] = nil
  }

  /// False when there is no grant.
  @discardableResult
  func sendVideo(_ payload: [UInt8]) -> Bool {
    guard let grant = app.status.video.grant else { return false }
    let message = Fragmentation(
      service: .video, version: grant.version, sessionID: grant.sessionID, messageID: messageIDs.next(),
      payloadSize: payload.count, maximumPayload: grant.maximumPayload)
    toHeadUnit[grant.role, default: []] += message.frames(of: payload)
    return true
  }

  /// Delivers until nothing is on the way, and lets time pass.
  func wait(_ duration: Duration) {
    let target = now + duration
    deliver()
    while let deadline = [app.nextDeadline, headUnit.nextDeadline].compactMap(\.self).min(), deadline <= target {
      now = max(now, deadline)
      perform(app.advance(to: now))
      perform(headUnit.advance(to: now))
      deliver()
    }
    now = target
  }

  /// Some of what is on the way arrives.
  func deliver(steps: Int = .max) {
    var count = 0
    while count < steps, let step = possibleSteps.randomElement(using: &random) {
      step()
      count += 1
    }
  }

  private var possibleSteps: [() -> Void] {
    var steps: [() -> Void] = []
    for role in TransportRole.allCases {
      if toHeadUnit[role]?.isEmpty == false { steps.append { self.deliverToHeadUnit(role) } }
      if toApp[role]?.isEmpty == false { steps.append { self.deliverToApp(role) } }
    }
    if pendingAttempt != nil { steps.append { self.connectSecondary() } }
    // An end comes behind everything that was sent before.
    if isClosedByApp, toHeadUnit[.secondary]?.isEmpty != false { steps.append { self.noticeEndByApp() } }
    if isClosedByHeadUnit, toApp[.secondary]?.isEmpty != false { steps.append { self.noticeEndByHeadUnit() } }
    return steps
  }

  private func connectSecondary() {
    // The head unit has to be done with the one before.
    guard !isClosedByApp, let attempt = pendingAttempt.take() else { return }
    self.attempt = attempt
    perform(app.secondaryConnected(attempt: attempt, now: now))
  }

  private func noticeEndByApp() {
    forgetSecondary()
    if isKnownToHeadUnit { perform(headUnit.secondaryTransportLost(now: now)) }
    isKnownToHeadUnit = false
  }

  private func noticeEndByHeadUnit() {
    guard let attempt else { return }
    forgetSecondary()
    isKnownToHeadUnit = false
    perform(app.secondaryClosed(attempt: attempt, reason: "closed", now: now))
  }

  private func deliverToHeadUnit(_ role: TransportRole) {
    var decoder = headUnitDecoders[role] ?? FrameDecoder()
    decoder.append(takePiece(&toHeadUnit[role, default: []]))
    var items: [FrameDecoder.Item] = []
    while let item = decoder.next() { items.append(item) }
    headUnitDecoders[role] = decoder
    for item in items {
      if role == .primary {
        perform(headUnit.receive(item, on: .primary, now: now))
        while headUnit.busyTransport != nil { perform(headUnit.continueWork(now: now)) }
      } else if isKnownToHeadUnit {
        perform(headUnit.receive(item, on: .secondary, now: now))
        while headUnit.busyTransport != nil { perform(headUnit.continueWork(now: now)) }
      } else if case .frame(let frame) = item {
        let (answer, actions) = headUnit.registerSecondaryTransport(frame, now: now)
        isKnownToHeadUnit = answer == .accepted
        perform(actions)
        if case .refused(let frame) = answer {
          toApp[.secondary, default: []] += frame
          isClosedByHeadUnit = true
        }
      }
    }
  }

  private func deliverToApp(_ role: TransportRole) {
    var decoder = appDecoders[role] ?? FrameDecoder()
    decoder.append(takePiece(&toApp[role, default: []]))
    var items: [FrameDecoder.Item] = []
    while let item = decoder.next() { items.append(item) }
    appDecoders[role] = decoder
    for item in items {
      perform(role == .primary ? app.receive(item, now: now) : app.receiveOnSecondary(item, now: now))
    }
  }

  private func takePiece(_ bytes: inout [UInt8]) -> [UInt8] {
    let piece = Array(bytes.prefix(Int.random(in: 1...(Bool.random(using: &random) ? 13 : 2000), using: &random)))
    bytes.removeFirst(piece.count)
    return piece
  }

  private func perform(_ actions: [AppSession.Action]) {
    for action in actions {
      switch action {
      case .send(let bytes): toHeadUnit[.primary, default: []] += bytes
      case .sendProtected: break
      case .sendOnSecondary(let bytes): toHeadUnit[.secondary, default: []] += bytes
      case .openSecondary(_, let attempt): pendingAttempt = attempt
      case .closeSecondary:
        pendingAttempt = nil
        guard attempt != nil else { break }
        attempt = nil
        toApp[.secondary] = []
        isClosedByHeadUnit = false
        isClosedByApp = true
      case .report(.failed(let failure)): self.failure = failure
      case .note, .report, .close: break
      }
    }
  }

  private func perform(_ actions: [HeadUnitSession.Action]) {
    for action in actions {
      switch action {
      case .send(let bytes): toApp[.primary, default: []] += bytes
      case .sendOnSecondary(let bytes): toApp[.secondary, default: []] += bytes
      case .closeSecondary: isClosedByHeadUnit = attempt != nil
      case .report(.violation(.stream)): break
      case .report(.violation(let violation)): violations.append(violation)
      case .report(.videoData(let bytes)): received.append(bytes)
      case .report, .close: break
      }
    }
  }
}
