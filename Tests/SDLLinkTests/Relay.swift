import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

/// A relay between an app and a head unit that records their bytes and can hold back the app's.
final class Relay: Sendable {
  enum Side: Int {
    case app, headUnit
  }

  private struct State: Sendable {
    var received: [[UInt8]] = [[], []]
    var isHoldingApp = false
    var injection: [UInt8] = []
    var isStopped = false
  }

  let port: UInt16
  private let state = Monitor(State())
  private let thread = WorkerThread(name: "relay")

  init(to headUnitPort: UInt16) throws {
    let listener = try RawListener()
    port = listener.port
    let target = try #require(
      try Resolver.addresses(host: "127.0.0.1", port: headUnitPort, flags: AI_NUMERICHOST).get().first)
    let toHeadUnit = try #require(Socket.tcp(family: AF_INET))
    _ = target.withPointer { connect(toHeadUnit.descriptor, $0, $1) }
    let listening = listener.socket
    try thread.start { [state] in
      var accepted: Int32 = -1
      guard
        eventually({
          accepted = accept(listening.descriptor, nil, nil)
          return accepted >= 0
        })
      else { return }
      Self.run(app: Socket(adopting: accepted), headUnit: toHeadUnit, state: state)
    }
  }

  /// Everything that a side has sent so far.
  func received(from side: Side) -> [UInt8] { state.withLock { $0.received[side.rawValue] } }

  /// On: the app's bytes stay in the kernel.
  func holdApp(_ isHolding: Bool) { state.withLock { $0.isHoldingApp = isHolding } }

  /// Sends the app a frame that the head unit did not send.
  func inject(_ frame: Frame) { state.withLock { $0.injection += frame.bytes } }

  func stop() {
    state.withLock { $0.isStopped = true }
    thread.join()
  }

  private static func run(app: Socket, headUnit: Socket, state: Monitor<State>) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !state.withLock(\.isStopped) {
      var moved = false
      let injection = state.withLock { state in
        defer { state.injection = [] }
        return state.injection
      }
      app.write(injection)
      for (side, from, to) in [(Side.app, app, headUnit), (Side.headUnit, headUnit, app)] {
        if side == .app, state.withLock(\.isHoldingApp) { continue }
        switch buffer.withUnsafeMutableBytes({ from.receive(into: $0) }) {
        case .bytes(let count):
          moved = true
          let bytes = Array(buffer[..<count])
          state.withLock { $0.received[side.rawValue] += bytes }
          guard send(bytes, to: to, state: state) else { return }
        case .wouldBlock: continue
        case .endOfStream, .failed: return
        }
      }
      if !moved { poll(nil, 0, 1) }
    }
  }

  private static func send(_ bytes: [UInt8], to socket: Socket, state: Monitor<State>) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch rest.withUnsafeBytes({ socket.send($0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock: poll(nil, 0, 1)
      case .endOfStream, .failed: return false
      }
      if state.withLock(\.isStopped) { return false }
    }
    return true
  }
}

/// An app that streams to a head unit through a ``Relay``.
struct RelayedPair {
  let headUnit = HeadUnitRecorder()
  let app = ConnectionRecorder()
  let server: HeadUnitServer
  let relay: Relay
  let connection: AppConnection
  let grant: VideoGrant

  init() throws {
    server = try HeadUnitServer(configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
    try server.start()
    relay = try Relay(to: try #require(server.port))
    connection = makeConnection(port: relay.port, observer: app)
    connection.setVideoRequest(testRequest)
    try connection.start()
    grant = try #require(app.waitForGrant())
  }

  func stop() {
    connection.stop(grace: .seconds(1))
    connection.join()
    relay.stop()
    server.stop()
    server.join()
  }
}

/// The frames that one side sends up to the start of video.
func recordedFrames(of side: Relay.Side) throws -> [[UInt8]] {
  let pair = try RelayedPair()
  let bytes = pair.relay.received(from: side)
  pair.stop()
  return decode(bytes).frames.map(\.bytes)
}
