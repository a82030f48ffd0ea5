/// Control frames and RPCs on their way out: in order, and never dropped.
struct ControlFrameBuffer {
  /// In bytes. More than this waits only for a peer that has stopped reading.
  static let maximumByteCount = 4 << 20

  private var queue = ByteQueue()

  /// Bytes that wait to be written.
  var byteCount: Int { queue.count }

  var isEmpty: Bool { queue.isEmpty }

  /// Adds whole frames.
  ///
  /// - Throws: ``LinkError/peerNotReading(address:queuedByteCount:)`` above the limit; `peer` is for its text.
  mutating func append(_ frames: [UInt8], peer: String) throws(LinkError) {
    guard frames.count <= Self.maximumByteCount - byteCount else {
      throw .peerNotReading(address: peer, queuedByteCount: byteCount)
    }
    queue.append(frames)
  }

  /// Writes as much as one system call takes.
  mutating func write(to socket: Socket) -> Socket.Transfer {
    queue.write(to: socket)
  }
}
