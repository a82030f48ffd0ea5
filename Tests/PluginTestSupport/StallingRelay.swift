import Glibc
import TestSupport

@testable import SDLLink

/// A relay between a sink and a head unit, one connection after the other. The first one after ``cut()`` stalls: from
/// some byte of the head unit's on nothing goes through any more, in neither direction, and nothing is closed.
final class StallingRelay {
  private struct State: Sendable {
    /// Connections since ``cut()``.
    var count = 0
    var isCut = false
    /// The head unit's ends of connections that have stalled and been given up by the sink.
    var held: [Socket] = []
  }

  /// HeartbeatACK of protocol 5.
  private static let heartbeatAnswer: [UInt8] = [0x50, 0x00, 0xFF]

  private let state = Monitor(State())
  private let peer: RawPeer

  /// - Parameter byteCount: the head unit's bytes that get through on the connection that stalls; nil for those up to
  ///   its first answer to a heartbeat.
  init(to port: UInt16, stallingAfter byteCount: Int?) throws {
    let state = state
    peer = try RawPeer { app in
      let number = state.withLock { state in
        if state.isCut { state.count += 1 }
        return state.count
      }
      Self.serve(app, to: port, limit: number == 1 ? byteCount : .max, state, endsWithCut: number == 0)
    }
  }

  var uri: String { peer.uri }

  /// Ends the present connection.
  func cut() {
    state.withLock { $0.isCut = true }
  }

  /// Whether the sink has given up the connection that stalls; the head unit still has it.
  var isGivenUp: Bool { state.withLock { !$0.held.isEmpty } }

  /// Whether the sink has connected again since.
  var isTriedAgain: Bool { state.withLock { $0.count > 1 } }

  /// The head unit learns that the sink has given up.
  func release() {
    state.withLock { $0.held = [] }
  }

  private static func serve(
    _ app: RawConnection, to port: UInt16, limit: Int?, _ state: Monitor<State>, endsWithCut: Bool
  ) {
    guard let target = try? Resolver.addresses(host: "127.0.0.1", port: port, flags: AI_NUMERICHOST).get().first,
      let socket = Socket.tcp(family: AF_INET)
    else { return }
    _ = target.withPointer { connect(socket.descriptor, $0, $1) }
    let headUnit = RawConnection(socket: socket, isStopped: app.isStopped)
    var rest = limit ?? .max
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !app.isStopped.withLock({ $0 }), !(endsWithCut && state.withLock({ $0.isCut })) {
      var descriptors = [app, headUnit].map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0) }
      poll(&descriptors, 2, 10)
      for (from, to) in [(headUnit, app), (app, headUnit)] {
        switch buffer.withUnsafeMutableBytes({ from.socket.receive(into: $0) }) {
        case .bytes(let count):
          guard rest > 0 else { continue }
          let passed = from.socket === headUnit.socket ? min(count, rest) : count
          if from.socket === headUnit.socket, limit != .max { rest -= passed }
          // Answers come alone, sooner or later.
          if limit == nil, from.socket === headUnit.socket, buffer[..<count].starts(with: Self.heartbeatAnswer) {
            rest = 0
          }
          to.send(Array(buffer[..<passed]))
        case .wouldBlock: continue
        case .endOfStream, .failed:
          state.withLock { state in
            if rest == 0 { state.held.append(socket) }
            // A connection that was given up before it could stall, on a slow machine, leaves that to the next one.
            if rest > 0, limit != .max { state.count = 0 }
          }
          return
        }
      }
    }
  }
}
