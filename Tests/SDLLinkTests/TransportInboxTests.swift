import Glibc
import SDLWire
import Synchronization
import Testing

@testable import SDLAppLink
@testable import SDLLink

/// Reports what a test says.
private final class ReportingTransport: Transport {
  private let reports = Mutex<[@Sendable (TransportEvent) -> Void]>([])

  var transportClass: TransportClass { .bluetooth }
  var startCount: Int { reports.withLock { $0.count } }

  func start(_ report: @escaping @Sendable (TransportEvent) -> Void) throws(LinkError) {
    reports.withLock { $0.append(report) }
  }

  func stop() {}

  func report(_ event: TransportEvent) { reports.withLock { $0.first }?(event) }
}

/// What waits for the thread of a connection.
@Suite struct TransportInboxTests {
  private let transport = ReportingTransport()
  private let wakeUp = WakeUp()
  private let inbox: TransportInbox

  init() throws {
    try wakeUp.open()
    inbox = TransportInbox(wakeUp: wakeUp)
    try inbox.start(transport)
  }

  private func connect(_ peer: String, _ closed: Monitor<[String]>) throws {
    let (ours, theirs) = try Socket.descriptorPair()
    close(theirs)
    transport.report(
      .connected(PeerConnection(adopting: ours, peer: peer) { closed.withLock { $0.append(peer) } }))
  }

  private func take() -> String {
    switch inbox.take() {
    case .connection(let connection): "connection \(connection.peer)"
    case .failure(let failure): "failure \(failure.reason)"
    case .status(.waiting(let text)): "waiting for \(text)"
    case .status(.blocked(let failure)): "blocked: \(failure.reason)"
    case .nothing: "nothing"
    }
  }

  private func takeWakeUp() -> Bool {
    var descriptor = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
    defer { wakeUp.clear() }
    return poll(&descriptor, 1, 0) == 1
  }

  @Test func startsOnce() throws {
    try inbox.start(transport)
    #expect(transport.startCount == 1)
  }

  @Test func theMostImportantFirst() throws {
    let closed = Monitor<[String]>([])
    #expect(!inbox.isReady && take() == "nothing" && !takeWakeUp())
    transport.report(.status(.waiting(for: "a car")))
    #expect(!inbox.isReady && takeWakeUp())
    try connect("A", closed)
    #expect(inbox.isReady && takeWakeUp())
    transport.report(.failed(TransportFailure(.failed, "it is over", advice: "")))
    #expect(take() == "connection A")
    // It stays over.
    #expect(inbox.isReady && take() == "failure it is over" && take() == "failure it is over")
  }

  /// Once for each change, and once more when the wait begins again.
  @Test func statuses() {
    inbox.renew()
    #expect(take() == "nothing" && inbox.status == nil)
    transport.report(.status(.waiting(for: "a car")))
    transport.report(.status(.waiting(for: "another car")))
    #expect(take() == "waiting for another car" && take() == "nothing")
    #expect(inbox.status == .waiting(for: "another car"))
    inbox.renew()
    #expect(take() == "waiting for another car" && take() == "nothing")
  }

  /// The latest connection counts; none is left open.
  @Test func connectionsThatNobodyTakes() throws {
    let closed = Monitor<[String]>([])
    for peer in ["A", "B"] { try connect(peer, closed) }
    #expect(closed.withLock { $0 } == ["A"])
    #expect(take() == "connection B" && take() == "nothing")
    try connect("C", closed)
    inbox.discard()
    try connect("D", closed)
    #expect(closed.withLock { $0 } == ["A", "B", "C", "D"])
    #expect(!inbox.isReady && take() == "nothing")
  }

  @Test func faults() {
    #expect(inbox.takeFaults() == [])
    for number in 1...70 { transport.report(.faultFound("\(number)")) }
    #expect(takeWakeUp())
    // More would be memory without a bound.
    #expect(inbox.takeFaults() == (1...64).map { "\($0)" } && inbox.takeFaults() == [])
    transport.report(.faultFound("later"))
    #expect(inbox.takeFaults() == ["later"])
  }
}
