extension FrameDecoder {
  /// The next frame or run of garbage in `bytes`, from whose front the bytes that were used are removed; nil when all
  /// are used and more are needed.
  ///
  /// Does the same as ``append(_:)-(UnsafeRawBufferPointer)`` and ``next()``, but copies each payload only once, out of
  /// the buffer that the transport was read into. Not to be mixed with those two.
  public mutating func next(from bytes: inout UnsafeRawBufferPointer) -> Item? {
    if var frame = partial.take() {
      let missing = Int(frame.header.dataSize) - frame.payload.count
      frame.payload.append(contentsOf: bytes.takePrefix(missing))
      return deliver(frame)
    }
    // A header that was cut in two; byte by byte, if it turns out not to be one.
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
        if isSkipping { continue }
        isSkipping = true
        return .garbage(reason: error, firstBytes: Array(buffer[(position - 1)...]))
      }
    }
    return nil
  }

  private mutating func deliver(_ frame: Frame) -> Item? {
    isSkipping = false
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
        let firstBytes = isSkipping ? [] : Array(bytes.prefix(32))
        _ = bytes.takePrefix(1)
        if isSkipping { continue }
        isSkipping = true
        return .garbage(reason: error, firstBytes: firstBytes)
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
