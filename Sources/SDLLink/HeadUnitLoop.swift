import CLinux
import Glibc
import SDLHeadUnit

/// The server's thread: accepts apps, moves bytes, and executes the sessions' actions.
final class HeadUnitLoop {
  /// How long accepting rests when descriptors have run out.
  private static let acceptPause = Duration.milliseconds(100)

  private let server: HeadUnitServer
  private var apps: [ServedApp] = []
  private var lastID: UInt8 = 0
  private var acceptPausedUntil: Duration?
  private var descriptors: [pollfd] = []
  private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameReader.readSize, alignment: 8)

  init(server: HeadUnitServer) {
    self.server = server
  }

  deinit {
    readBuffer.deallocate()
  }

  /// Returns after the server's stop, or after the end of an adopted connection.
  func run() {
    if case .connection(let socket) = server.source { serve(socket, peer: "the app in this process") }
    while true {
      // Before the orders are taken, so that those given before it are carried out.
      let isStopping = server.isStopRequested
      let now = MonotonicClock.now
      for order in server.takeOrders() { obey(order, now: now) }
      for app in apps {
        app.advance(now: now)
        app.write()
      }
      removeEnded()
      if isStopping { break }
      if case .connection = server.source, apps.isEmpty { break }
      wait(now: now)
    }
    for app in apps { app.end(nil) }
    removeEnded()
    server.report(.ended)
  }

  private func obey(_ order: HeadUnitServer.Order, now: Duration) {
    switch order {
    case .steer(let id, let input): app(id)?.perform { input(&$0, now) }
    case .read(let id, let isReading): app(id)?.isReading = isReading
    case .disconnect(let id): app(id)?.end(nil)
    }
  }

  private func app(_ id: UInt8) -> ServedApp? {
    apps.first { $0.id == id && !$0.isOver }
  }

  private func removeEnded() {
    for app in apps where app.isOver {
      server.report(.disconnected(id: app.id, app.failure, app.statistics))
    }
    apps.removeAll(where: \.isOver)
  }
}

// MARK: Waiting

extension HeadUnitLoop {
  private func wait(now: Duration) {
    descriptors.removeAll(keepingCapacity: true)
    descriptors.append(pollfd(fd: server.wakeUp.descriptor, events: Int16(POLLIN), revents: 0))
    descriptors.append(pollfd(fd: listenerDescriptor(now: now), events: Int16(POLLIN), revents: 0))
    for app in apps { descriptors.append(app.pollDescriptor) }
    let deadline = (apps.compactMap(\.nextDeadline) + [acceptPausedUntil].compactMap(\.self)).min()
    descriptors.withUnsafeMutableBufferPointer { pollDescriptors($0, until: deadline) }
    if descriptors[0].revents != 0 { server.wakeUp.clear() }
    for (app, descriptor) in zip(apps, descriptors.dropFirst(2))
    where descriptor.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
      app.read(into: readBuffer)
    }
    if descriptors[1].revents != 0 { accept(now: now) }
  }

  /// -1, which poll(2) ignores, while nobody can be accepted.
  private func listenerDescriptor(now: Duration) -> Int32 {
    if let paused = acceptPausedUntil, paused <= now { acceptPausedUntil = nil }
    guard case .listener(let socket, _) = server.source, acceptPausedUntil == nil,
      apps.count < server.maximumConnectionCount
    else { return -1 }
    return socket.descriptor
  }

  private func accept(now: Duration) {
    guard case .listener(let listener, _) = server.source else { return }
    let descriptor = linux_accept(listener.descriptor)
    guard descriptor >= 0 else {
      // Otherwise the listener would stay readable and the thread would spin.
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { acceptPausedUntil = now + Self.acceptPause }
      return
    }
    let socket = Socket(adopting: descriptor)
    socket.configureTCP()
    serve(socket, peer: SocketAddress(connectedTo: descriptor)?.description ?? "the app")
  }

  private func serve(_ socket: Socket, peer: String) {
    repeat { lastID = lastID == .max ? 1 : lastID + 1 } while apps.contains { $0.id == lastID }
    let app = ServedApp(id: lastID, socket: socket, peer: peer, server: server)
    apps.append(app)
    server.report(.connected(id: app.id, peer: peer))
    app.perform { $0.transportConnected(now: MonotonicClock.now) }
  }
}
