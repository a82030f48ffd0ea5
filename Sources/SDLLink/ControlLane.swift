/// Small frames on their way out: in order, and never dropped.
struct ControlLane {
  /// More than this waits only for a peer that has stopped reading.
  static let maximumByteCount = 4 << 20
  /// Written bytes that are kept before the rest is moved to the front.
  private static let maximumOffset = 64 << 10

  private var bytes: [UInt8] = []
  private var offset = 0

  /// Bytes that wait to be written.
  var byteCount: Int { bytes.count - offset }

  /// Adds whole frames.
  mutating func append(_ frames: [UInt8], peer: String) throws(LinkError) {
    guard byteCount + frames.count <= Self.maximumByteCount else {
      throw .peerNotReading(address: peer, queuedByteCount: byteCount)
    }
    if byteCount == 0 {
      bytes.removeAll(keepingCapacity: true)
      offset = 0
    } else if offset > Self.maximumOffset {
      bytes.removeSubrange(..<offset)
      offset = 0
    }
    bytes += frames
  }

  /// Writes as much as one system call takes.
  mutating func write(to socket: Socket) -> Socket.Transfer {
    let transfer = bytes.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
    if case .bytes(let count) = transfer { offset += count }
    return transfer
  }
}
