import Glibc
import SDLHeadUnit
import SDLLink
import SDLWire

/// One transport to a ``HeadUnitServer``, with one app in each of its sessions; lives on the server's thread.
///
/// It has one session from the start. An app that starts the RPC service without naming a session gets another, as from
/// SDL Core; a session that has ended is used again. A connection from the port for secondary transports has no
/// session, but may become the second transport of one.
final class ServedConnection {
  /// How long the last frames of an ended session may take.
  static let closeTimeout = Duration.seconds(1)
  /// How much longer they may take on a slow road.
  private static let longestWayOut = Duration.seconds(30)

  /// How long a secondary connection may take until RegisterSecondaryTransport is acknowledged.
  private static let secondaryRegistrationTime = Duration.seconds(10)

  let connectTime: Duration
  let role: Role
  let address: Address
  /// The app whose secondary transport this is.
  private var secondaryApp: ServedApp?
  /// In the order of their sessions' starts; not empty once the connection is served.
  private(set) var apps: [ServedApp] = []
  /// Off lets the connection fill up.
  private var isReading = true
  /// Whether the socket is to be closed.
  private(set) var isOver = false
  private(set) var failure: LinkError?
  private let registrationTime: Duration?
  private let clock: TimeSource
  private unowned let loop: HeadUnitLoop
  private var reader: FrameReader
  /// Bytes that were read but not handled, because the head unit began to hang or a long message takes its time; poll(2)
  /// does not see them. At most one read's.
  private var heldItems: [FrameDecoder.Item] = []
  private var outgoing = ControlFrameBuffer()
  /// Nil for that of the network alone, which costs nothing.
  private var road: ShapedLink?
  private var isRoadStalled = false
  private var closeDeadline: Duration?
  /// Until when an app has to be registered; nil while one is.
  private var registrationDeadline: Duration?

  /// Where the other end is.
  struct Address: Equatable {
    /// The phone, or computer, that the apps run on: its IP address, or its name for the transport.
    let device: String
    /// What limits for each address count: ``SocketAddress/network``, or ``device``.
    let network: String
    /// Whether ``device`` is an IP address.
    let isIP: Bool

    init(_ socket: Socket, peer: String) {
      let address = socket.peerAddress.flatMap { $0.isIP ? $0 : nil }
      device = address?.device ?? peer
      network = address?.network ?? peer
      isIP = address != nil
    }

    /// For tests.
    init(device: String, network: String, isIP: Bool) {
      (self.device, self.network, self.isIP) = (device, network, isIP)
    }
  }

  /// The port that it came from.
  enum Role {
    case primary
    case secondary
  }

  init(
    socket: Socket, peer: String, role: Role = .primary, limits: FrameLimits, server: HeadUnitServer,
    loop: HeadUnitLoop
  ) {
    self.loop = loop
    self.role = role
    clock = server.clock
    connectTime = clock.now
    reader = FrameReader(socket: socket, peer: peer, limits: limits)
    address = Address(socket, peer: peer)
    registrationTime =
      server.admission.registrationTime ?? (role == .secondary ? Self.secondaryRegistrationTime : nil)
    registrationDeadline = registrationTime.map { connectTime + $0 }
  }

  var peer: String { reader.peer }

  /// The local IP address of the socket; nil if it has none.
  var localAddress: SocketAddress? {
    socket.ownAddress.flatMap { $0.isIP ? $0 : nil }
  }

  private var socket: Socket { reader.socket }

  /// The configuration of its sessions.
  func configure(_ configuration: HeadUnitConfiguration, authToken: String?) -> HeadUnitConfiguration {
    guard let webSocket = socket as? WebSocket else { return configuration }
    var configuration = configuration
    configuration.offersSecondaryTransport = false
    guard !webSocket.isServer else { return configuration }
    // The driver has activated the app already.
    configuration.activation = configuration.activation ?? .zero
    configuration.authToken = authToken
    return configuration
  }

  /// Which connections have a place before it.
  var place: ConnectionPlaces.Occupant {
    let isActive = secondaryApp != nil || apps.contains { $0.isInUse }
    return ConnectionPlaces.Occupant(
      address: address.network, connectTime: connectTime,
      state: isActive ? .active : hasRegisteredApp ? .idle : .unregistered)
  }

