import Glibc
import SDLWire

@testable import SDLHeadUnitLink
@testable import SDLLink
import Testing

/// A TCP server on a local port whose behaviour a test defines, in place of a head unit.
final class RawPeer {
  private let listener: Socket
  private let thread = WorkerThread(name: "raw-peer")
  private let isStopped = Monitor(false)
  let port: UInt16

  /// `serve` gets each connection and ends it by returning.
  init(_ serve: @escaping @Sendable (RawConnection) -> Void) throws {
    let (socket, address) = try Socket.listening(address: "127.0.0.1", port: 0)
    listener = socket
    port = address.port
    try thread.start { [isStopped] in
      while !isStopped.withLock({ $0 }) {
        guard waitForInput(socket.descriptor) else { continue }
        let descriptor = accept(socket.descriptor, nil, nil)
        guard descriptor >= 0 else { continue }
        serve(RawConnection(socket: Socket(adopting: descriptor), isStopped: isStopped))
      }
    }
  }

  deinit {
    isStopped.withLock { $0 = true }
    thread.join()
  }

  var uri: String { "sdl://127.0.0.1:\(port)" }

  /// A port without a listener, which no other test gets: it lies below those that the kernel gives out by default, so
  /// that only another call of this could find it.
  static func unusedPort() throws -> UInt16 {
    for _ in 0..<100 {
      let port = UInt16.random(in: 13_000..<20_000)
      if (try? Socket.listening(address: "127.0.0.1", port: port)) != nil { return port }
    }
    throw TestFailure("no port is free")
  }
}

/// One connection of a ``RawPeer``.
struct RawConnection: Sendable {
  let socket: Socket
  let isStopped: Monitor<Bool>

  /// False when the other side does not take it any more.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty, !isStopped.withLock({ $0 }) {
      switch rest.withUnsafeBytes({ socket.send($0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock: poll(nil, 0, 1)
      case .endOfStream, .failed: return false
      }
    }
    return rest.isEmpty
  }

  /// The next bytes; nil at the end, or when the test is over.
  func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !isStopped.withLock({ $0 }) {
      switch buffer.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
      case .bytes(let count): return Array(buffer[..<count])
      case .wouldBlock: _ = waitForInput(socket.descriptor)
      case .endOfStream, .failed: return nil
      }
    }
    return nil
  }

  /// Reads and discards until the other side closes.
  func readToEnd() {
    while receive() != nil {}
  }
}

/// A short wait, so that the caller can check whether it has to stop.
private func waitForInput(_ descriptors: Int32...) -> Bool {
  var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
  return poll(&polled, nfds_t(polled.count), 20) > 0
}

/// Relays between an app and a head unit, and closes both connections after a number of frames.
func relay(_ app: RawConnection, to port: UInt16, cutAfter limit: Int) {
  guard let target = try? Resolver.addresses(host: "127.0.0.1", port: port, flags: AI_NUMERICHOST).get().first,
    let socket = Socket.tcp(family: AF_INET)
  else { return }
  _ = target.withPointer { connect(socket.descriptor, $0, $1) }
  let headUnit = RawConnection(socket: socket, isStopped: app.isStopped)
  var frames = 0
  var decoders = [FrameDecoder(), FrameDecoder()]
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while !app.isStopped.withLock({ $0 }) {
    guard frames < limit else { return }
    _ = waitForInput(app.socket.descriptor, headUnit.socket.descriptor)
    for (side, from, to) in [(0, app, headUnit), (1, headUnit, app)] {
      switch buffer.withUnsafeMutableBytes({ from.socket.receive(into: $0) }) {
      case .bytes(let count): decoders[side].append(Array(buffer[..<count]))
      case .wouldBlock: continue
      case .endOfStream, .failed: return
      }
      while frames < limit, let item = decoders[side].next() {
        if case .frame(let frame) = item, !to.send(frame.bytes) { return }
        frames += 1
      }
    }
  }
}
