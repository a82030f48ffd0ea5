import Glibc
import SDLApp

/// Cuts one payload at a time into frames and writes them from where they lie.
///
/// Headers are built in a small block of their own; sendmsg(2) gathers them and the payload's memory. Blocks and vectors
/// are allocated once. Encrypted frames are written from where they were encrypted to.
final class MediaWriter {
  /// Vectors per system call; with small frames, half of it are headers.
  private static let maximumVectorCount = 64
  private static let maximumPrefixCount = 32
  private static let prefixStride = Fragmentation.Fragment.maximumPrefixByteCount

  struct Message {
    var payload: any MediaPayload
    var frames: Fragmentation.Iterator
    var memory = SegmentCursor()
    /// The frame that has been begun, and how much of it is written.
    var frame: Fragmentation.Fragment?
    var frameOffset = 0
    let byteCount: Int
    var unwrittenByteCount: Int
    /// What encrypts it; nil for a service in clear.
    let channel: (any SecureChannel)?
    /// Whether all of it has been encrypted.
    var isEncrypted = false
  }

  private let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: maximumVectorCount)
  private let prefixes = UnsafeMutableRawBufferPointer.allocate(
    byteCount: maximumPrefixCount * prefixStride, alignment: 4)
  var message: Message?
  /// Made for the first message that is encrypted.
  var encrypted: EncryptedFrames?

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
    // Counted from the blocks themselves: a wrong sum would desynchronise the connection for good.
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
  /// - Returns: A copy of what is missing of the frame that was begun, empty between frames: it has to be written before
  ///   anything else, or the peer would take what follows for media. And whether that is the end of the payload as well.
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

  /// The next bytes that lie together, at most `limit`; nil at the end.
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
  /// Bytes in front of the payload.
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
