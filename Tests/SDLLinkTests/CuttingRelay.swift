import Glibc
import Testing

@testable import SDLLink

/// A relay between apps and a head unit, one connection after the other, that breaks the one that a test has chosen, or
/// lets it stand still.
final class CuttingRelay: Sendable {
  enum Fault: CaseIterable, Sendable {
    /// An orderly close.
    case close
    /// As after a crash or a power failure.
    case reset
    /// Nothing is read any more, nor written, until ``resume()``.
    case stall
  }

  /// When and how a connection breaks.
  struct Cut: Sendable {
    /// Whose bytes are counted.
    var side: Relay.Side
    /// How many of them get through.
    var byteCount: Int
    var fault: Fault
  }

  private struct State: Sendable {
    var target: UInt16
    var cut: Cut?
    var isStalled = false
    var isServing = false
    var counts = [0, 0]
    var isStopped = false
  }

  let port: UInt16
  private let state: Monitor<State>
  private let wakeUp = WakeUp()
  private let thread = WorkerThread(name: "relay")

  init(to headUnitPort: UInt16) throws {
    let listener = try RawListener()
    port = listener.port
    state = Monitor(State(target: headUnitPort))
    try wakeUp.open()
    let listening = listener.socket
    try thread.start { [state, wakeUp] in
      while !state.withLock(\.isStopped) {
        Self.wait(for: [listening], wakeUp)
        let accepted = accept(listening.descriptor, nil, nil)
        guard accepted >= 0 else { continue }
        state.withLock { $0.isServing = true }
        Self.serve(Socket(adopting: accepted), state, wakeUp)
        state.withLock { $0.isServing = false }
      }
    }
  }

  /// For the next connection; those after it are left alone.
  func arm(_ cut: Cut?) { state.withLock { $0.cut = cut } }

  /// How many bytes of a side have got through, of the last connection.
  func byteCount(of side: Relay.Side) -> Int { state.withLock { $0.counts[side.rawValue] } }

  /// Whether the connection stands still.
  var isStalled: Bool { state.withLock(\.isStalled) }

  /// Whether there is a connection, which a cut would break.
  var isServing: Bool { state.withLock(\.isServing) }

  /// Goes on with a connection that stands still.
  func resume() {
    state.withLock { $0.isStalled = false }
    wakeUp.signal()
  }

  /// Whether a cut is still to be made.
  var isArmed: Bool { state.withLock { $0.cut != nil } }

  /// Breaks the present connection now.
  func cutNow() {
    state.withLock { $0.cut = Cut(side: .app, byteCount: 0, fault: .close) }
    wakeUp.signal()
  }

  /// Sets the port to which the next connections are relayed.
  func route(to headUnitPort: UInt16) { state.withLock { $0.target = headUnitPort } }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.isStalled = false
    }
    wakeUp.signal()
    thread.join()
  }

  private static func wait(for sockets: [Socket], _ wakeUp: WakeUp) {
    var descriptors = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    descriptors.append(pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0))
    descriptors.withUnsafeMutableBufferPointer { pollDescriptors($0, until: nil, clock: .monotonic) }
    if descriptors.last?.revents != 0 { wakeUp.clear() }
  }

  /// An app whose head unit is not there is disconnected at once.
  private static func serve(_ app: Socket, _ state: Monitor<State>, _ wakeUp: WakeUp) {
    let port = state.withLock(\.target)
    guard let target = try? Resolver.addresses(host: "127.0.0.1", port: port, flags: AI_NUMERICHOST).get().first,
      let headUnit = Socket.tcp(family: AF_INET)
    else { return }
    _ = target.withPointer { connect(headUnit.descriptor, $0, $1) }
    for socket in [app, headUnit] { socket.configureTCP() }
    state.withLock { $0.counts = [0, 0] }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !state.withLock(\.isStopped) {
      for (side, from, to) in [(Relay.Side.app, app, headUnit), (.headUnit, headUnit, app)] {
        let (cut, counts) = state.withLock { ($0.cut, $0.counts) }
        if let cut, cut.byteCount <= counts[cut.side.rawValue] {
          state.withLock { state in
            state.isStalled = cut.fault == .stall
            state.cut = nil
          }
          guard cut.fault == .stall else { return close([app, headUnit], isReset: cut.fault == .reset) }
          while state.withLock(\.isStalled) { wait(for: [], wakeUp) }
          continue
        }
        let limit = cut.map { $0.side == side ? $0.byteCount - counts[side.rawValue] : buffer.count } ?? buffer.count
        let transfer = buffer.withUnsafeMutableBytes { bytes in
          from.receive(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<min(limit, bytes.count)]))
        }
        switch transfer {
        case .bytes(let count):
          state.withLock { $0.counts[side.rawValue] += count }
          // The end of a session waits for the acknowledgement, which the kernel would delay.
          from.set(Int32(IPPROTO_TCP), TCP_QUICKACK, 1)
          guard send(buffer[..<count], to: to, state) else { return }
        case .wouldBlock: continue
        case .endOfStream, .failed: return
        }
      }
      if !hasInput([app, headUnit]) { wait(for: [app, headUnit], wakeUp) }
    }
  }

  private static func hasInput(_ sockets: [Socket]) -> Bool {
    var descriptors = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    return poll(&descriptors, nfds_t(descriptors.count), 0) > 0
  }

  private static func send(_ bytes: ArraySlice<UInt8>, to socket: Socket, _ state: Monitor<State>) -> Bool {
    var rest = bytes
    while !rest.isEmpty, !state.withLock(\.isStopped) {
      switch rest.withUnsafeBytes({ socket.send($0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock: poll(nil, 0, 1)
      case .endOfStream, .failed: return false
      }
    }
    return rest.isEmpty
  }

  /// What is unread when a socket closes would reset the connection, so it is read for an orderly close.
  private static func close(_ sockets: [Socket], isReset: Bool) {
    for socket in sockets {
      if isReset {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
      } else {
        _ = shutdown(socket.descriptor, Int32(SHUT_WR))
      }
    }
    if !isReset { for socket in sockets { _ = socket.readAll() } }
  }
}
