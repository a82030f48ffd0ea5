import Glibc
import SDLApp

/// The way of an encrypted service: the payload of each frame becomes one TLS record. First frames stay in clear, and announce the
/// size of the plaintext.
extension MediaWriter {
  func writeEncrypted(
    by channel: any SecureChannel, to socket: Socket, finishesFrameOnly: Bool
  ) -> Socket.Transfer {
    let frames = encrypted ?? EncryptedFrames()
    encrypted = frames
    if frames.isEmpty, !encryptFrames(into: frames, by: channel, onlyOne: finishesFrameOnly) {
      // The other end can't follow any more: the connection is made again, with a handshake of its own.
      return .failed(errno: EPROTO)
    }
    let transfer = socket.send(frames.bytes)
    guard case .bytes(let count) = transfer else { return transfer }
    frames.advance(by: count)
    if frames.isEmpty, message?.isEncrypted == true { message = nil }
    return transfer
  }

  /// False when encryption fails.
  private func encryptFrames(into frames: EncryptedFrames, by channel: any SecureChannel, onlyOne: Bool) -> Bool {
    guard var message else { return true }
    defer { self.message = message }
    while frames.hasRoom, let frame = message.frames.next() {
      switch frame.content {
      case .announcement: frames.append(announcement: frame)
      case .payload(let range):
        let payload = message.payload
        var memory = message.memory
        do throws(SecureChannelFailure) {
          try frames.append(frame.header, size: range.count, by: channel) { memory.next(upTo: $0, of: payload) }
        } catch {
          return false
        }
        message.memory = memory
        message.isEncrypted = range.upperBound == message.byteCount
      }
      if onlyOne { break }
    }
    return true
  }
}
