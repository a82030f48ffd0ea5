import Glibc
import SDLWire
import Synchronization

/// Waits for a head unit that connects over WebSocket, as SDL Core does to apps in a cloud. One connection is handed
/// over at a time; whoever comes meanwhile is refused.
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
  }

  private let address: String?
  private let requestedPort: UInt16
  private let log: @Sendable (String) -> Void
  private let thread = WorkerThread(name: "sdl-websocket")
  private let wakeUp = WakeUp()
  private let isStopped = Atomic(false)
  /// The number of the connection that was handed over, while it exists; otherwise 0.
  private let taken = Atomic<UInt64>(0)
  private let boundPort = Atomic<UInt16>(0)

  /// - Parameters:
  ///   - address: a host name or numeric address; nil for all of this machine's.
  ///   - log: gets a line for each connection that is refused, on the transport's thread.
  package init(address: String?, port: UInt16, log: @escaping @Sendable (String) -> Void) {
    (self.address, requestedPort, self.log) = (address, port, log)
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
      let isTaken = taken.load(ordering: .acquiring) != 0
      if !isTaken, !isWaitReported {
        report(.status(.waiting(for: "a head unit over WebSocket, at \(listening.address)")))
      }
      isWaitReported = !isTaken
      let pause = accept(from: listening.socket, into: &candidates, &nextNumber)
      if let candidate = takeOpen(&candidates) {
        if isTaken {
          log("\(candidate.peer) refused: there is a connection already")
        } else {
          taken.store(candidate.number, ordering: .releasing)
          candidates = []
          report(.connected(PeerConnection(candidate.webSocket, peer: candidate.peer)))
        }
        continue
      }
      wait(for: listening.socket, candidates, pause)
    }
  }

  /// Returns until when nothing can be accepted.
  private func accept(
    from listener: Socket, into candidates: inout [Candidate], _ nextNumber: inout UInt64
  ) -> Duration? {
    let now = MonotonicClock.now
    while candidates.count < Self.maximumCandidateCount {
      guard let socket = listener.accept() else {
        return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) ? now + Self.acceptPause : nil
      }
      let number = nextNumber
      nextNumber &+= 1
      let webSocket = WebSocket(accepting: socket, origins: .none, tls: nil) { [weak self] in self?.noteEnd(of: number)
      }
      candidates.append(
        Candidate(
          number: number, webSocket: webSocket, peer: socket.peerAddress?.description ?? "the head unit",
          deadline: now + Self.handshakeTime))
    }
    return nil
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
    let now = MonotonicClock.now
    for (index, candidate) in candidates.enumerated().reversed() {
      switch candidate.webSocket.advance() {
      case .open:
        candidates.remove(at: index)
        return candidate
      case .failed(let failure):
        log("\(candidate.peer) refused: \(failure.reason)".printable())
        candidates.remove(at: index)
      case .waiting:
        if candidate.deadline <= now { candidates.remove(at: index) }
      }
    }
    return nil
  }

  private func wait(for listener: Socket, _ candidates: [Candidate], _ pause: Duration?) {
    let mayAccept = pause == nil && candidates.count < Self.maximumCandidateCount
    var descriptors = [
      pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: mayAccept ? listener.descriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    descriptors += candidates.map { pollfd(fd: $0.webSocket.descriptor, events: Int16(POLLIN), revents: 0) }
    let deadline = (candidates.map(\.deadline) + [pause].compactMap(\.self)).min()
    descriptors.withUnsafeMutableBufferPointer { pollDescriptors($0, until: deadline, clock: .monotonic) }
    wakeUp.clear()
  }
}
