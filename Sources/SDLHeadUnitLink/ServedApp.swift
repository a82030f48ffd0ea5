import SDLHeadUnit
import SDLLink
import SDLWire

/// One app of a ``HeadUnitServer``: a session on a connection that it may share. Lives on the server's thread.
final class ServedApp {
  /// The id of its session.
  let id: UInt8
  unowned let connection: ServedConnection
  private unowned let loop: HeadUnitLoop
  private(set) var session: HeadUnitSession
  private var tracer: MessageTracer?
  /// Nil while none is registered.
  private(set) var secondary: ServedConnection?

  /// - Parameter connectionID: the id of the first session of the connection.
  init(
    id: UInt8, connectionID: UInt8, connection: ServedConnection, configuration: HeadUnitConfiguration,
    server: HeadUnitServer, loop: HeadUnitLoop
  ) {
    self.id = id
    self.connection = connection
    self.loop = loop
    session = HeadUnitSession(
      configuration: configuration, sessionID: id, connectionID: UInt16(connectionID),
      makeSecureChannel: server.makeSecureChannel)
    tracer = MessageTracer(server.messageTrace, prefix: "app \(id) ", clock: server.clock)
  }

  /// Whether a deadline of the session has passed.
  func isDue(at now: Duration) -> Bool { session.nextDeadline.map { $0 <= now } ?? false }

  /// Gives the session an input and executes its actions.
  func perform(_ input: (inout HeadUnitSession) -> [HeadUnitSession.Action]) {
    guard !connection.isOver else { return }
    let former = session.summary
    execute(input(&session))
    let summary = session.summary
    guard summary != former else { return }
    if (summary == nil) != (former == nil) { connection.registrationDidChange() }
    loop.settleScreen()
  }

  /// Tells the session what matters only later.
  func prepare(_ change: (inout HeadUnitSession) -> Void) {
    change(&session)
  }

  func receive(_ item: FrameDecoder.Item, on transport: TransportRole = .primary, now: Duration) {
    tracer?.noteReceived(item)
    perform { $0.receive(item, on: transport, now: now) }
  }

  /// RegisterSecondaryTransport with the id of this session has come on `connection`.
  func register(
    _ connection: ServedConnection, with frame: Frame, now: Duration
  ) -> HeadUnitSession.SecondaryRegistration {
    tracer?.noteReceived(.frame(frame))
    var registration = HeadUnitSession.SecondaryRegistration.unanswered
    perform { session in
      let (answer, actions) = session.registerSecondaryTransport(frame, now: now)
      registration = answer
      // The acknowledgement is among the actions.
      if answer == .accepted {
        secondary = connection
        connection.attach(to: self)
      }
      return actions
    }
    return registration
  }

  /// The secondary transport is gone.
  func loseSecondary(now: Duration) {
    secondary = nil
    perform { $0.secondaryTransportLost(now: now) }
  }

  /// A further session is not accepted.
  func refuseSession(_ frame: Frame, now: Duration) {
    tracer?.noteReceived(.frame(frame))
    perform { $0.refuseSession(frame, now: now) }
  }

  /// The transport is gone.
  func loseTransport(now: Duration) {
    if let saved = session.savedApp { loop.keep(saved, of: self) }
    execute(session.transportLost(now: now))
  }

  private func execute(_ actions: [HeadUnitSession.Action]) {
    for action in actions {
      switch action {
      case .send(let frames):
        tracer?.noteSent(frames)
        connection.send(frames)
      case .sendOnSecondary(let frames):
        tracer?.noteSent(frames)
        secondary?.send(frames)
      case .closeSecondary: secondary.take()?.detach()
      case .report(let event): loop.app(self, didReport: event)
      case .close(let scope): connection.close(scope, by: self)
      }
    }
  }
}
