import SDLWire

/// The incoming half of an SDL connection.
struct FrameReader {
  /// Bytes taken from the kernel at once.
  static let readSize = 64 << 10
  /// So often a flooding peer is read before it is another's turn.
  static let readsPerTurn = 4

  let socket: Socket
  /// The peer, for people.
  let peer: String
  var decoder: FrameDecoder

  init(socket: Socket, peer: String, limits: FrameLimits = FrameLimits()) {
    self.socket = socket
    self.peer = peer
    decoder = FrameDecoder(limits: limits)
  }

  /// Reads once, into the decoder; take all its items before the next call.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
    let transfer = socket.receive(into: buffer)
    if case .bytes(let count) = transfer {
      decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return transfer
  }
}
