import Glibc
import SDLApp
import SDLLink

/// Cuts one payload at a time into frames and writes them without copying.
///
/// Headers are built in a small block of their own; sendmsg(2) gathers them and the payload's memory. Blocks and
/// vectors are allocated once. Encrypted frames are written from the block of ciphertext.
final class MediaWriter {
  /// Vectors per system call; with small frames, half of it are headers.
  private static let maximumVectorCount = 64
  private static let maximumPrefixCount = 32
  private static let prefixStride = Fragmentation.Fragment.maximumPrefixByteCount

  fileprivate struct Message {
    var payload: any MediaPayload
    var frames: Fragmentation.Iterator
    var memory = SegmentCursor()
    /// The frame that has been begun, and how much of it is written.
    var frame: Fragmentation.Fragment?
    var frameOffset = 0
    let byteCount: Int
    var unwrittenByteCount: Int
    /// Encrypts it; nil for a service in clear.
    let channel: (any SecureChannel)?
    /// Whether all of it has been encrypted.
    var isEncrypted = false
  }

  private let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: maximumVectorCount)
  private let prefixes = UnsafeMutableRawBufferPointer.allocate(
    byteCount: maximumPrefixCount * prefixStride, alignment: 4)
  private var message: Message?
  /// Made for the first message that is encrypted.
  private var encrypted: EncryptedFrames?

  deinit {
    vectors.deallocate()
    prefixes.deallocate()
  }

  /// Whether the bytes so far end in the middle of a frame: nothing else may go out before its end.
  var isInsideFrame: Bool { message?.frame != nil || encrypted?.isEmpty == false }

  /// Whether a payload has been begun that is not written to its end.
  var hasMessage: Bool { message != nil }

  /// Begins a payload. False for one without bytes, which SDL cannot send.
  ///
  /// - Parameter channel: encrypts it; nil for a service in clear.
  func begin(
    _ payload: any MediaPayload, grant: MediaGrant, messageID: UInt32, channel: (any SecureChannel)? = nil
  ) -> Bool {
    // Added up from the blocks themselves: a wrong sum would desynchronise the connection.
    let size = (0..<payload.segmentCount).reduce(0) { $0 + payload.segment(at: $1).count }
    guard size > 0, size <= UInt32.max else { return false }
    let fragmentation = Fragmentation(
      service: grant.service, version: grant.version, sessionID: grant.sessionID, messageID: messageID,
      payloadSize: size,
      maximumPayload: grant.maximumPayload)
    message = Message(
      payload: payload, frames: fragmentation.makeIterator(), byteCount: size, unwrittenByteCount: size,
      channel: channel)
    return true
  }

  /// Gives up the payload that was begun, if there is one.
  ///
  /// - Returns: A copy of the unwritten rest of the frame, empty between frames: it has to be written before anything
  ///   else, or the peer would take the next bytes for media. And whether that is also the end of the payload.
  func abandon() -> (rest: [UInt8], isEndOfPayload: Bool) {
    if let encrypted, !encrypted.isEmpty {
      defer { encrypted.discard() }
      return (Array(encrypted.bytes), message.take()?.isEncrypted == true)
    }
    guard let message = message.take(), let frame = message.frame else { return ([], false) }
    let block = UnsafeMutableRawBufferPointer(rebasing: prefixes[..<Self.prefixStride])
    let prefixByteCount = frame.writePrefix(to: block)
    var rest = Array(block[..<prefixByteCount].dropFirst(message.frameOffset))
    var missing = frame.payloadRange.count - max(message.frameOffset - prefixByteCount, 0)
    var memory = message.memory
    while missing > 0, let piece = memory.next(upTo: missing, of: message.payload) {
      rest += piece
      missing -= piece.count
    }
    return (rest, frame.payloadRange.upperBound == message.byteCount)
  }

  /// Writes as much as one system call takes, and no frame after the one begun if `finishesFrameOnly`. When all is
  /// written, ``hasMessage`` is false.
  func write(to socket: Socket, finishesFrameOnly: Bool) -> Socket.Transfer {
    guard let message else { return .bytes(0) }
    if let channel = message.channel {
      return writeEncrypted(by: channel, to: socket, finishesFrameOnly: finishesFrameOnly)
    }
    let vectorCount = gather(message, finishesFrameOnly: finishesFrameOnly)
    let result = socket.send(UnsafeMutableBufferPointer(rebasing: vectors[..<vectorCount]))
    if case .bytes(let count) = result { advance(by: count) }
    return result
  }

  /// Notes that `count` bytes of headers and payload are written.
  func advance(by count: Int) {
    message?.advance(by: count)
    if let message, message.frame == nil, message.unwrittenByteCount == 0 { self.message = nil }
  }

  /// Fills ``vectors``; returns how many.
  private func gather(_ message: Message, finishesFrameOnly: Bool) -> Int {
    var frames = message.frames
    var memory = message.memory
    var skip = message.frameOffset
    var next = message.frame ?? frames.next()
    var vectorCount = 0
    var prefixCount = 0
    while let frame = next, prefixCount < Self.maximumPrefixCount, vectorCount + 2 <= Self.maximumVectorCount {
      let start = prefixCount * Self.prefixStride
      let block = UnsafeMutableRawBufferPointer(rebasing: prefixes[start..<(start + Self.prefixStride)])
      let prefix = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(block)[..<frame.writePrefix(to: block)])
      prefixCount += 1
      if skip < prefix.count {
        vectors[vectorCount] = iovec(UnsafeRawBufferPointer(rebasing: prefix[skip...]))
        vectorCount += 1
      }
      var missing = frame.payloadRange.count - max(skip - prefix.count, 0)
      while missing > 0, vectorCount < Self.maximumVectorCount,
        let piece = memory.next(upTo: missing, of: message.payload)
      {
        vectors[vectorCount] = iovec(piece)
        vectorCount += 1
        missing -= piece.count
      }
      guard missing == 0, !finishesFrameOnly else { break }
      skip = 0
      next = frames.next()
    }
    return vectorCount
  }
}

