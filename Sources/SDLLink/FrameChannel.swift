import SDLWire

/// A socket with what every SDL connection needs on both sides: the decoder of what comes in, and the lane of small
/// frames that go out in order and are never dropped.
struct FrameChannel {
  /// More control frames than this wait only for a peer that has stopped reading.
  static let maximumLaneByteCount = 4 << 20
  /// Bytes taken from the kernel at once.
  static let readSize = 64 << 10
  /// So often a flooding peer is read before it is another's turn.
  static let readsPerTurn = 4

  let socket: Socket
  /// The peer, for people.
  let peer: String
  var decoder: FrameDecoder
  private(set) var receivedByteCount: UInt64 = 0
  private(set) var sentByteCount: UInt64 = 0
  private var lane: [UInt8] = []
  private var laneOffset = 0

  init(socket: Socket, peer: String, limits: FrameLimits = FrameLimits()) {
    self.socket = socket
    self.peer = peer
    decoder = FrameDecoder(limits: limits)
  }

  /// Bytes of control frames that wait to be written.
  var laneByteCount: Int { lane.count - laneOffset }

  /// Adds whole frames to the lane.
  mutating func enqueue(_ frames: [UInt8]) throws(LinkError) {
    guard laneByteCount + frames.count <= Self.maximumLaneByteCount else {
      throw .peerNotReading(address: peer, queuedByteCount: laneByteCount)
    }
    if laneByteCount == 0 {
      lane.removeAll(keepingCapacity: true)
      laneOffset = 0
    } else if laneOffset > Self.readSize {
      lane.removeSubrange(..<laneOffset)
      laneOffset = 0
    }
    lane += frames
  }

  /// Writes from the lane as much as one system call takes.
  mutating func writeLane() -> Socket.Transfer {
    let transfer = lane.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[laneOffset...])) }
    if case .bytes(let count) = transfer { laneOffset += count }
    count(sent: transfer)
    return transfer
  }

  /// For bytes that go to the socket beside the lane.
  mutating func count(sent transfer: Socket.Transfer) {
    if case .bytes(let count) = transfer { sentByteCount += UInt64(count) }
  }

  /// Reads once, into the decoder; take all its items before the next call.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
    let transfer = socket.receive(into: buffer)
    if case .bytes(let count) = transfer {
      decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      receivedByteCount += UInt64(count)
    }
    return transfer
  }
}
