import SDLLink
import Synchronization

/// Reports of a ``Transport``, until the connection thread takes them.
final class TransportInbox: Sendable {
  private struct State: Sendable {
    var status: TransportStatus?
    var isStatusNew = false
    var connection: PeerConnection?
    var failure: TransportFailure?
    /// At most ``maximumFaultCount``; the connection thread takes them whenever it is awake.
    var faults: [String] = []
    var isStarted = false
    /// Nothing is taken any more.
    var isOver = false
  }

  enum Item: Sendable {
    case connection(PeerConnection)
    case failure(TransportFailure)
    /// Once for each change.
    case status(TransportStatus)
    case nothing
  }

  private static let maximumFaultCount = 64

  private let state = Monitor(State())
  /// Saves taking the lock for each step of the connection.
  private let hasFaults = Atomic(false)
  private let wakeUp: WakeUp

  init(wakeUp: WakeUp) {
    self.wakeUp = wakeUp
  }

  /// Starts the transport, unless that has been done.
  func start(_ transport: any Transport) throws(LinkError) {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted
    }
    if isFirst { try transport.start { [self] in receive($0) } }
  }

  private func receive(_ event: TransportEvent) {
    let former = state.withLock { state -> PeerConnection? in
      switch event {
      case .status(let status):
        state.status = status
        state.isStatusNew = true
      case .connected(let connection):
        guard !state.isOver else { return connection }
        defer { state.connection = connection }
        return state.connection
      case .faultFound(let text):
        if state.faults.count < Self.maximumFaultCount { state.faults.append(text) }
        hasFaults.store(true, ordering: .relaxed)
      case .failed(let failure): state.failure = failure
      }
      return nil
    }
    // Which closes it, and must not happen with the lock held.
    _ = consume former
    wakeUp.signal()
  }

  /// Whether a peer waits, or none will come.
  var isReady: Bool { state.withLock { $0.connection != nil || $0.failure != nil } }

  /// The present status, new or not.
  var status: TransportStatus? { state.withLock { $0.status } }

  /// The next report, the most important first.
  func take() -> Item {
    state.withLock { state in
      if let connection = state.connection.take() { return .connection(connection) }
      if let failure = state.failure { return .failure(failure) }
      guard state.isStatusNew, let status = state.status else { return .nothing }
      state.isStatusNew = false
      return .status(status)
    }
  }

  /// The transport's complaints since the last call.
  func takeFaults() -> [String] {
    guard hasFaults.exchange(false, ordering: .relaxed) else { return [] }
    return state.withLock { state in
      defer { state.faults = [] }
      return state.faults
    }
  }

  /// The wait begins again: its status is reported again.
  func renew() {
    state.withLock { $0.isStatusNew = $0.status != nil }
  }

  /// Closes connections that were not taken, and all later ones.
  func discard() {
    let connection = state.withLock { state in
      state.isOver = true
      return state.connection.take()
    }
    _ = consume connection
  }
}
