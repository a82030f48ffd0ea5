/// Cuts a byte stream into frames, whatever the pieces it arrives in.
///
/// After an invalid header it looks for the next valid one byte by byte, as SDL Core and the mobile libraries do.
/// Between calls it holds less than one frame of the allowed size, if ``next()`` is called until it returns nil; the
/// cost per byte does not depend on how the stream is cut.
package struct FrameDecoder: Sendable {
  /// A piece of the stream.
  package enum Item: Equatable, Sendable {
    case frame(Frame)
    /// A run of bytes that belong to no frame. Reported at its start and again after each
    /// ``FrameDecoder/garbagePerReport``, with the next bytes for an error message.
    case garbage(reason: FrameHeader.InvalidHeader, firstBytes: [UInt8])
  }

  /// In bytes; a receiver that got two reports without a frame between them can give up.
  package static let garbagePerReport = 1 << 20

  /// Payload limits, checked before anything is stored; may be changed between frames.
  package var limits: FrameLimits
  private var buffer: [UInt8] = []
  private var position = 0
  /// Bytes of the present run that belong to no frame.
  private var skippedByteCount = 0
  /// A frame whose payload is not complete; only ``next(from:)`` leaves one.
  private var partial: Frame?

  /// A decoder at the start of a stream.
  package init(limits: FrameLimits = FrameLimits()) {
    self.limits = limits
  }

  /// Bytes that wait for the rest of their frame.
  package var bufferedByteCount: Int { buffer.count - position + (partial?.payload.count ?? 0) }

  /// Adds bytes from the transport. Call ``next()`` until it returns nil before adding more.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    // Never moves more bytes than were consumed since the last move, so that the cost per byte is constant.
    if position * 2 >= buffer.count {
      buffer.removeSubrange(0..<position)
      position = 0
    }
    buffer.append(contentsOf: bytes)
  }

  package mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  /// The next frame or run of garbage; nil when more bytes are needed.
  package mutating func next() -> Item? {
    while position < buffer.count {
      do {
        guard let header = try pendingHeader() else { return nil }
        let start = position + header.byteCount
        guard buffer.count - start >= Int(header.dataSize) else { return nil }
        position = start + Int(header.dataSize)
        skippedByteCount = 0
        return .frame(Frame(header: header, payload: Array(buffer[start..<position])))
      } catch {
        let start = position
        position += 1
        guard skip() else { continue }
        return .garbage(reason: error, firstBytes: Array(buffer[start..<min(start + 32, buffer.count)]))
      }
    }
    return nil
  }

  /// Counts a byte that belongs to no frame.
  ///
  /// - Returns: Whether it is reported.
  private mutating func skip() -> Bool {
    defer { skippedByteCount &+= 1 }
    return skippedByteCount.isMultiple(of: Self.garbagePerReport)
  }

  private func pendingHeader() throws(FrameHeader.InvalidHeader) -> FrameHeader? {
    try FrameHeader(decoding: buffer.span.extracting(position..<buffer.count), limits: limits)
  }
}

extension FrameDecoder {
  /// The next frame or run of garbage in `bytes`, from whose front the bytes that were used are removed; nil when all
  /// are used and more are needed.
  ///
  /// Does the same as ``append(_:)-(UnsafeRawBufferPointer)`` and ``next()``, but copies each payload only once, out of
  /// the buffer that the transport was read into. Not to be mixed with those two.
  package mutating func next(from bytes: inout UnsafeRawBufferPointer) -> Item? {
    if var frame = partial.take() {
      let missing = Int(frame.header.dataSize) - frame.payload.count
      frame.payload.append(contentsOf: bytes.takePrefix(missing))
      return deliver(frame)
    }
    // A header that was cut in two; if it turns out to be none, byte by byte.
    while position < buffer.count || !bytes.isEmpty {
      if position == buffer.count, let item = nextInPlace(&bytes) { return item }
      if position == buffer.count { return nil }
      append(bytes.takePrefix(FrameHeader.maximumByteCount - (buffer.count - position)))
      do {
        guard let header = try pendingHeader() else { return nil }
        let start = position + header.byteCount
        position = min(start + Int(header.dataSize), buffer.count)
        var payload = [UInt8]()
        payload.reserveCapacity(Int(header.dataSize))
        payload.append(contentsOf: buffer[start..<position])
        payload.append(contentsOf: bytes.takePrefix(Int(header.dataSize) - payload.count))
        return deliver(Frame(header: header, payload: payload))
      } catch {
        position += 1
        guard skip() else { continue }
        return .garbage(reason: error, firstBytes: Array(buffer[(position - 1)...]))
      }
    }
    return nil
  }

  private mutating func deliver(_ frame: Frame) -> Item? {
    skippedByteCount = 0
    guard frame.payload.count == Int(frame.header.dataSize) else {
      partial = frame
      return nil
    }
    return .frame(frame)
  }

  /// Reads from `bytes` alone, when nothing is left in ``buffer``. The beginning of a header goes there.
  private mutating func nextInPlace(_ bytes: inout UnsafeRawBufferPointer) -> Item? {
    while !bytes.isEmpty {
      do {
        let header = try FrameHeader(decoding: bytes.assumingMemoryBound(to: UInt8.self).span, limits: limits)
        guard let header else {
          append(bytes.takePrefix(bytes.count))
          return nil
        }
        _ = bytes.takePrefix(header.byteCount)
        var payload = [UInt8]()
        payload.reserveCapacity(Int(header.dataSize))
        payload.append(contentsOf: bytes.takePrefix(Int(header.dataSize)))
        return deliver(Frame(header: header, payload: payload))
      } catch {
        let rest = bytes
        _ = bytes.takePrefix(1)
        guard skip() else { continue }
        return .garbage(reason: error, firstBytes: Array(rest.prefix(32)))
      }
    }
    return nil
  }
}

extension UnsafeRawBufferPointer {
  /// Cuts at most `count` bytes off the front.
  fileprivate mutating func takePrefix(_ count: Int) -> UnsafeRawBufferPointer {
    let count = Swift.min(Swift.max(count, 0), self.count)
    defer { self = UnsafeRawBufferPointer(rebasing: self[count...]) }
    return UnsafeRawBufferPointer(rebasing: self[..<count])
  }
}
