import Glibc
import SDLWire

/// A message that is written before the next frame of video or audio.
package enum ControlMessage {
  /// Whole frames as they are.
  case frames([UInt8])
  case protected(ProtectedMessage, by: any SecureChannel)

  fileprivate var byteCount: Int {
    switch self {
    case .frames(let bytes): bytes.count
    case .protected(let message, _): message.payload.count
    }
  }
}

/// Control frames and RPCs on their way out: in order, and never dropped.
package struct ControlFrameBuffer {
  /// In bytes; only a peer that has stopped reading keeps more waiting.
  package static let maximumByteCount = 4 << 20

  private var queue = ByteQueue()
  /// Messages after the queue, from the first one that is not encrypted yet: TLS numbers its records, so an encrypted
  /// message has to be written before media that are encrypted later.
  private var waiting: [ControlMessage] = []
  private var waitingByteCount = 0

  package init() {}

  /// Bytes that wait to be written.
  package var byteCount: Int { queue.count + waitingByteCount }

  package var isEmpty: Bool { queue.isEmpty && waiting.isEmpty }

  /// Adds whole frames.
  ///
  /// - Throws: ``LinkError/peerNotReading(address:queuedByteCount:)`` above the limit; `peer` is for its text.
  package mutating func append(_ frames: [UInt8], peer: String) throws(LinkError) {
    try append(.frames(frames), peer: peer)
  }

  /// As ``append(_:peer:)``, for messages that may have to be encrypted.
  package mutating func append(_ message: ControlMessage, peer: String) throws(LinkError) {
    guard message.byteCount <= Self.maximumByteCount - byteCount else {
      throw .peerNotReading(address: peer, queuedByteCount: byteCount)
    }
    if waiting.isEmpty, case .frames(let bytes) = message { return queue.append(bytes) }
    waiting.append(message)
    waitingByteCount += message.byteCount
  }

  /// Writes as much as one system call takes.
  package mutating func write(to socket: Socket) -> Socket.Transfer {
    if queue.isEmpty {
      do throws(SecureChannelFailure) {
        try encryptNext()
      } catch {
        // The other end can't follow any more: the connection is made again, with a handshake of its own.
        return .failed(errno: EPROTO)
      }
    }
    return queue.write(to: socket)
  }

  /// Moves waiting messages into the queue, up to the first one that has to be encrypted.
  private mutating func encryptNext() throws(SecureChannelFailure) {
    let count = waiting.firstIndex { if case .protected = $0 { true } else { false } }.map { $0 + 1 } ?? waiting.count
    let next = waiting.prefix(count)
    waiting.removeFirst(count)
    for message in next {
      waitingByteCount -= message.byteCount
      switch message {
      case .frames(let bytes): queue.append(bytes)
      case .protected(let message, let channel): queue.append(try message.frames(encryptedBy: channel))
      }
    }
  }
}
