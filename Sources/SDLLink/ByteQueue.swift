/// Bytes on their way to a socket, in order.
package struct ByteQueue {
  /// So many written bytes are kept before the rest is moved to the front.
  private static let maximumOffset = 64 << 10

  private var bytes: [UInt8] = []
  private var offset = 0

  /// Bytes that wait to be written.
  package var count: Int { bytes.count - offset }

  package var isEmpty: Bool { count == 0 }

  package init() {}

  package mutating func append(_ more: some Sequence<UInt8>) {
    if isEmpty {
      bytes.removeAll(keepingCapacity: true)
      offset = 0
    } else if offset > Self.maximumOffset {
      bytes.removeSubrange(..<offset)
      offset = 0
    }
    bytes += more
  }

  /// Writes as much as one system call takes.
  package mutating func write(to socket: Socket) -> Socket.Transfer {
    let transfer = bytes.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
    if case .bytes(let count) = transfer { offset += count }
    return transfer
  }
}
