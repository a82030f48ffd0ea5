/// The frames of one message: a single frame, or a first frame and consecutive ones.
///
/// Yields headers and *ranges* of the payload, so that a sender can write them scatter–gather without copying.
/// Source: protocol specification, "Multiple Frame Packets".
package struct Fragmentation: Equatable, Sequence, Sendable {
  package struct Fragment: Equatable, Sendable {
    package var header: FrameHeader
    package var content: Content

    /// Header bytes plus the eight bytes of a first frame.
    package static let maximumPrefixByteCount = FrameHeader.maximumByteCount + 8

    /// Writes everything of this frame that is not message payload; returns how many bytes that is.
    package func writePrefix(to destination: UnsafeMutableRawBufferPointer) -> Int {
      let headerSize = header.write(to: destination)
      guard case .announcement(let totalSize, let frameCount) = content else { return headerSize }
      destination.storeBytes(of: totalSize.bigEndian, toByteOffset: headerSize, as: UInt32.self)
      destination.storeBytes(of: frameCount.bigEndian, toByteOffset: headerSize + 4, as: UInt32.self)
      return headerSize + 8
    }

    /// The part of the message in this frame; empty in a first frame.
    package var payloadRange: Range<Int> {
      if case .payload(let range) = content { range } else { 0..<0 }
    }
  }

  package enum Content: Equatable, Sendable {
    /// A first frame: size of the whole message in bytes, and how many consecutive frames follow.
    case announcement(totalSize: UInt32, frameCount: UInt32)
    /// A piece of the message.
    case payload(Range<Int>)
  }

  /// Protocol version of all frames, 2…5.
  package let version: UInt8
  package let service: ServiceType
  package let sessionID: UInt8
  /// The id that all frames share; receivers refuse 0.
  package let messageID: UInt32
  /// Size of the message in bytes.
  package let payloadSize: Int
  /// The largest payload of one frame, at least 1.
  package let maximumPayload: Int

  /// Creates the frames of a message of `payloadSize` bytes, with at most `maximumPayload` bytes in each.
  ///
  /// A maximum below 1 counts as 1, since it often comes from the peer. A message that has no bytes, or more than a
  /// first frame can announce (4 GiB), has no frames.
  package init(
    service: ServiceType, version: UInt8, sessionID: UInt8, messageID: UInt32, payloadSize: Int, maximumPayload: Int
  ) {
    self.service = service
    self.version = version
    self.sessionID = sessionID
    self.messageID = messageID
    self.payloadSize = payloadSize
    self.maximumPayload = Swift.max(maximumPayload, 1)
  }

  /// The bytes of all frames, for messages that are small enough to copy; `payload` has `payloadSize` bytes.
  package func frames(of payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(payload.count + FrameHeader.maximumByteCount)
    for fragment in self {
      withUnsafeTemporaryAllocation(byteCount: Fragment.maximumPrefixByteCount, alignment: 4) { prefix in
        let size = fragment.writePrefix(to: prefix)
        bytes.append(contentsOf: UnsafeRawBufferPointer(prefix)[0..<size])
      }
      bytes.append(contentsOf: payload[fragment.payloadRange])
    }
    return bytes
  }

  package func makeIterator() -> Iterator { Iterator(message: self) }

  /// Walks the frames of a message in sending order.
  package struct Iterator: IteratorProtocol, Sendable {
    private let message: Fragmentation
    private var offset = 0
    private var number = 0
    private var isAnnounced = false

    init(message: Fragmentation) {
      self.message = message
    }

    /// The next frame; nil after the last.
    package mutating func next() -> Fragment? {
      guard offset < message.payloadSize, message.payloadSize <= UInt32.max else { return nil }
      if message.payloadSize <= message.maximumPayload {
        offset = message.payloadSize
        return Fragment(
          header: header(.single, info: 0, dataSize: message.payloadSize), content: .payload(0..<message.payloadSize))
      }
      guard isAnnounced else {
        isAnnounced = true
        let frameCount = (message.payloadSize - 1) / message.maximumPayload + 1
        return Fragment(
          header: header(.first, info: 0, dataSize: 8),
          content: .announcement(totalSize: UInt32(message.payloadSize), frameCount: UInt32(frameCount)))
      }
      let end = Swift.min(offset + message.maximumPayload, message.payloadSize)
      let info = end == message.payloadSize ? 0 : UInt8(number % 255 + 1)
      let fragment = Fragment(
        header: header(.consecutive, info: info, dataSize: end - offset), content: .payload(offset..<end))
      offset = end
      number += 1
      return fragment
    }

    private func header(_ type: FrameType, info: UInt8, dataSize: Int) -> FrameHeader {
      FrameHeader(
        version: message.version, frameType: type, service: message.service, frameInfo: info,
        sessionID: message.sessionID, dataSize: UInt32(dataSize), messageID: message.messageID)
    }
  }
}
