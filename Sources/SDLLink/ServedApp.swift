import Glibc
import SDLHeadUnit
import SDLWire

/// What a ``ServedApp`` reports to the thread that it lives on.
protocol ServedAppOwner: AnyObject {
  /// After every change of the session that may concern other apps.
  func appDidChangeSummary()
  /// In the middle of the app's work: for the record.
  func app(_ app: ServedApp, didReport event: HeadUnitSession.Event)
  /// The app's session may be given another input. False when the head unit hangs from now on, so that it gets none.
  func appDidTakeInput() -> Bool
}

/// One app that is connected to a ``HeadUnitServer``; lives on the server's thread.
final class ServedApp {
  /// For the last frames of a session that is over.
  private static let closeTimeout = Duration.seconds(1)

  let id: UInt8
  let connectTime: Duration
  /// Off lets the connection fill up.
  private var isReading = true
  /// Whether the whole head unit hangs.
  private var isHanging = false
  /// Whether the socket is to be closed.
  private(set) var isOver = false
  private(set) var failure: LinkError?
  private let server: HeadUnitServer
  private let clock: TimeSource
  private unowned let owner: any ServedAppOwner
  private var session: HeadUnitSession
  private var reader: FrameReader
  /// Read, but not taken by the session, because the head unit began to hang; poll(2) knows nothing of them. No more than
  /// one read's.
  private var heldItems: [FrameDecoder.Item] = []
  private var outgoing = ControlFrameBuffer()
  private var tracer: MessageTracer?
  private var closeDeadline: Duration?
  /// Until when an app has to be registered; nil while one is.
  private var registrationDeadline: Duration?

  init(
    id: UInt8, socket: Socket, peer: String, configuration: HeadUnitConfiguration, server: HeadUnitServer,
    owner: any ServedAppOwner
  ) {
    self.id = id
    self.server = server
    self.owner = owner
    clock = server.clock
    connectTime = clock.now
    session = HeadUnitSession(configuration: configuration, sessionID: id, connectionID: UInt16(id))
    reader = FrameReader(socket: socket, peer: peer, limits: configuration.frameLimits)
    tracer = MessageTracer(server.messageTrace, prefix: "app \(id) ", clock: clock)
    registrationDeadline = server.admission.registrationTime.map { connectTime + $0 }
  }

  var statistics: VideoStreamStatistics { session.statistics }

  /// The phone, or computer, that the app runs on: the address without the port.
  var device: Substring { reader.peer.lastIndex(of: ":").map { reader.peer[..<$0] } ?? reader.peer[...] }

  /// Nil before the registration.
  var identity: AppIdentity? { session.identity }

  /// Nil before the registration.
  var summary: AppSummary? { session.summary }

  var nextDeadline: Duration? {
    [session.nextDeadline, closeDeadline, registrationDeadline].compactMap(\.self).min()
  }

  /// Whether a deadline of the session has passed.
  func isDue(at now: Duration) -> Bool { session.nextDeadline.map { $0 <= now } ?? false }

  /// Whether ``read(into:)`` has something to do, whatever poll(2) says.
  var holdsInput: Bool { !heldItems.isEmpty }

  /// What to poll for. A connection that waits for nothing is left out, because poll(2) would report its hang-up again
  /// and again.
  var pollDescriptor: pollfd {
    let events = (isReading ? POLLIN : 0) | (!outgoing.isEmpty ? POLLOUT : 0)
    return pollfd(fd: events == 0 ? -1 : reader.socket.descriptor, events: Int16(events), revents: 0)
  }

  /// Gives the session an input and executes what comes of it.
  func perform(_ input: (inout HeadUnitSession) -> [HeadUnitSession.Action]) {
    guard !isOver else { return }
    let former = session.summary
    execute(input(&session))
    let summary = session.summary
    guard summary != former else { return }
    if (summary == nil) != (former == nil) {
      let time = summary == nil ? server.admission.registrationTime : nil
      registrationDeadline = time.map { clock.now + $0 }
    }
    owner.appDidChangeSummary()
  }

  func setReading(_ isReading: Bool, now: Duration) {
    self.isReading = isReading
    noteReading(now: now)
  }

  func setHanging(_ isHanging: Bool, now: Duration) {
    self.isHanging = isHanging
    noteReading(now: now)
  }

  private func noteReading(now: Duration) {
    let isReading = isReading && !isHanging
    perform { $0.setReading(isReading, now: now) }
  }

  private func execute(_ actions: [HeadUnitSession.Action]) {
    for action in actions {
      switch action {
      case .send(let frames):
        tracer?.noteSent(frames)
        do { try outgoing.append(frames, peer: reader.peer) } catch { end(error) }
      case .report(let event):
        owner.app(self, didReport: event)
      case .close:
        closeDeadline = clock.now + Self.closeTimeout
      }
    }
  }

  /// Does what is due.
  func advance(now: Duration) {
    if isDue(at: now) {
      perform { $0.advance(to: now) }
      _ = owner.appDidTakeInput()
    }
    if let deadline = [closeDeadline, registrationDeadline].compactMap(\.self).min(), deadline <= now { end(nil) }
  }

  /// Writes what the kernel takes.
  func write() {
    while !outgoing.isEmpty, !isOver {
      switch outgoing.write(to: reader.socket) {
      case .bytes: continue
      case .wouldBlock: return
      case .endOfStream: end(.closedByPeer(address: reader.peer))
      case .failed(let code): end(.connectionLost(address: reader.peer, errno: code))
      }
    }
    if closeDeadline != nil { end(nil) }
  }

  /// Reads some, so that each app gets its turn.
  func read(into buffer: UnsafeMutableRawBufferPointer) {
    guard isReading, takeHeldItems() else { return }
    for _ in 0..<FrameReader.readsPerRound where !isOver {
      switch reader.read(into: buffer) {
      case .bytes(let count):
        while !isOver, let item = reader.next() {
          guard take(item) else {
            // The buffer is all apps'.
            while let item = reader.next() { heldItems.append(item) }
            return
          }
        }
        if count < buffer.count { return }
      case .wouldBlock:
        return
      case .endOfStream:
        end(.closedByPeer(address: reader.peer))
      case .failed(let code):
        end(.connectionLost(address: reader.peer, errno: code))
      }
    }
  }

  /// False when nothing more may be taken.
  private func take(_ item: FrameDecoder.Item) -> Bool {
    tracer?.noteReceived(item)
    perform { $0.receive(item, now: clock.now) }
    return owner.appDidTakeInput()
  }

  /// False when nothing more may be taken.
  private func takeHeldItems() -> Bool {
    guard !heldItems.isEmpty else { return true }
    let items = heldItems
    heldItems = []
    for (index, item) in items.enumerated() where !isOver {
      guard take(item) else {
        heldItems = Array(items[(index + 1)...])
        return false
      }
    }
    return true
  }

  /// Ends the connection; nil when this side wants it.
  func end(_ error: LinkError?) {
    guard !isOver else { return }
    isOver = true
    failure = error
    execute(session.transportLost(now: clock.now))
    owner.appDidChangeSummary()
  }
}
