/// Turns a byte stream of RTP packets (RFC 6184 in RFC 4571 framing) into access units, whatever the pieces it arrives
/// in.
///
/// Takes single NAL units, STAP-A and FU-A; payload type and source are free and may change. An access unit ends with
/// the marker bit on the last piece of a NAL unit, or where the timestamp changes. A packet that breaks a rule is
/// reported and used as far as possible; where the framing is broken, the stream ends. Memory is bounded, if ``next()``
/// is called until it returns nil.
package struct RTPDepacketizer: Sendable {
  /// The NAL units of one picture.
  package struct AccessUnit: Equatable, Sendable {
    /// Annex B, with a start code of four bytes in front of each NAL unit. Never empty.
    package var bytes: [UInt8]
    package var timestamp: UInt32
    /// The last packet had the marker bit.
    package var hasMarker: Bool
    /// Packets were lost in it or directly before it.
    package var hasLoss: Bool

    package init(bytes: [UInt8], timestamp: UInt32, hasMarker: Bool, hasLoss: Bool) {
      self.bytes = bytes
      self.timestamp = timestamp
      self.hasMarker = hasMarker
      self.hasLoss = hasLoss
    }
  }

  package enum Item: Equatable, Sendable {
    case accessUnit(AccessUnit)
    case fault(RTPFault)
  }

  /// Larger access units are dropped; in bytes of Annex B.
  package let maximumAccessUnitSize: Int
  private var reader = RTPStreamReader()
  /// The items of the packet that was read last, in reverse order.
  private var items: [Item] = []
  private var unit: RTPAccessUnitAssembly?
  private var expectedSequenceNumber: UInt16?
  private var lastTimestamp: UInt32?

  package init(maximumAccessUnitSize: Int = 16 << 20) {
    self.maximumAccessUnitSize = maximumAccessUnitSize
  }

  /// Bytes that wait for the rest of their packet.
  package var bufferedByteCount: Int { reader.bufferedByteCount }

  /// Adds bytes from the stream. Call ``next()`` until it returns nil before adding more.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    reader.append(bytes)
  }

  package mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  /// The next access unit or fault; nil when more bytes are needed.
  package mutating func next() -> Item? {
    while items.isEmpty, let item = reader.next() {
      switch item {
      case .invalidFraming(let firstBytes): items.append(.fault(.framing(firstBytes: firstBytes)))
      case .packet(let header, let bytes): take(header, bytes)
      }
      // A packet yields at most a handful of items.
      items.reverse()
    }
    return items.popLast()
  }

  /// The incomplete last access unit, when no more bytes will come; nil when there is none.
  package mutating func finish() -> AccessUnit? {
    defer { unit = nil }
    return unit?.finish(hasMarker: false)
  }

  /// Accepts any next sequence number and timestamp, as after a restart of the sender's encoder.
  package mutating func expectRestart() {
    expectedSequenceNumber = nil
    lastTimestamp = nil
  }

  private mutating func take(_ header: RTPHeader, _ packet: Range<Int>) {
    let hasLoss = expectedSequenceNumber.map { $0 != header.sequenceNumber } ?? false
    if hasLoss, let expected = expectedSequenceNumber {
      items.append(.fault(.lostPackets(expected: expected, got: header.sequenceNumber)))
      unit?.noteLoss()
      // The sender may have started again.
      lastTimestamp = nil
    }
    expectedSequenceNumber = header.sequenceNumber &+ 1
    if let timestamp = unit?.timestamp, timestamp != header.timestamp {
      if !hasLoss { items.append(.fault(.missingMarker(timestamp: timestamp))) }
      endUnit(hasMarker: false)
    }
    var unit = unit.take() ?? beginUnit(header.timestamp, hasLoss: hasLoss)
    let isWhole = unit.take(reader.buffer.span.extracting(packet), header)
    for fault in unit.takeFaults() { items.append(.fault(fault)) }
    self.unit = unit
    guard header.hasMarker else { return }
    if isWhole {
      endUnit(hasMarker: true)
    } else {
      items.append(.fault(.earlyMarker(sequenceNumber: header.sequenceNumber)))
    }
  }

  private mutating func beginUnit(_ timestamp: UInt32, hasLoss: Bool) -> RTPAccessUnitAssembly {
    if let lastTimestamp, Int32(bitPattern: timestamp &- lastTimestamp) <= 0 {
      items.append(.fault(.timestampNotGrowing(previous: lastTimestamp, got: timestamp)))
    }
    lastTimestamp = timestamp
    return RTPAccessUnitAssembly(timestamp: timestamp, hasLoss: hasLoss, maximumSize: maximumAccessUnitSize)
  }

  private mutating func endUnit(hasMarker: Bool) {
    guard var unit = unit.take() else { return }
    if let type = unit.dropFragment(), !unit.hasLoss { items.append(.fault(.unfinishedNALUnit(type: type.rawValue))) }
    if let accessUnit = unit.finish(hasMarker: hasMarker) { items.append(.accessUnit(accessUnit)) }
  }
}