  private var hasRegisteredApp: Bool { secondaryApp != nil || apps.contains { $0.session.summary != nil } }

  /// The head unit takes the app's bytes; whether the road carries any is another matter.
  private var takesInput: Bool { isReading && !loop.isHanging }

  /// The app's bytes are read as they come.
  private var isInTime: Bool { takesInput && !isRoadStalled }

  func nextDeadline(at now: Duration) -> Duration? {
    let onRoad = road?.nextDeadline(at: now, takesInput: takesInput)
    return (apps.map { $0.session.nextDeadline } + [closeDeadline, registrationDeadline, onRoad]).compactMap(\.self)
      .min()
  }

  func isDue(at now: Duration) -> Bool {
    apps.contains { $0.isDue(at: now) } || road?.isDue(at: now, takesInput: takesInput) ?? false
  }

  /// Whether ``read(into:)`` has something to do, whatever poll(2) says.
  var holdsInput: Bool {
    guard takesInput else { return false }
    return !heldItems.isEmpty || isBusy || socket.holdsInput && road.map { $0.allowance(at: clock.now) > 0 } ?? true
  }

  /// Whether a long message is being checked, before the end of which nothing more is read.
  private var isBusy: Bool {
    apps.contains { $0.session.busyTransport == .primary } || secondaryApp?.session.busyTransport == .secondary
  }

  /// What to poll for. A connection that waits for no event is left out, because poll(2) would report its hang-up again
  /// and again.
  func pollDescriptor(at now: Duration) -> pollfd {
    let reads = isReading && road.map { $0.allowance(at: now) > 0 } ?? true
    let events = (reads ? POLLIN : 0) | (!outgoing.isEmpty ? POLLOUT : 0)
    return pollfd(fd: events == 0 ? -1 : reader.socket.descriptor, events: Int16(events), revents: 0)
  }

  /// Adds an app, whose session knows nothing of its transport yet.
  func add(_ app: ServedApp) {
    apps.append(app)
  }

  /// The transport is up for an app that was added.
  func connect(_ app: ServedApp, now: Duration) {
    app.perform { $0.transportConnected(now: now) }
    if !isInTime { app.perform { $0.setReading(false, now: now) } }
  }

  func setReading(_ isReading: Bool, now: Duration) {
    self.isReading = isReading
    noteReading(now: now)
  }

  /// Bytes are read from now on, or not.
  func noteReading(now: Duration) {
    let isInTime = isInTime
    for app in apps { app.perform { $0.setReading(isInTime, now: now) } }
  }

  /// Nothing could be read for a while.
  func noteStandstill(since start: Duration, now: Duration) {
    guard isInTime else { return }
    for app in apps { app.waited(since: start, now: now) }
  }

  func registrationDidChange() {
    let deadline = registrationDeadline ?? registrationTime.map { clock.now + $0 }
    registrationDeadline = hasRegisteredApp ? nil : deadline
  }

  /// Does all due work of the connection.
  func advance(now: Duration) {
    for app in apps where app.isDue(at: now) {
      app.perform { $0.advance(to: now) }
      guard loop.appDidTakeInput() else { break }
    }
    if let deadline = [closeDeadline, registrationDeadline].compactMap(\.self).min(), deadline <= now { end(nil) }
  }

  /// Ends the connection; nil when this side ends it.
  func end(_ error: LinkError?) {
    guard !isOver else { return }
    isOver = true
    failure = error
    for app in apps { app.loseTransport(now: clock.now) }
    secondaryApp.take()?.loseSecondary(now: clock.now)
    loop.settleScreen()
  }
}

// MARK: Sending

extension ServedConnection {
  func send(_ frames: [UInt8]) {
    guard road == nil else { return sendOnRoad(frames) }
    do { try outgoing.append(frames, peer: reader.peer) } catch { end(error) }
  }