/// Encrypted services: the payload of each frame becomes one TLS record. First frames stay in clear, and announce the
/// size of the plaintext.
extension MediaWriter {
  private func writeEncrypted(
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

extension MediaWriter.Message {
  fileprivate mutating func advance(by count: Int) {
    var count = count
    while count > 0 {
      guard let current = frame ?? frames.next() else { return }
      let size = current.prefixByteCount + current.payloadRange.count
      let step = min(count, size - frameOffset)
      let payloadStep = frameOffset + step - max(frameOffset, current.prefixByteCount)
      if payloadStep > 0 {
        unwrittenByteCount -= payloadStep
        memory.skip(payloadStep, of: payload)
      }
      count -= step
      frameOffset += step
      frame = current
      if frameOffset == size {
        frame = nil
        frameOffset = 0
      }
    }
  }
}

/// A place in the memory blocks of a payload.
struct SegmentCursor {
  private var index = 0
  private var offset = 0

  /// The next contiguous bytes, at most `limit`; nil at the end.
  mutating func next(upTo limit: Int, of payload: any MediaPayload) -> UnsafeRawBufferPointer? {
    while index < payload.segmentCount {
      let segment = payload.segment(at: index)
      let end = min(offset + limit, segment.count)
      guard offset < end else {
        index += 1
        offset = 0
        continue
      }
      defer { offset = end }
      return UnsafeRawBufferPointer(rebasing: segment[offset..<end])
    }
    return nil
  }

  mutating func skip(_ count: Int, of payload: any MediaPayload) {
    var count = count
    while count > 0, let piece = next(upTo: count, of: payload) { count -= piece.count }
  }
}

extension Fragmentation.Fragment {
  fileprivate var prefixByteCount: Int {
    if case .announcement = content { header.byteCount + 8 } else { header.byteCount }
  }
}

extension iovec {
  /// For reading only: sendmsg(2) takes the type of writev and readv.
  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
  }
}

/// Whole encrypted frames on their way to the socket: a block of memory that is filled, written, and filled again.
///
/// TLS numbers its records, so all bytes in here have to be written, in this order.
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

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[written..<end]) }

  func discard() {
    (written, end) = (0, 0)
  }

  /// Notes that `count` bytes have been written.
  func advance(by count: Int) {
    written += count
    if isEmpty { discard() }
  }

  var hasRoom: Bool { memory.count - end >= Self.frameSize }

  /// Adds a first frame, which is always in clear.
  func append(announcement frame: Fragmentation.Fragment) {
    end += frame.writePrefix(to: UnsafeMutableRawBufferPointer(rebasing: memory[end...]))
  }

  /// Adds a frame with the next plaintext of the message, of `size` bytes.
  ///
  /// - Parameter next: returns the next contiguous bytes, at most as many as requested; nil at the end.
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