/// A rule of RTP, of its framing or of its H.264 payload that a sender broke.
package enum RTPFault: Equatable, Sendable {
  /// Bytes that are no packet with its length in front (RFC 4571); the first 16 of them. What follows is not read.
  case framing(firstBytes: [UInt8])
  /// Extension, contributing sources or padding do not fit into the packet (RFC 3550, 5.1).
  case packetStructure(sequenceNumber: UInt16)
  /// Packets are missing, or come in another order.
  case lostPackets(expected: UInt16, got: UInt16)
  /// The payload's type (RFC 6184, table 1) does not occur in packetization mode 1, or is undefined.
  case payloadType(UInt8)
  /// There is no payload, or sizes in it do not fit into the packet.
  case payloadStructure(sequenceNumber: UInt16)
  /// A further piece of a NAL unit without its first, or of another one.
  case strayFragment(sequenceNumber: UInt16)
  /// A NAL unit whose last piece did not come.
  case unfinishedNALUnit(type: UInt8)
  /// The marker bit before the last packet of an access unit. SDL's libraries set it on all pieces of the last NAL
  /// unit.
  case earlyMarker(sequenceNumber: UInt16)
  /// An access unit ended without the marker bit.
  case missingMarker(timestamp: UInt32)
  /// The timestamp of an access unit is not later than the one before.
  case timestampNotGrowing(previous: UInt32, got: UInt32)
  /// An access unit that is larger than the receiver takes was dropped.
  case oversizedAccessUnit(limit: Int)
}

/// Cuts a byte stream of RTP packets at the lengths in front of them (RFC 4571), whatever the pieces it arrives in.
///
/// TCP loses nothing, so a length that does not lead to a packet is the sender's fault, and no marker shows where the
/// next packet begins. So the rest of such a stream is ignored. Between calls less than one packet is held, if
/// ``next()`` is called until it returns nil.
struct RTPStreamReader: Sendable {
  enum Item {
    /// `bytes` is the packet in ``buffer``, until the next call of ``append(_:)``.
    case packet(RTPHeader, bytes: Range<Int>)
    /// No packet begins here, and none is read any more.
    case invalidFraming(firstBytes: [UInt8])
  }

  private static let lengthByteCount = 2
  private static let reportedByteCount = 16

  private(set) var buffer: [UInt8] = []
  private var position = 0
  private var isAtStart = true
  private var isGivenUp = false

  var bufferedByteCount: Int { buffer.count - position }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard !isGivenUp else { return }
    // Moves no more bytes than have been consumed since the last time.
    if position * 2 >= buffer.count {
      buffer.removeSubrange(0..<position)
      position = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next packet, or the place where the framing ends; nil when more bytes are needed.
  mutating func next() -> Item? {
    while bufferedByteCount >= Self.lengthByteCount {
      let size = Int(buffer[position]) << 8 | Int(buffer[position + 1])
      let start = position + Self.lengthByteCount
      if size == 0, !isAtStart {
        // A null packet (RFC 4571, 2).
        position = start
        continue
      }
      guard size >= RTPHeader.byteCount else { return giveUp() }
      // The version is checked before the packet is complete: a wrong length may be 64 KiB.
      guard start < buffer.count else { return nil }
      guard RTPHeader.isSupportedVersion(buffer[start]) else { return giveUp() }
      guard start + size <= buffer.count, let header = RTPHeader(decoding: buffer.span, at: start) else { return nil }
      isAtStart = false
      position = start + size
      return .packet(header, bytes: start..<position)
    }
    return nil
  }

  private mutating func giveUp() -> Item {
    let firstBytes = Array(buffer[position...].prefix(Self.reportedByteCount))
    isGivenUp = true
    buffer = []
    position = 0
    return .invalidFraming(firstBytes: firstBytes)
  }
}
