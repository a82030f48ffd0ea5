import Glibc

@testable import SDLLink

/// A socket whose kernel is a ``SimulatedNetwork``.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class SimulatedSocket: Socket, @unchecked Sendable {
  private let end: NetworkEnd
  private let network: SimulatedNetwork

  init(_ end: NetworkEnd, network: SimulatedNetwork) {
    self.end = end
    self.network = network
    super.init(adopting: end.id) { network.close($0) }
  }

  override func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    let transfer = end.read(into: buffer, most: network.piece(of: min(buffer.count, max(end.readableByteCount, 1))))
    if case .bytes(let count) = transfer {
      network.movedByteCount += count
      network.tap?(Array(buffer[..<count]), end, false)
    }
    return transfer
  }

  override func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
    let room = end.room(network.conditions)
    guard room > 0 || end.error != 0 else { return .wouldBlock }
    let count = network.piece(of: min(bytes.count, max(room, 1)))
    let written = Array(bytes.prefix(count))
    let transfer = end.write(written, now: network.now, network.conditions)
    if case .bytes = transfer {
      network.movedByteCount += count
      network.tap?(written, end, true)
    }
    return transfer
  }

  override func send(_ vectors: UnsafeMutableBufferPointer<iovec>) -> Transfer {
    let bytes = vectors.flatMap { Array(UnsafeRawBufferPointer(start: $0.iov_base, count: $0.iov_len)) }
    return bytes.withUnsafeBytes { send($0) }
  }

  override func connect(to address: SocketAddress) -> Int32 { network.connect(end, to: address.port) }

  override func bind(to address: SocketAddress, acceptsIPv4: Bool) -> Bool {
    end.port = address.port == 0 ? 50_000 : address.port
    return true
  }

  override func listen() -> Bool {
    end.listen()
    return true
  }

  override func accept() -> Socket? { network.accept(end) }

  override func shutDown() { end.shutDown(now: network.now, network.conditions) }

  override var ownAddress: SocketAddress? { NetworkEnd.address(end.host, end.port) }
  override var peerAddress: SocketAddress? { end.peerAddress }
  override func takeError() -> Int32 { end.error }
  override var isClosedByPeer: Bool { end.isClosedByPeer }
  override var unacknowledgedByteCount: UInt64? { UInt64(end.unacknowledgedByteCount) }
  override var unsentByteCount: UInt64? { UInt64(end.unacknowledgedByteCount / 2) }

  override var roundTrip: (smoothed: Duration, minimum: Duration)? {
    let time = Duration.milliseconds(network.conditions.delay * 2)
    return (time, time)
  }
}
