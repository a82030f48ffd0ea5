import Glibc
import SDLLink
import SDLWire

extension AppConnection {
  /// How to get a connected descriptor for the head unit.
  package enum Endpoint: Sendable {
    /// A host name or numeric address, IPv6 without brackets.
    case tcp(host: String, port: UInt16)
    case webSocket(WebSocketServer)
    /// An established connection. It can't be made again, so there should be no ``Configuration/reconnection``.
    case descriptor(ConnectedDescriptor)
    /// Any other way, such as connections that come by themselves. It is started by the connection, and stopped at its
    /// end.
    case transport(any Transport)

    /// The kind of its connections. Nothing is known about a descriptor.
    package var transportClass: TransportClass {
      switch self {
      case .tcp, .webSocket, .descriptor: .tcpWiFi
      case .transport(let transport): transport.transportClass
      }
    }

    /// Why a connection is over, by what the last system call has found.
    func failure(_ transfer: Socket.Transfer, of reader: FrameReader) -> LinkError {
      let closes: [Socket.Transfer] = [.endOfStream, .failed(errno: ECONNRESET), .failed(errno: EPIPE)]
      if case .tcp = self, !reader.hasReceived, closes.contains(transfer) {
        return .closedUnanswered(address: reader.peer)
      }
      if case .failed(let code) = transfer { return .connectionLost(address: reader.peer, errno: code) }
      return .closedByPeer(address: reader.peer)
    }

    /// Whether the head unit at the other end of `socket` is on this machine.
    func isOnThisMachine(_ socket: Socket) -> Bool {
      switch self {
      case .tcp, .webSocket: socket.isPeerOnThisMachine
      case .descriptor(let descriptor): descriptor.isLocal
      case .transport(let transport): transport.isOnThisMachine
      }
    }
  }
}

/// Makes one connection after the other to the head unit of an ``AppConnection``, on its thread.
struct ConnectionOpener {
  /// Between two attempts to reach a head unit that refuses connections because it is just starting.
  static let refusalPause = Duration.milliseconds(250)

  private let connection: AppConnection
  private var configuration: AppConnection.Configuration { connection.configuration }
  private var clock: TimeSource { connection.clock }
  private var wakeUp: WakeUp { connection.wakeUp }
  private var isWanted: Bool { connection.stopCommand == nil }

  init(_ connection: AppConnection) {
    self.connection = connection
  }

  /// Nil after ``AppConnection/stop(grace:)``.
  func open(isFirst: Bool) throws(LinkError) -> FrameReader? {
    switch configuration.endpoint {
    case .tcp(let host, let port): try connect(host: host, port: port, isFirst: isFirst)
    case .webSocket(let server): try connect(host: server.host, port: server.port, server, isFirst: isFirst)
    case .descriptor(let descriptor): try use(descriptor)
    case .transport(let transport): try connect(by: transport, isFirst: isFirst)
    }
  }

  /// - Parameter server: the server of a WebSocket, which is to be opened; nil for TCP alone.
  private func connect(
    host: String, port: UInt16, _ server: WebSocketServer? = nil, isFirst: Bool
  ) throws(LinkError) -> FrameReader? {
    let timeout = configuration.connectTimeout
    let deadline = clock.now + timeout
    connection.report(.resolving(host: host))
    let resolver = try Resolver.start(host: host, port: port, wakeUp: wakeUp)
    guard
      let resolved = resolver.wait(until: deadline, clock: clock, wakeUp: wakeUp, isWanted: { isWanted })
    else {
      guard isWanted else { return nil }
      throw .resolvingTimedOut(host: host, after: timeout)
    }
    let addresses = try resolved.get()
    // A user may start the app before the head unit, and a car's network comes up with the car.
    let lastRetry = isFirst ? deadline - Self.refusalPause * 2 : .zero
    var reported: Set<String> = []
    while true {
      let began = clock.now
      var connector = Connector(
        addresses: addresses, timeout: timeout, deadline: deadline, clock: clock, makeSocket: configuration.makeSocket)
      let outcome = connector.run(
        wakeUp: wakeUp, isWanted: { isWanted },
        willTry: { address in
          if reported.insert(address.description).inserted {
            connection.report(.connecting(address: address.description))
          }
        })
      switch outcome {
      case .connected(let socket, let address):
        return try open(server, over: socket, to: address, until: deadline)
      case .interrupted: return nil
      case .failed(.refused) where began < lastRetry, .failed(.unreachable) where began < lastRetry:
        connection.wait(until: began + Self.refusalPause)
      case .failed(let error): throw error
      }
    }
  }

  /// Nil after ``AppConnection/stop(grace:)``.
  private func open(
    _ server: WebSocketServer?, over socket: Socket, to address: SocketAddress, until deadline: Duration
  ) throws(LinkError) -> FrameReader? {
    guard let server else { return FrameReader(socket: socket, peer: address.description) }
    do throws(TransportFailure) {
      return try server.open(socket, until: deadline, clock: clock, wakeUp: wakeUp, isWanted: { isWanted })
        .map { FrameReader(socket: $0, peer: address.description) }
    } catch {
      throw .noWebSocket(address: address.description, error)
    }
  }

  private func use(_ descriptor: ConnectedDescriptor) throws(LinkError) -> FrameReader {
    let peer = "descriptor \(descriptor.number)"
    guard let socket = descriptor.take() else { throw .closedByPeer(address: peer) }
    return FrameReader(socket: socket, peer: peer)
  }

  /// Makes a connection, or waits for a peer that connects by itself, for as long as it takes. Nil after
  /// ``AppConnection/stop(grace:)``.
  ///
  /// - Parameter isFirst: whether the app has never been registered. Then a missing service is waited for only until
  ///   the connect time-out, since it may not be installed.
  /// - Throws: the reason why peers can never connect.
  private func connect(by transport: any Transport, isFirst: Bool) throws(LinkError) -> FrameReader? {
    let deadline = isFirst ? clock.now + configuration.connectTimeout : nil
    connection.inbox.renew()
    try connection.inbox.start(transport)
    if let connection = try transport.connect() {
      return connection.takeSocket().map { FrameReader(socket: $0, peer: connection.peer) }
    }
    while isWanted {
      switch connection.inbox.take() {
      case .connection(let connection):
        guard let socket = connection.takeSocket() else { continue }
        return FrameReader(socket: socket, peer: connection.peer)
      case .failure(let failure): throw .transport(failure)
      case .status(let status): connection.report(.waiting(status))
      case .nothing:
        let end = missingService == nil ? nil : deadline
        if let end, end <= clock.now, let failure = missingService { throw .transport(failure) }
        wakeUp.wait(until: end, clock: clock)
      }
    }
    return nil
  }

  private var missingService: TransportFailure? {
    guard case .blocked(let failure)? = connection.inbox.status, failure.kind == .serviceMissing else { return nil }
    return failure
  }
}
