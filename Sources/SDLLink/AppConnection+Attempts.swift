import Glibc
import SDLApp
import SDLHeadUnit

/// From one attempt to connect to the next, on the connection thread.
extension AppConnection {
  /// How an attempt ended.
  struct Ending {
    /// Nil when the connection was not wanted any more.
    var failure: ConnectionFailure?
    /// For how long the app was registered; nil when it never came to that.
    var registeredTime: Duration?
    /// The last right to send video, for the next attempt to count on from.
    var lastEpoch: UInt32
  }

  func run() {
    let began = MonotonicClock.now
    var reconnection = configuration.reconnection.map(Reconnection.init(timing:))
    var wasRegistered = false
    var lastEpoch: UInt32 = 0
    while true {
      let ending = attempt(after: lastEpoch, isFirst: !wasRegistered)
      lastEpoch = ending.lastEpoch
      if ending.registeredTime != nil { wasRegistered = true }
      guard stopCommand == nil, let failure = ending.failure else { return report(.ended(nil)) }
      let mayHeal =
        wasRegistered
        ? failure.canHeal : failure.isLoss && MonotonicClock.now - began < configuration.connectTimeout
      guard mayHeal,
        let pause = reconnection?.pause(
          registeredTime: ending.registeredTime, chance: Double.random(in: 0..<1))
      else { return report(.ended(failure)) }
      report(.lost(failure, retryAfter: pause))
      let next = MonotonicClock.now + pause
      while stopCommand == nil, MonotonicClock.now < next { waitForCommands(until: next) }
      guard stopCommand == nil else { return report(.ended(nil)) }
    }
  }

  /// One connection, from its beginning to its end.
  private func attempt(after lastEpoch: UInt32, isFirst: Bool) -> Ending {
    var ending = Ending(lastEpoch: lastEpoch)
    report(.attempting)
    do {
      if let reader = try openTransport(isFirst: isFirst) {
        outlet.open(reader.socket)
        queue.open()
        renewIntent()
        report(.connected(peer: reader.peer))
        ending = ConnectionLoop(connection: self, reader: reader, lastEpoch: lastEpoch).run()
      }
    } catch {
      ending.failure = .link(error)
    }
    // First, because until then the memory of queued payloads may be read.
    outlet.close()
    queue.close()
    if let server = builtInHeadUnit.withLock({ $0 })?.server {
      server.stop()
      server.join()
      builtInHeadUnit.withLock { $0 = nil }
    }
    return ending
  }

  /// Nil when the connection is not wanted any more.
  private func openTransport(isFirst: Bool) throws(LinkError) -> FrameReader? {
    switch configuration.endpoint {
    case .tcp(let host, let port): try connect(host: host, port: port, isFirst: isFirst)
    case .builtIn(let headUnit): try startBuiltIn(headUnit)
    }
  }

  private func connect(host: String, port: UInt16, isFirst: Bool) throws(LinkError) -> FrameReader? {
    let timeout = configuration.connectTimeout
    let deadline = MonotonicClock.now + timeout
    report(.resolving(host: host))
    let resolver = try Resolver.start(host: host, port: port, wakeUp: wakeUp)
    guard
      let resolved = resolver.wait(until: deadline, wakeUp: wakeUp, isWanted: { self.stopCommand == nil })
    else {
      guard stopCommand == nil else { return nil }
      throw .resolvingTimedOut(host: host, after: timeout)
    }
    let addresses = try resolved.get()
    // Whoever starts app and head unit by hand may begin with either, and a car's network comes up with the car.
    let patience = isFirst ? deadline - Self.refusalPause * 2 : .zero
    var told: Set<String> = []
    while true {
      let began = MonotonicClock.now
      var connector = Connector(addresses: addresses, timeout: timeout, deadline: deadline, now: began)
      let outcome = connector.run(
        wakeUp: wakeUp, isWanted: { self.stopCommand == nil },
        willTry: { address in
          if told.insert(address.description).inserted { self.report(.connecting(address: address.description)) }
        })
      switch outcome {
      case .connected(let socket, let address): return FrameReader(socket: socket, peer: address.description)
      case .interrupted: return nil
      case .failed(.refused) where began < patience, .failed(.unreachable) where began < patience:
        waitForCommands(until: began + Self.refusalPause)
      case .failed(let error): throw error
      }
    }
  }

  private func waitForCommands(until deadline: Duration) {
    withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 1) { descriptors in
      descriptors[0] = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
      pollDescriptors(descriptors, until: deadline)
    }
    wakeUp.clear()
  }

  private func startBuiltIn(_ headUnit: HeadUnitConfiguration) throws(LinkError) -> FrameReader {
    let (ours, theirs) = try Socket.pair()
    let observer = BuiltInObserver(connection: self)
    let server = try HeadUnitServer(configuration: headUnit, serving: theirs, observer: observer)
    builtInHeadUnit.withLock { $0 = BuiltInHeadUnit(server: server, observer: observer) }
    try server.start()
    return FrameReader(socket: ours, peer: "the built-in head unit")
  }
}

/// The other end of the built-in connection. The server refers to its observer only weakly.
struct BuiltInHeadUnit: Sendable {
  var server: HeadUnitServer
  var observer: BuiltInObserver
}

/// Hands the built-in head unit's news on.
final class BuiltInObserver: HeadUnitServerObserver {
  private weak let connection: AppConnection?

  init(connection: AppConnection) {
    self.connection = connection
  }

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    guard case .session(_, let event) = event else { return }
    if case .videoData = event { return }
    connection?.report(.headUnit(event))
  }
}
