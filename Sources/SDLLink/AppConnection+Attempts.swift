import Glibc
import SDLApp
import SDLHeadUnit
import TLSEngine

/// From one attempt to connect to the next, on the connection thread.
extension AppConnection {
  /// Between two attempts to reach a head unit that refuses connections because it is just starting.
  static let refusalPause = Duration.milliseconds(250)

  /// How an attempt ended.
  struct Ending {
    /// Nil after ``stop(grace:)``.
    var failure: ConnectionFailure?
    /// For how long the app was registered; nil when it never came to that.
    var registeredTime: Duration?
    /// The last right to send video, for the next attempt to count on from.
    var lastEpoch: UInt32
  }

  func run() {
    let failure = runAttempts()
    if case .transport(let transport) = configuration.endpoint {
      transport.stop()
      inbox.discard()
    }
    report(.ended(failure))
  }

  /// Returns why no further attempt is made; nil after ``stop(grace:)``.
  private func runAttempts() -> ConnectionFailure? {
    let began = clock.now
    var reconnection = configuration.reconnection.map(Reconnection.init(timing:))
    var wasRegistered = false
    var lastEpoch: UInt32 = 0
    while true {
      let ending = attempt(after: lastEpoch, isFirst: !wasRegistered)
      lastEpoch = ending.lastEpoch
      if ending.registeredTime != nil { wasRegistered = true }
      guard stopCommand == nil, let failure = ending.failure else { return nil }
      let mayHeal =
        wasRegistered
        ? failure.canHeal
        : failure.isRegisteredAlready
          || failure.mayHealAtFirst && (waitsForPeers || clock.now - began < configuration.connectTimeout)
      guard mayHeal,
        let pause = reconnection?.pause(
          registeredTime: ending.registeredTime, chance: Double.random(in: 0..<1))
      else { return failure }
      report(.lost(failure, retryAfter: pause))
      wait(until: clock.now + pause)
      guard stopCommand == nil else { return nil }
    }
  }

  /// Whether peers come by themselves.
  private var waitsForPeers: Bool { if case .transport = configuration.endpoint { true } else { false } }

  /// One connection, from its beginning to its end.
  private func attempt(after lastEpoch: UInt32, isFirst: Bool) -> Ending {
    var ending = Ending(lastEpoch: lastEpoch)
    var builtIn: BuiltInHeadUnit?
    report(.attempting)
    do {
      if let reader = try openTransport(isFirst: isFirst, &builtIn) {
        writer.open(reader.socket)
        renewServices()
        report(.connected(peer: reader.peer))
        ending = ConnectionLoop(connection: self, reader: reader, lastEpoch: lastEpoch).run()
      }
    } catch {
      ending.failure = .link(error)
    }
    // First, because until then the memory of queued payloads may be read.
    writer.close()
    if let server = builtIn?.server {
      server.stop()
      server.join()
      threads.setBuiltInServer(nil)
    }
    return ending
  }

  /// Nil after ``stop(grace:)``.
  private func openTransport(
    isFirst: Bool, _ builtIn: inout BuiltInHeadUnit?
  ) throws(LinkError) -> FrameReader? {
    switch configuration.endpoint {
    case .tcp(let host, let port): try connect(host: host, port: port, isFirst: isFirst)
    case .builtIn(let headUnit): try startBuiltIn(headUnit, &builtIn)
    case .descriptor(let descriptor): try use(descriptor)
    case .transport(let transport): try waitForPeer(transport, isFirst: isFirst)
    }
  }

  private func connect(host: String, port: UInt16, isFirst: Bool) throws(LinkError) -> FrameReader? {
    let timeout = configuration.connectTimeout
    let deadline = clock.now + timeout
    report(.resolving(host: host))
    let resolver = try Resolver.start(host: host, port: port, wakeUp: wakeUp)
    guard
      let resolved = resolver.wait(
        until: deadline, clock: clock, wakeUp: wakeUp, isWanted: { self.stopCommand == nil })
    else {
      guard stopCommand == nil else { return nil }
      throw .resolvingTimedOut(host: host, after: timeout)
    }
    let addresses = try resolved.get()
    // Whoever starts app and head unit by hand may begin with either, and a car's network comes up with the car.
    let lastRetry = isFirst ? deadline - Self.refusalPause * 2 : .zero
    var reported: Set<String> = []
    while true {
      let began = clock.now
      var connector = Connector(addresses: addresses, timeout: timeout, deadline: deadline, clock: clock)
      let outcome = connector.run(
        wakeUp: wakeUp, isWanted: { self.stopCommand == nil },
        willTry: { address in
          if reported.insert(address.description).inserted { self.report(.connecting(address: address.description)) }
        })
      switch outcome {
      case .connected(let socket, let address): return FrameReader(socket: socket, peer: address.description)
      case .interrupted: return nil
      case .failed(.refused) where began < lastRetry, .failed(.unreachable) where began < lastRetry:
        wait(until: began + Self.refusalPause)
      case .failed(let error): throw error
      }
    }
  }

  /// Returns earlier only after ``stop(grace:)``, and when a peer has come by itself.
  private func wait(until time: Duration) {
    while stopCommand == nil, !inbox.isReady, clock.now < time {
      withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 1) { descriptors in
        descriptors[0] = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
        pollDescriptors(descriptors, until: time, clock: clock)
      }
      wakeUp.clear()
    }
  }

  private func use(_ descriptor: ConnectedDescriptor) throws(LinkError) -> FrameReader {
    let peer = "descriptor \(descriptor.number)"
    guard let socket = descriptor.take() else { throw .closedByPeer(address: peer) }
    return FrameReader(socket: socket, peer: peer)
  }

  private func startBuiltIn(
    _ headUnit: HeadUnitConfiguration, _ builtIn: inout BuiltInHeadUnit?
  ) throws(LinkError) -> FrameReader {
    let (ours, theirs) = try Socket.pair()
    let observer = BuiltInObserver(connection: self)
    var headUnit = headUnit
    let tls = configuration.tls.flatMap(TLSContext.builtInHeadUnit)
    if let tls {
      headUnit.security = .accept
      headUnit.beginsHandshake = tls.role == .client
    }
    let server = try HeadUnitServer(
      configuration: headUnit, serving: theirs, tls: tls, clock: clock, observer: observer)
    builtIn = BuiltInHeadUnit(server: server, observer: observer)
    threads.setBuiltInServer(server)
    try server.start()
    return FrameReader(socket: ours, peer: "the built-in head unit")
  }
}

/// The other end of the built-in connection. The server refers to its observer only weakly.
private struct BuiltInHeadUnit {
  var server: HeadUnitServer
  var observer: BuiltInObserver
}

/// Passes the built-in head unit's events on.
private final class BuiltInObserver: HeadUnitServerObserver {
  private weak let connection: AppConnection?

  init(connection: AppConnection) {
    self.connection = connection
  }

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    guard case .session(_, let event) = event else { return }
    switch event {
    case .videoData, .audioData: return
    default: break
    }
    connection?.report(.headUnit(event))
  }
}
