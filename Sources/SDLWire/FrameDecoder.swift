/// Cuts a byte stream into frames, whatever the pieces it arrives in.
///
/// After an invalid header it looks for the next valid one byte by byte, as SDL Core and the mobile libraries do.
/// It holds at most one frame of the allowed size plus the bytes of the last `append`.
public struct FrameDecoder: Sendable {
  /// What a stream is made of.
  public enum Item: Equatable, Sendable {
    case frame(Frame)
    /// The start of a run of bytes that belong to no frame, with the first of them for the message to the user.
    case garbage(reason: FrameHeader.InvalidHeader, firstBytes: [UInt8])
  }

  /// Payload limits, checked before anything is stored; may be changed between frames.
  public var limits: FrameLimits
  private var buffer: [UInt8] = []
  private var position = 0
  private var isSkipping = false

  /// A decoder at the start of a stream.
  public init(limits: FrameLimits = FrameLimits()) {
    self.limits = limits
  }

  /// Bytes that wait for the rest of their frame.
  public var bufferedByteCount: Int { buffer.count - position }

  /// Adds bytes from the transport. Call ``next()`` until it returns nil before adding more.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if position > 0 {
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
        let decoded = try header()
        guard let decoded else { return nil }
        let end = position + decoded.byteCount + Int(decoded.dataSize)
        guard buffer.count >= end else { return nil }
        let payload = Array(buffer[(position + decoded.byteCount)..<end])
        position = end
        isSkipping = false
        return .frame(Frame(header: decoded, payload: payload))
      } catch {
        let firstBytes = Array(buffer[position..<min(position + 32, buffer.count)])
        position += 1
        guard isSkipping else {
          isSkipping = true
          return .garbage(reason: error, firstBytes: firstBytes)
        }
      }
    }
    return nil
  }

  private func header() throws(FrameHeader.InvalidHeader) -> FrameHeader? {
    let pending = buffer[position...]
    return try FrameHeader(decoding: pending.span, limits: limits)
  }
}
