/// Cuts a byte stream into frames, whatever the pieces it arrives in.
///
/// After an invalid header it looks for the next valid one byte by byte, as SDL Core and the mobile libraries do.
/// Between calls it holds less than one frame of the allowed size, if ``next()`` is called until it returns nil; the
/// cost per byte does not depend on how the stream is cut.
public struct FrameDecoder: Sendable {
  /// A piece of the stream.
  public enum Item: Equatable, Sendable {
    case frame(Frame)
    /// The start of a run of bytes that belong to no frame. Reported once per run, with its first bytes for an error
    /// message.
    case garbage(reason: FrameHeader.InvalidHeader, firstBytes: [UInt8])
  }

  /// Payload limits, checked before anything is stored; may be changed between frames.
  public var limits: FrameLimits
  var buffer: [UInt8] = []
  var position = 0
  var isSkipping = false
  /// A frame whose payload is not complete; only ``next(from:)`` leaves one.
  var partial: Frame?

  /// A decoder at the start of a stream.
  public init(limits: FrameLimits = FrameLimits()) {
    self.limits = limits
  }

  /// Bytes that wait for the rest of their frame.
  public var bufferedByteCount: Int { buffer.count - position + (partial?.payload.count ?? 0) }

  /// Adds bytes from the transport. Call ``next()`` until it returns nil before adding more.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    // Never moves more bytes than were consumed since the last move, so that the cost per byte is constant.
    if position * 2 >= buffer.count {
      buffer.removeSubrange(0..<position)
      position = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Adds bytes from an array.
  public mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  /// The next frame or run of garbage; nil when more bytes are needed.
  public mutating func next() -> Item? {
    while position < buffer.count {
      do {
        guard let header = try pendingHeader() else { return nil }
        let start = position + header.byteCount
        guard buffer.count - start >= Int(header.dataSize) else { return nil }
        position = start + Int(header.dataSize)
        isSkipping = false
        return .frame(Frame(header: header, payload: Array(buffer[start..<position])))
      } catch {
        position += 1
        if isSkipping { continue }
        isSkipping = true
        let start = position - 1
        return .garbage(reason: error, firstBytes: Array(buffer[start..<min(start + 32, buffer.count)]))
      }
    }
    return nil
  }

  func pendingHeader() throws(FrameHeader.InvalidHeader) -> FrameHeader? {
    try FrameHeader(decoding: buffer.span.extracting(position..<buffer.count), limits: limits)
  }
}
