import SDLApp

/// Whole encrypted frames on their way to the socket: a block of memory that is filled, written, and filled again.
///
/// TLS counts its records, so that what is in here has to be written, all of it and in this order.
final class EncryptedFrames {
  /// Frames that are encrypted at once: with one, each system call would carry 16 KiB.
  private static let frameCount = 4
  private static let frameSize =
    FrameHeader.maximumByteCount + SecurePayload.recordLimit + SecurePayload.overhead
  private static let capacity = frameCount * frameSize + Fragmentation.Fragment.maximumPrefixByteCount

  private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
  /// For plaintext that lies in several blocks of its payload.
  private let gathered = UnsafeMutableRawBufferPointer.allocate(byteCount: SecurePayload.recordLimit, alignment: 16)
  private var end = 0
  private var written = 0

  deinit {
    memory.deallocate()
    gathered.deallocate()
  }

  var isEmpty: Bool { written == end }

  /// What has to be written.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[written..<end]) }

  func discard() {
    (written, end) = (0, 0)
  }

  /// Notes that `count` bytes have been written.
  func advance(by count: Int) {
    written += count
    if isEmpty { discard() }
  }

  /// Whether another frame fits.
  var hasRoom: Bool { memory.count - end >= Self.frameSize }

  /// Adds a first frame, which is always in clear.
  func append(announcement frame: Fragmentation.Fragment) {
    end += frame.writePrefix(to: UnsafeMutableRawBufferPointer(rebasing: memory[end...]))
  }

  /// Adds a frame with the next plaintext of the message, of `size` bytes.
  ///
  /// - Parameter next: the next bytes that lie together, at most as many as asked for; nil at the end.
  func append(
    _ header: FrameHeader, size: Int, by channel: any SecureChannel, next: (Int) -> UnsafeRawBufferPointer?
  ) throws(SecureChannelFailure) {
    guard size <= gathered.count, var plaintext = next(size) else {
      throw SecureChannelFailure(.encryptionFailed, "the payload does not fit")
    }
    if plaintext.count < size {
      var count = 0
      var piece: UnsafeRawBufferPointer? = plaintext
      while let bytes = piece {
        UnsafeMutableRawBufferPointer(rebasing: gathered[count...]).copyMemory(from: bytes)
        count += bytes.count
        piece = count < size ? next(size - count) : nil
      }
      plaintext = UnsafeRawBufferPointer(rebasing: gathered[..<count])
    }
    var header = header
    let start = end + header.byteCount
    let count = try channel.encrypt(plaintext, into: UnsafeMutableRawBufferPointer(rebasing: memory[start...]))
    header.isEncrypted = true
    header.dataSize = UInt32(truncatingIfNeeded: count)
    header.write(to: UnsafeMutableRawBufferPointer(rebasing: memory[end...]))
    end = start + count
  }
}