  /// As with SDL Core, a session that ends takes the transport with it only if it is the last.
  func close(_ scope: HeadUnitSession.CloseScope, by app: ServedApp) {
    let now = clock.now
    let others = apps.filter { $0 !== app }
    if scope == .session, closeDeadline == nil, others.contains(where: { $0.session.isStarted }) {
      // The session can be started again.
      return connect(app, now: now)
    }
    closeDeadline = timeout(now: now)
    for other in others { other.loseTransport(now: now) }
    loop.settleScreen()
  }

  func closeAfterWriting() {
    closeDeadline = timeout(now: clock.now)
    if isWritten { end(nil) }
  }

  /// When the last frames, which may still be on the road, have to be written.
  private func timeout(now: Duration) -> Duration {
    let arrival = road.map { min($0.down.lastDue - now, Self.longestWayOut) } ?? .zero
    return now + max(arrival, .zero) + Self.closeTimeout
  }

  private var isWritten: Bool { outgoing.isEmpty && road?.down.isEmpty ?? true }

  /// Writes what the kernel takes.
  func write() {
    if road != nil { takeSentFromRoad() }
    while !outgoing.isEmpty, !isOver {
      let transfer = outgoing.write(to: reader.socket)
      switch transfer {
      case .bytes: continue
      case .wouldBlock: return
      case .endOfStream, .failed: noteEnd(transfer)
      }
    }
    if closeDeadline != nil, isWritten { end(nil) }
  }

  /// Nothing can be written any more.
  private func noteEnd(_ transfer: Socket.Transfer) {
    if road != nil {
      // The end is read, too, behind bytes that have not come yet.
      outgoing = ControlFrameBuffer()
    } else if case .failed(let code) = transfer {
      end(.connectionLost(address: reader.peer, errno: code))
    } else {
      end(.closedByPeer(address: reader.peer))
    }
  }
}

// MARK: A slow road

extension ServedConnection {
  /// Another road from now on; nil is that of the network alone.
  /// - Parameter start: the beginning of the schedule of its stalls.
  func setShape(_ shape: LinkShape?, since start: Duration, now: Duration) {
    guard shape != nil || road != nil else { return }
    var changed = road ?? ShapedLink()
    changed.change(to: shape, since: start, now: now)
    road = changed
    socket.limitReceiveBuffer(shape?.up.map(ShapedLink.kernelByteCount))
    advanceRoad(to: now)
  }

  /// Notes a stall's beginning or end.
  func advanceRoad(to now: Duration) {
    guard road != nil else { return }
    road?.advance(to: now)
    let isStalled = road?.isStalled(at: now) ?? false
    if isStalled != isRoadStalled {
      isRoadStalled = isStalled
      noteReading(now: now)
    }
    if let road, road.isOpen, road.isEmpty { self.road = nil }
  }

  private func sendOnRoad(_ frames: [UInt8]) {
    let count = road?.down.count ?? 0
    guard frames.count <= ControlFrameBuffer.maximumByteCount - count else {
      return end(.peerNotReading(address: reader.peer, queuedByteCount: count))
    }
    road?.send(frames, now: clock.now)
  }

  private func takeSentFromRoad() {
    let arrived = road?.takeSent(now: clock.now) ?? []
    guard !arrived.isEmpty else { return }
    do { try outgoing.append(arrived, peer: reader.peer) } catch { end(error) }
  }

  /// Lets the road take bytes of the app, and returns those that have arrived.
  private func readFromRoad(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
    let now = clock.now
    let allowed = min(road?.allowance(at: now) ?? 0, buffer.count)
    if allowed > 0 {
      let transfer = socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<allowed]))
      switch transfer {
      case .bytes(let count):
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        let since = road?.receive(bytes, isCrowded: count == allowed, now: now)
        // Its bytes had to wait, which is not the app's fault.
        if let since { for app in apps + [secondaryApp].compactMap(\.self) { app.waited(since: since, now: now) } }
      case .wouldBlock: break
      case .endOfStream, .failed: road?.end(transfer, now: now)
      }
    }
    let arrived = road?.takeReceived(into: buffer, now: now) ?? .wouldBlock
    if case .bytes(let count) = arrived { reader.take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
    return arrived
  }
}

// MARK: Input, and the session that it belongs to

