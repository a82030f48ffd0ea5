import SDLWire

/// The incoming half of an SDL connection.
package struct FrameReader {
  /// Bytes taken from the kernel at once.
  package static let readSize = 64 << 10
  /// The most reads in a row from one peer, which may be flooding.
  package static let readsPerRound = 4

  package let socket: Socket
  /// The peer, for users.
  package let peer: String
  /// Whether anything has come.
  package private(set) var hasReceived = false
  private var decoder: FrameDecoder
  /// The part of the buffer that has not been decoded yet.
  private var unread = UnsafeRawBufferPointer(start: nil, count: 0)

  package init(socket: Socket, peer: String, limits: FrameLimits = FrameLimits()) {
    self.socket = socket
    self.peer = peer
    decoder = FrameDecoder(limits: limits)
  }

  /// Reads once. Call ``next()`` until it returns nil before the next call, and before the buffer is used for something
  /// else.
  package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
    let transfer = socket.receive(into: buffer)
    if case .bytes(let count) = transfer { take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
    return transfer
  }

  /// Takes bytes that have been read already, under the conditions of ``read(into:)``.
  package mutating func take(_ bytes: UnsafeRawBufferPointer) {
    unread = bytes
    hasReceived = true
  }

  /// The next frame or run of garbage in the buffer; nil when more has to be read.
  package mutating func next() -> FrameDecoder.Item? {
    decoder.next(from: &unread)
  }
}
