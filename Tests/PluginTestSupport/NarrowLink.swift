import Glibc

@testable import SDLHeadUnitLink
@testable import SDLLink

/// A relay between a sink and a head unit that forwards what the sink sends at a limited rate, like a wireless link:
/// with small buffers, so that what waits for it waits in the sink.
final class NarrowLink {
  private let listener: Socket
  private let thread = WorkerThread(name: "narrow-link")
  private let port: UInt16
  /// Bits per second; nil when the test is over.
  private let rate: Monitor<Int?>

  /// As of Ethernet; loopback's own segments are larger than what waits here.
  private static let segmentByteCount: Int32 = 1400
  private static let bufferByteCount: Int32 = 4 << 10

  init(to headUnit: TestHeadUnit, bitsPerSecond: Int) throws {
    let (socket, address) = try Socket.listening(address: "127.0.0.1", port: 0)
    listener = socket
    port = address.port
    rate = Monitor(bitsPerSecond)
    // Accepted connections have the listener's options.
    socket.set(Int32(IPPROTO_TCP), TCP_MAXSEG, Self.segmentByteCount)
    socket.set(SOL_SOCKET, SO_RCVBUF, Self.bufferByteCount)
    let target = headUnit.port
    try thread.start { [rate] in
      while rate.withLock({ $0 }) != nil {
        var polled = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, 20) > 0 else { continue }
        let descriptor = accept(socket.descriptor, nil, nil)
        guard descriptor >= 0 else { continue }
        Self.relay(Socket(adopting: descriptor), to: target, rate)
      }
    }
  }

  deinit {
    rate.withLock { $0 = nil }
    thread.join()
  }

  var uri: String { "sdl://127.0.0.1:\(port)" }

  /// 0 is an interruption.
  func set(bitsPerSecond: Int) {
    rate.withLock { $0 = bitsPerSecond }
  }

  private static func relay(_ app: Socket, to port: UInt16, _ rate: Monitor<Int?>) {
    guard let target = try? Resolver.addresses(host: "127.0.0.1", port: port, flags: AI_NUMERICHOST).get().first,
      let headUnit = Socket.tcp(family: AF_INET)
    else { return }
    _ = target.withPointer { connect(headUnit.descriptor, $0, $1) }
    headUnit.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var budget = 0.0
    var last = MonotonicClock.now
    while let bitsPerSecond = rate.withLock({ $0 }) {
      let now = MonotonicClock.now
      let elapsed = (now - last) / Duration.seconds(1)
      budget = min(budget + elapsed * Double(bitsPerSecond) / 8, 3000)
      last = now
      switch buffer.withUnsafeMutableBytes({ headUnit.receive(into: $0) }) {
      case .bytes(let count): guard write(buffer[..<count], to: app, rate) else { return }
      case .wouldBlock: break
      case .endOfStream, .failed: return
      }
      if budget >= 1 {
        switch buffer.withUnsafeMutableBytes({ app.receive(into: .init(rebasing: $0[..<Int(budget)])) }) {
        case .bytes(let count):
          budget -= Double(count)
          guard write(buffer[..<count], to: headUnit, rate) else { return }
        case .wouldBlock: break
        case .endOfStream, .failed: return
        }
      }
      poll(nil, 0, 1)
    }
  }

  private static func write(_ bytes: ArraySlice<UInt8>, to socket: Socket, _ rate: Monitor<Int?>) -> Bool {
    var rest = bytes
    while !rest.isEmpty, rate.withLock({ $0 }) != nil {
      switch rest.withUnsafeBytes({ socket.send($0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock: poll(nil, 0, 1)
      case .endOfStream, .failed: return false
      }
    }
    return rest.isEmpty
  }
}
