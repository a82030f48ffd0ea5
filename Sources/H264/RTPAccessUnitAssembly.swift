/// The NAL units of the packets with one timestamp, put together in Annex B form.
struct RTPAccessUnitAssembly: Sendable {
  let timestamp: UInt32
  private(set) var hasLoss: Bool
  /// Rules that packets broke since ``takeFaults()``; a packet adds three at most.
  private var faults: [RTPFault] = []
  private let maximumSize: Int
  private var bytes: [UInt8] = []
  private var isOversized = false
  /// The offset of the incomplete NAL unit in `bytes`, where its start code is.
  private var fragment: (start: Int, type: NALUnitType)?

  init(timestamp: UInt32, hasLoss: Bool, maximumSize: Int) {
    self.timestamp = timestamp
    self.hasLoss = hasLoss
    self.maximumSize = maximumSize
  }

  mutating func noteLoss() {
    hasLoss = true
    dropFragment()
  }

  /// Removes an incomplete NAL unit, and returns its type.
  @discardableResult
  mutating func dropFragment() -> NALUnitType? {
    guard let fragment = fragment.take() else { return nil }
    bytes.removeSubrange(min(fragment.start, bytes.count)...)
    return fragment.type
  }

  mutating func takeFaults() -> [RTPFault] {
    defer { faults.removeAll(keepingCapacity: true) }
    return faults
  }

  /// The access unit without an incomplete NAL unit; nil when it is empty.
  mutating func finish(hasMarker: Bool) -> RTPDepacketizer.AccessUnit? {
    dropFragment()
    guard !bytes.isEmpty else { return nil }
    return RTPDepacketizer.AccessUnit(bytes: bytes, timestamp: timestamp, hasMarker: hasMarker, hasLoss: hasLoss)
  }

  /// Adds the payload of a packet; returns whether a NAL unit ends with it.
  mutating func take(_ packet: Span<UInt8>, _ header: RTPHeader) -> Bool {
    guard let range = Self.payloadRange(of: packet) else {
      faults.append(.packetStructure(sequenceNumber: header.sequenceNumber))
      return true
    }
    let payload = packet.extracting(range)
    guard !payload.isEmpty else {
      faults.append(.payloadStructure(sequenceNumber: header.sequenceNumber))
      return true
    }
    let type = NALUnitType(header: payload[0])
    if type == .fragmentationUnit { return takeFragment(payload, header) }
    if let type = dropFragment() { faults.append(.unfinishedNALUnit(type: type.rawValue)) }
    if type.isPlain {
      append(nil, payload)
    } else if type == .singleTimeAggregation {
      takeAggregate(payload, header)
    } else {
      faults.append(.payloadType(type.rawValue))
    }
    return true
  }

  /// The packet without header, contributing sources, extension and padding (RFC 3550, 5.1 and 5.3.1).
  private static func payloadRange(of packet: Span<UInt8>) -> Range<Int>? {
    var start = RTPHeader.byteCount + Int(packet[0] & 0x0F) * 4
    if packet[0] & 0x10 != 0 {
      guard start + 4 <= packet.count else { return nil }
      start += 4 + (Int(packet[start + 2]) << 8 | Int(packet[start + 3])) * 4
    }
    var end = packet.count
    if packet[0] & 0x20 != 0 {
      let padding = Int(packet[end - 1])
      guard padding > 0 else { return nil }
      end -= padding
    }
    return start <= end ? start..<end : nil
  }

  /// STAP-A: sizes of 16 bits, each with its NAL unit (RFC 6184, 5.7.1).
  private mutating func takeAggregate(_ payload: Span<UInt8>, _ header: RTPHeader) {
    var offset = 1
    var isIntact = payload.count > 1
    var unknownType: NALUnitType?
    while isIntact, offset < payload.count {
      let start = offset + 2
      let size = start < payload.count ? Int(payload[offset]) << 8 | Int(payload[offset + 1]) : 0
      guard size > 0, start + size <= payload.count else {
        isIntact = false
        break
      }
      let type = NALUnitType(header: payload[start])
      if type.isPlain {
        append(nil, payload.extracting(start..<start + size))
      } else {
        unknownType = unknownType ?? type
      }
      offset = start + size
    }
    if let unknownType { faults.append(.payloadType(unknownType.rawValue)) }
    if !isIntact { faults.append(.payloadStructure(sequenceNumber: header.sequenceNumber)) }
  }

  /// FU-A (RFC 6184, 5.8).
  private mutating func takeFragment(
    _ payload: Span<UInt8>, _ header: RTPHeader
  ) -> Bool {
    guard payload.count >= 2 else {
      faults.append(.payloadStructure(sequenceNumber: header.sequenceNumber))
      return true
    }
    let type = NALUnitType(header: payload[1])
    let isFirst = payload[1] & 0x80 != 0
    let isLast = payload[1] & 0x40 != 0
    if isFirst {
      if let type = dropFragment() { faults.append(.unfinishedNALUnit(type: type.rawValue)) }
      guard type.isPlain else {
        faults.append(.payloadType(type.rawValue))
        return isLast
      }
      fragment = (bytes.count, type)
      append(payload[0] & 0xE0 | type.rawValue, payload.extracting(2...))
    } else if fragment?.type == type {
      append(into: payload.extracting(2...))
    } else {
      // After a loss this is no fault of its own.
      if !hasLoss { faults.append(.strayFragment(sequenceNumber: header.sequenceNumber)) }
      dropFragment()
    }
    if isLast { fragment = nil }
    return isLast
  }

  /// Begins a NAL unit; `header` is its first byte, if that is not part of `unit`.
  private mutating func append(_ header: UInt8?, _ unit: Span<UInt8>) {
    guard hasRoom(for: unit.count + 5) else { return }
    bytes.append(contentsOf: [0, 0, 0, 1])
    if let header { bytes.append(header) }
    unit.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Continues a NAL unit.
  private mutating func append(into piece: Span<UInt8>) {
    guard hasRoom(for: piece.count) else { return }
    piece.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  private mutating func hasRoom(for count: Int) -> Bool {
    if isOversized { return false }
    guard bytes.count + count > maximumSize else { return true }
    isOversized = true
    bytes = []
    faults.append(.oversizedAccessUnit(limit: maximumSize))
    return false
  }
}
