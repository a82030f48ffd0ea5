import Glibc
import SDLApp
import SDLLink

/// The secondary transport of a connection, from the name of its address to its end. The connection thread serves it
/// beside the primary one, and never waits for it alone.
struct SecondaryLink {
  enum Stage {
    case resolving(Resolver)
    case connecting(Connector)
    case connected(FrameReader)
    case failed(String)
  }

  /// A report of the connection thread to the session.
  enum Progress {
    case connected(Socket)
    case failed(String)
  }

  /// Why an address of a head unit on another machine is not connected to.
  static let ownAddress = "the address belongs to the app's own machine"

  /// The session's number of the attempt (``AppSession/Action/openSecondary(_:attempt:)``).
  let attempt: UInt32
  private(set) var stage: Stage
  var wantsToWrite = false
  var stall = StallWatch()
  /// The head unit has exceeded its input budget: nothing is read until then.
  var pausedUntil: Duration?
  private let address: TransportAddress
  private let deadline: Duration
  private let timeout: Duration
  private let clock: TimeSource
  private let makeSocket: SocketMaker
  private let acceptsThisMachine: Bool

  /// Begins to resolve; a numeric address needs no name service.
  ///
  /// - Parameter acceptsThisMachine: whether the head unit is on this machine. What its address means to the resolver
  ///   counts, not how it is written.
  init(
    _ address: TransportAddress, attempt: UInt32, _ configuration: AppConnection.Configuration,
    acceptsThisMachine: Bool, wakeUp: WakeUp
  ) {
    self.address = address
    self.attempt = attempt
    self.acceptsThisMachine = acceptsThisMachine
    timeout = configuration.connectTimeout
    clock = configuration.clock
    makeSocket = configuration.makeSocket
    deadline = clock.now + timeout
    do throws(LinkError) {
      stage = .resolving(try Resolver.start(host: address.host, port: address.port, wakeUp: wakeUp))
    } catch {
      stage = .failed(error.description)
    }
  }

  /// Makes the next step towards a connection, without waiting.
  mutating func advance() -> Progress? {
    if case .resolving(let resolver) = stage {
      guard let outcome = resolver.outcome else {
        return clock.now < deadline ? nil : .failed("the name service did not answer for \(address.host)")
      }
      do {
        let addresses = try outcome.get().filter { acceptsThisMachine || $0.reach != .thisMachine }
        guard !addresses.isEmpty else { return .failed(Self.ownAddress) }
        stage = .connecting(
          Connector(
            addresses: addresses, timeout: timeout, deadline: deadline, clock: clock, makeSocket: makeSocket))
      } catch {
        return .failed("\(error)")
      }
    }
    switch stage {
    case .connecting(var connector):
      let outcome = connector.advance()
      stage = .connecting(connector)
      return outcome.flatMap { take($0) }
    case .failed(let reason): return .failed(reason)
    case .resolving, .connected: return nil
    }
  }

  private mutating func take(_ outcome: Connector.Outcome) -> Progress? {
    switch outcome {
    case .connected(let socket, let address):
      stage = .connected(FrameReader(socket: socket, peer: address.description))
      return .connected(socket)
    case .failed(let error): return .failed(error.description)
    case .interrupted: return nil
    }
  }

  /// When ``advance()`` has something to do; nil once it is connected.
  var nextDeadline: Duration? {
    switch stage {
    case .resolving(let resolver): resolver.outcome == nil ? deadline : clock.now
    case .connecting(let connector): connector.nextDeadline
    case .connected: stall.nextDeadline.earlier(pausedUntil)
    case .failed: clock.now
    }
  }

  /// The descriptors for poll(2).
  var descriptors: [pollfd] {
    switch stage {
    case .resolving, .failed: return []
    case .connecting(let connector): return connector.descriptors
    case .connected(let reader):
      let events = (pausedUntil == nil ? POLLIN : 0) | (wantsToWrite ? POLLOUT : 0)
      return [pollfd(fd: reader.socket.descriptor, events: Int16(events), revents: 0)]
    }
  }

  /// Handles the result of poll(2) while the connection is being made.
  mutating func handle(_ descriptors: ArraySlice<pollfd>) -> Progress? {
    guard case .connecting(var connector) = stage else { return nil }
    let outcome = connector.handle(descriptors)
    stage = .connecting(connector)
    return outcome.flatMap { take($0) }
  }

  /// The incoming half, once it is connected. Take it, read, and give it back.
  var reader: FrameReader? {
    get { if case .connected(let reader) = stage { reader } else { nil } }
    set { if let newValue { stage = .connected(newValue) } }
  }
}
