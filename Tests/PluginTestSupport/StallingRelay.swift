import Glibc
import TestSupport

@testable import SDLLink

/// A relay between a sink and a head unit, one connection after the other. The second one stalls: from some byte of the
/// head unit's on nothing goes through any more, in neither direction, and nothing is closed.
final class StallingRelay {
  private struct State: Sendable {
    var connectionCount = 0
    var isCut = false
    /// The head unit's ends of connections that have stalled and been given up by the sink.
    var held: [Socket] = []
  }

  private let state = Monitor(State())
  private let peer: RawPeer

  /// - Parameter byteCount: the head unit's bytes that get through on the second connection.
  init(to port: UInt16, stallingAfter byteCount: Int) throws {
    let state = state
    peer = try RawPeer { app in
      let number = state.withLock { state in
        state.connectionCount += 1
        return state.connectionCount
      }
      Self.serve(app, to: port, limit: number == 2 ? byteCount : .max, state, isFirst: number == 1)
    }
  }

  var uri: String { peer.uri }

  /// Ends the first connection.
  func cut() {
    state.withLock { $0.isCut = true }
  }

  /// Whether the sink has given up the connection that stalls; the head unit still has it.
  var isGivenUp: Bool { state.withLock { !$0.held.isEmpty } }

  /// The head unit learns of that.
  func release() {
    state.withLock { $0.held = [] }
  }

  private static func serve(
    _ app: RawConnection, to port: UInt16, limit: Int, _ state: Monitor<State>, isFirst: Bool
  ) {
    guard let target = try? Resolver.addresses(host: "127.0.0.1", port: port, flags: AI_NUMERICHOST).get().first,
      let socket = Socket.tcp(family: AF_INET)
    else { return }
    _ = target.withPointer { connect(socket.descriptor, $0, $1) }
    let headUnit = RawConnection(socket: socket, isStopped: app.isStopped)
    var rest = limit
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !app.isStopped.withLock({ $0 }), !(isFirst && state.withLock({ $0.isCut })) {
      var descriptors = [app, headUnit].map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0) }
      poll(&descriptors, 2, 10)
      for (from, to) in [(headUnit, app), (app, headUnit)] {
        switch buffer.withUnsafeMutableBytes({ from.socket.receive(into: $0) }) {
        case .bytes(let count):
          guard rest > 0 else { continue }
          let passed = from.socket === headUnit.socket ? min(count, rest) : count
          if from.socket === headUnit.socket, limit != .max { rest -= passed }
          to.send(Array(buffer[..<passed]))
        case .wouldBlock: continue
        case .endOfStream, .failed:
          if rest == 0 { state.withLock { $0.held.append(socket) } }
          return
        }
      }
    }
  }
}
