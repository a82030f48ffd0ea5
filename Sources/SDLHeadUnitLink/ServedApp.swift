import SDLHeadUnit
import SDLLink
import SDLWire

/// One app of a ``HeadUnitServer``: a session on a connection that it may share. Lives on the server's thread.
final class ServedApp {
  /// Its number for people and scripts, which counts up; the id of its session need not be guessed.
  let id: UInt8
  unowned let connection: ServedConnection
  private unowned let loop: HeadUnitLoop
  private(set) var session: HeadUnitSession
  private var tracer: MessageTracer?
  /// Nil while none is registered.
  private(set) var secondary: ServedConnection?

  init(
    id: UInt8, sessionID: UInt8, connection: ServedConnection, configuration: HeadUnitConfiguration,
    server: HeadUnitServer, loop: HeadUnitLoop
  ) {
    self.id = id
    self.connection = connection
    self.loop = loop
    session = HeadUnitSession(
      configuration: configuration, sessionID: sessionID, connectionID: UInt16(connection.apps.first?.id ?? id),
      makeSecureChannel: server.secureChannels(for: connection.address.network))
    tracer = MessageTracer(server.messageTrace, prefix: "app \(id) ", clock: server.clock)
  }

  /// Whether the driver sees or hears it, so that its connection keeps its place.
  var isInUse: Bool {
    session.isStreaming || session.summary.map { $0.level == .full || $0.level == .limited } ?? false
  }

  /// The one that has to give up an incomplete message, which is nobody with a registered app if there are others: of the
  /// address whose messages take most memory, the one with most.
  static func holdingMost(of apps: [ServedApp]) -> ServedApp? {
    let holding = apps.filter { $0.session.incompleteByteCount > 0 }
    let strangers = holding.filter { $0.session.summary == nil }
    let sums = Dictionary(
      holding.map { ($0.connection.address.network, $0.session.incompleteByteCount) }, uniquingKeysWith: +)
    func rank(_ app: ServedApp) -> (Int, Int) {
      (sums[app.connection.address.network] ?? 0, app.session.incompleteByteCount)
    }
    return (strangers.isEmpty ? holding : strangers).max { rank($0) < rank($1) }
  }

  func isDue(at now: Duration) -> Bool { session.nextDeadline.map { $0 <= now } ?? false }

  func perform(_ input: (inout HeadUnitSession) -> [HeadUnitSession.Action]) {
    guard !connection.isOver else { return }
    let former = session.summary
    execute(input(&session))
    let summary = session.summary
    guard summary != former else { return }
    if (summary == nil) != (former == nil) { connection.registrationDidChange() }
    loop.settleScreen()
  }

  /// Its bytes could not be read for a while.
  func waited(since start: Duration, now: Duration) {
    perform { $0.setReading(false, now: start) }
    perform { $0.setReading(true, now: now) }
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
    _ connection: ServedConnection, with frame: Frame, isPeerKnown: Bool, now: Duration
  ) -> HeadUnitSession.SecondaryRegistration {
    tracer?.noteReceived(.frame(frame))
    var registration = HeadUnitSession.SecondaryRegistration.unanswered
    perform { session in
      let (answer, actions) = session.registerSecondaryTransport(
        frame, isPeerKnown: isPeerKnown, now: now)
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

  /// Reports a violation that its session does not see.
  func report(_ violation: Violation) { loop.app(self, didReport: .violation(violation)) }

  func loseSecondary(now: Duration) {
    secondary = nil
    perform { $0.secondaryTransportLost(now: now) }
  }

  func refuseSession(_ frame: Frame, now: Duration) {
    tracer?.noteReceived(.frame(frame))
    perform { $0.refuseSession(frame, now: now) }
  }

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

extension [ServedApp] {
  /// Those whose connections have not ended.
  var connected: [ServedApp] { filter { !$0.connection.isOver } }

  func connected(session id: UInt8?) -> ServedApp? { first { $0.session.sessionID == id && !$0.connection.isOver } }

  /// The app on the screen comes last: what ends its registration would otherwise open another one that is about to end
  /// as well.
  ///
  /// - Parameter session: that of the app that was opened last.
  func recipients(_ recipient: HeadUnitServer.Recipient, onScreen session: UInt8?) -> [ServedApp] {
    switch recipient {
    case .app(let id): return connected.filter { $0.id == id }
    case .appOnScreen:
      let registered = connected.filter { $0.session.summary != nil }
      return [registered.first { $0.session.sessionID == session } ?? registered.first].compactMap(\.self)
    case .appInFront(let input):
      let id = HeadUnitScreen.app(inFrontFor: input, among: connected.compactMap { $0.session.summary })
      return connected(session: id).map { [$0] } ?? recipients(.appOnScreen, onScreen: session)
    case .everyApp:
      let isOnScreen = { (app: ServedApp) in app.session.sessionID == session }
      return connected.filter { !isOnScreen($0) } + connected.filter(isOnScreen)
    }
  }
}

/// The state of apps whose connections have broken, for when they come again.
struct SavedApps {
  private static let mostApps = 8

  /// With their phones; the last one at the end.
  private var entries: [(device: String, app: SavedApp)] = []

  mutating func keep(_ app: SavedApp, on device: String) {
    entries.removeAll { $0.device == device && $0.app.id == app.id }
    entries = entries.suffix(Self.mostApps - 1) + [(device, app)]
  }

  func apps(on device: String) -> [SavedApp] { entries.filter { $0.device == device }.map(\.app) }
}
