import Glibc
import SDLWire
import Synchronization
import TLSEngine

/// Waits for a head unit that connects over WebSocket, as SDL Core does to apps in a cloud. One connection is handed
/// over at a time; whoever comes meanwhile is refused, and connections that ask for nothing hold no place against one
/// that does.
package final class WebSocketListener: Transport {
  /// Connections whose handshake is not complete.
  private static let maximumCandidateCount = 16
  /// For the handshake.
  private static let handshakeTime = Duration.seconds(10)
  /// The pause when descriptors have run out.
  private static let acceptPause = Duration.milliseconds(100)

  private struct Candidate {
    let number: UInt64
    let webSocket: WebSocket
    let peer: String
    let deadline: Duration
    /// What its handshakes wait for.
    var events = Int16(POLLIN)
  }

  private let address: String?
  private let requestedPort: UInt16
  private let tls: TLSContext?
  private let clock: TimeSource
  private let log: @Sendable (String) -> Void
  private let thread = WorkerThread(name: "sdl-websocket")
  let wakeUp = WakeUp()
  private let isStopped = Atomic(false)
  /// The number of the connection that was handed over, while it exists; otherwise 0.
  private let taken = Atomic<UInt64>(0)
  private let boundPort = Atomic<UInt16>(0)

  /// - Parameters:
  ///   - address: a host name or numeric address; nil for all of this machine's.
  ///   - tls: this end of TLS (wss), in the role of a server; nil for ws.
  ///   - clock: of the time for handshakes.
  ///   - log: gets a line for each connection that is refused, on the transport's thread.
  package init(
    address: String?, port: UInt16, tls: TLSContext? = nil, clock: TimeSource = .monotonic,
    log: @escaping @Sendable (String) -> Void
  ) {
    (self.address, requestedPort, self.tls, self.clock, self.log) = (address, port, tls, clock, log)
  }

  package var transportClass: TransportClass { .tcpWiFi }

  /// The port, once it listens; 0 before.
  package var port: UInt16 { boundPort.load(ordering: .acquiring) }

  package func start(_ report: @escaping @Sendable (TransportEvent) -> Void) throws(LinkError) {
    try wakeUp.open()
    try thread.start { self.run(report) }
  }

  package func stop() {
    isStopped.store(true, ordering: .releasing)
    wakeUp.signal()
    thread.join()
  }

  private func run(_ report: @Sendable (TransportEvent) -> Void) {
    let listening: (socket: Socket, address: SocketAddress)
    do throws(LinkError) {
      listening = try Socket.listening(address: address, port: requestedPort)
    } catch {
      let failure = TransportFailure(
        .busy, "\(error)", advice: "Choose another port or address in uri, or end the program that has it.")
      return report(.failed(failure))
    }
    boundPort.store(listening.address.port, ordering: .releasing)
    var isWaitReported = false
    var candidates: [Candidate] = []
    var nextNumber: UInt64 = 1
    while !isStopped.load(ordering: .acquiring) {
      let isTaken = isTaken
      if !isTaken, !isWaitReported {
        report(.status(.waiting(for: "a head unit over WebSocket, at \(listening.address)")))
      }
      isWaitReported = !isTaken
      let pause = accept(from: listening.socket, into: &candidates, &nextNumber)
      if let candidate = takeOpen(&candidates) {
        taken.store(candidate.number, ordering: .releasing)
        report(.connected(PeerConnection(candidate.webSocket, peer: candidate.peer)))
        continue
      }
      wait(for: listening.socket, candidates, pause)
    }
  }

  /// Accepts as many as there may be, and drops the oldest for them. Each is looked at before the next call, unless
  /// another is taken.
  ///
  /// - Returns: until when nothing can be accepted.
  private func accept(
    from listener: Socket, into candidates: inout [Candidate], _ nextNumber: inout UInt64
  ) -> Duration? {
    let now = clock.now
    for _ in 0..<Self.maximumCandidateCount {
      guard let socket = listener.accept() else {
        return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) ? now + Self.acceptPause : nil
      }
      let number = nextNumber
      nextNumber &+= 1
      let webSocket = WebSocket(
        accepting: socket, origins: .none,
        obstacle: { [weak self] in self?.isTaken == true ? "there is a connection already" : nil },
        tls: tls?.makeSession(), closed: { [weak self] in self?.noteEnd(of: number) })
      if candidates.count == Self.maximumCandidateCount {
        drop(candidates.removeFirst(), "it has asked for no WebSocket, and others want its place")
      }
      candidates.append(
        Candidate(
          number: number, webSocket: webSocket, peer: socket.peerAddress?.description ?? "the head unit",
          deadline: now + Self.handshakeTime))
    }
    return nil
  }

  private var isTaken: Bool { taken.load(ordering: .acquiring) != 0 }

  private func drop(_ candidate: Candidate, _ reason: String) {
    log("\(candidate.peer) refused: \(reason)".printable())
  }

  /// From any thread.
  private func noteEnd(of number: UInt64) {
    guard taken.compareExchange(expected: number, desired: 0, ordering: .acquiringAndReleasing).exchanged else {
      return
    }
    wakeUp.signal()
  }

  /// The first candidate that is a WebSocket; those that never will be are dropped.
  private func takeOpen(_ candidates: inout [Candidate]) -> Candidate? {
    let now = clock.now
    for (index, candidate) in candidates.enumerated().reversed() {
      switch candidate.webSocket.advance() {
      case .open:
        candidates.remove(at: index)
        guard isTaken else { return candidate }
        drop(candidate, "another was faster")
      case .failed(let failure): drop(candidates.remove(at: index), failure.reason)
      case .waiting(let events):
        candidates[index].events = events
        if candidate.deadline <= now {
          drop(
            candidates.remove(at: index), "it has asked for no WebSocket in \(Self.handshakeTime.components.seconds) s")
        }
      }
    }
    return nil
  }

  private func wait(for listener: Socket, _ candidates: [Candidate], _ pause: Duration?) {
    var descriptors = [
      pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: pause == nil ? listener.descriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    descriptors += candidates.map { pollfd(fd: $0.webSocket.descriptor, events: $0.events, revents: 0) }
    let deadline = (candidates.map(\.deadline) + [pause].compactMap(\.self)).min()
    descriptors.withUnsafeMutableBufferPointer { pollDescriptors($0, until: deadline, clock: clock) }
    wakeUp.clear()
  }
}