extension ServedConnection {
  /// Reads some, so that each connection gets its turn.
  func read(into buffer: UnsafeMutableRawBufferPointer) {
    guard isReading, continueWork(), takeHeldItems() else { return }
    for _ in 0..<FrameReader.readsPerRound where !isOver {
      let transfer = road == nil ? reader.read(into: buffer) : readFromRoad(into: buffer)
      noteComplaint()
      switch transfer {
      case .bytes(let count):
        while !isOver, let item = reader.next() {
          guard take(item) else {
            // All connections share the buffer.
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

  private func noteComplaint() {
    if let text = socket.takeComplaint() { apps.first?.report(.transport(text)) }
  }

  /// False when no more input may be handled.
  private func take(_ item: FrameDecoder.Item) -> Bool {
    if role == .secondary {
      takeOnSecondary(item)
    } else if case .frame(let frame) = item, frame.startsSession, !apps.contains(where: { !$0.session.isStarted }) {
      if let app = closeDeadline == nil ? loop.addSession(to: self) : nil {
        app.receive(item, now: clock.now)
      } else {
        apps.first?.refuseSession(frame, now: clock.now)
      }
    } else {
      let app = recipient(of: item)
      if case .frame(let frame) = item, frame.header.controlFrame == .startService { app?.secondary?.readToEnd() }
      app?.receive(item, now: clock.now)
    }
    return loop.appDidTakeInput() && !isBusy
  }

  /// Takes one step of a long message.
  /// - Returns: false when no more input may be handled.
  private func continueWork() -> Bool {
    guard isBusy else { return true }
    let now = clock.now
    for app in apps where app.session.busyTransport == .primary { app.perform { $0.continueWork(now: now) } }
    if let app = secondaryApp, app.session.busyTransport == .secondary { app.perform { $0.continueWork(now: now) } }
    return loop.appDidTakeInput() && !isBusy
  }

  /// The session of an item; the first session for an item of none.
  private func recipient(of item: FrameDecoder.Item) -> ServedApp? {
    guard apps.count > 1, case .frame(let frame) = item else { return apps.first }
    let app = apps.first { app in
      frame.startsSession ? !app.session.isStarted : app.session.sessionID == frame.header.sessionID
    }
    return app ?? apps.first
  }

  /// False when no more input may be handled.
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
}

// MARK: A connection from the port for secondary transports

extension ServedConnection {
  /// The first frame has to be RegisterSecondaryTransport; later ones go to the session that it names.
  private func takeOnSecondary(_ item: FrameDecoder.Item) {
    if let app = secondaryApp { return app.receive(item, on: .secondary, now: clock.now) }
    guard closeDeadline == nil else { return }
    guard case .frame(let frame) = item, frame.header.controlFrame == .registerSecondaryTransport else {
      loop.refuse(self, .notRegistered)
      return end(nil)
    }
    switch loop.register(self, with: frame) {
    case .accepted: break
    case .refused(let answer):
      send(answer)
      closeAfterWriting()
    // The app closes it, or the time for the registration does.
    case .unanswered: break
    }
  }

  /// It is the secondary transport of this app from now on.
  func attach(to app: ServedApp) {
    secondaryApp = app
    registrationDeadline = nil
  }

  /// If the peer has closed it, handles the rest of its bytes, and the end.
  ///
  /// An app may close this connection and continue on another before this one has been read; its frames there would
  /// otherwise be handled too early.
  func readToEnd() {
    guard isReading, socket.isClosedByPeer else { return }
    // Nothing comes that could be slow, and the bytes on the road are before those on another.
    setShape(nil, since: clock.now, now: clock.now)
    // The common buffer may be in use. The kernel's buffer bounds the rest, as the peer sends no more.
    withUnsafeTemporaryAllocation(byteCount: FrameReader.readSize, alignment: 8) { buffer in
      // A script may end the reading with any of these bytes.
      while takesInput, !isOver { read(into: buffer) }
    }
  }

  /// The session does not use it any more.
  func detach() {
    secondaryApp = nil
    closeAfterWriting()
  }
}

extension Frame {
  /// StartService(RPC) that names no session.
  fileprivate var startsSession: Bool {
    header.sessionID == 0 && header.service == .rpc && header.controlFrame == .startService
  }
}
