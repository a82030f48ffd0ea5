/// Turns access units into RTP packets (RFC 6184, packetization mode 1), each with its length in front (RFC 4571), as
/// SDL's RTP protocol requires.
///
/// NAL units go as they are, parameter sets and delimiters too, in a packet of their own or in FU-A pieces; nothing is
/// aggregated. Those whose type RTP can't carry are left out. Payload is never copied: see ``RTPPackets``.
///
/// A value type, so that a caller can work on a copy and keep it only if the access unit is sent. Skipped sequence
/// numbers would look like a loss to the receiver.
package struct RTPPacketizer: Sendable {
  /// The number that both SDL libraries use; the first of the dynamic ones.
  package static let defaultPayloadType: UInt8 = 96
  /// The most that a length of 16 bits can announce.
  package static let maximumPacketSize = 65_535
  /// Room for an FU-A with one byte.
  package static let minimumPacketSize = RTPHeader.byteCount + 3

  /// Largest packet in bytes, without the two of its length.
  package let packetSize: Int
  private var header: RTPHeader
  /// The time of the access unit that was begun last, in ticks of the 90 kHz clock.
  private var lastTicks: Int64?
  private var isInsideAccessUnit = false

  /// Creates a packetizer with given numbers.
  /// - Parameters:
  ///   - sequenceNumber: of the first packet.
  ///   - timestamp: of the first access unit.
  ///   - packetSize: in bytes, clamped to ``minimumPacketSize``…``maximumPacketSize``. A byte stream has no MTU, so the
  ///     default is as large as the framing allows, as in SDL's libraries.
  package init(
    sequenceNumber: UInt16, timestamp: UInt32, synchronizationSource: UInt32,
    payloadType: UInt8 = defaultPayloadType, packetSize: Int = maximumPacketSize
  ) {
    self.packetSize = min(max(packetSize, Self.minimumPacketSize), Self.maximumPacketSize)
    header = RTPHeader(
      hasMarker: false, payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp,
      synchronizationSource: synchronizationSource)
  }

  /// Creates a packetizer with random numbers, as RFC 3550 requires (5.1).
  package init(packetSize: Int = maximumPacketSize, using generator: inout some RandomNumberGenerator) {
    self.init(
      sequenceNumber: .random(in: 0 ... .max, using: &generator), timestamp: .random(in: 0 ... .max, using: &generator),
      synchronizationSource: .random(in: 0 ... .max, using: &generator), packetSize: packetSize)
  }

  /// Takes new random numbers but the same source, for a new start of the video service.
  package mutating func restart(using generator: inout some RandomNumberGenerator) {
    self = RTPPacketizer(
      sequenceNumber: .random(in: 0 ... .max, using: &generator), timestamp: .random(in: 0 ... .max, using: &generator),
      synchronizationSource: header.synchronizationSource, payloadType: header.payloadType, packetSize: packetSize)
  }

  /// The packets of an access unit; none if there is no NAL unit in it.
  ///
  /// Every access unit gets a later timestamp than the one before. A time that does not grow, because of a seek or of
  /// one tick for two pictures, is one tick later, and times go on from there. So B pictures have no place here; SDL
  /// head units show pictures as they come.
  /// - Parameters:
  ///   - time: when to show the picture; only differences count. Rounded to 1/90 000 s.
  ///   - endsAccessUnit: false for the first part of one that lies in two memory blocks. The rest, with at least one
  ///     NAL unit, has to come with the next call, whose `time` is ignored.
  package mutating func packets(
    of accessUnit: UnsafeRawBufferPointer, framing: NALUnitFraming = .startCodes, at time: Duration,
    endsAccessUnit: Bool = true
  ) -> RTPPackets {
    let former = self
    if !isInsideAccessUnit { advance(to: Self.ticks(time)) }
    let packets = RTPPackets(
      of: accessUnit, framing: framing, firstHeader: header, packetSize: packetSize, endsAccessUnit: endsAccessUnit)
    guard packets.packetCount > 0 else {
      self = former
      if endsAccessUnit { isInsideAccessUnit = false }
      return packets
    }
    isInsideAccessUnit = !endsAccessUnit
    header.sequenceNumber &+= UInt16(truncatingIfNeeded: packets.packetCount)
    return packets
  }

  private mutating func advance(to ticks: Int64) {
    if let lastTicks {
      let difference = ticks > lastTicks ? ticks &- lastTicks : 1
      header.timestamp &+= UInt32(truncatingIfNeeded: difference)
    }
    lastTicks = ticks
  }

  /// Rounded, because frame times are cut to nanoseconds: at 15 frames per second the second is just below 6000.
  private static func ticks(_ time: Duration) -> Int64 {
    let (seconds, attoseconds) = time.components
    let nanoseconds = attoseconds / 1_000_000_000
    return seconds &* 90_000 &+ (nanoseconds * 9 + 50_000) / 100_000
  }
}

/// The RTP packets of one access unit: small headers, and *ranges* of the access unit, so that a sender can write them
/// scatter–gather without copying.
///
/// The access unit is borrowed: keep the memory valid while the sequence or an iterator is in use. Nothing is
/// allocated.
package struct RTPPackets: Sequence {
  package let packetCount: Int
  /// Their size in bytes, with the lengths in front.
  package let byteCount: Int
  /// NAL units of types that RTP can't carry; they are left out.
  package let leftOutCount: Int
  private let accessUnit: UnsafeRawBufferPointer
  private let firstHeader: RTPHeader
  private let packetSize: Int
  private let endsAccessUnit: Bool
  private let framing: NALUnitFraming

  init(
    of accessUnit: UnsafeRawBufferPointer, framing: NALUnitFraming, firstHeader: RTPHeader, packetSize: Int,
    endsAccessUnit: Bool
  ) {
    self.accessUnit = accessUnit
    self.firstHeader = firstHeader
    self.packetSize = packetSize
    self.endsAccessUnit = endsAccessUnit
    self.framing = framing
    var packetCount = 0
    var byteCount = 0
    var leftOutCount = 0
    for unit in NALUnits(accessUnit, framing: framing) {
      guard unit.type.fitsInRTP else {
        leftOutCount += 1
        continue
      }
      let size = unit.range.count
      if size <= packetSize - RTPHeader.byteCount {
        packetCount += 1
        byteCount += RTPPacket.minimumPrefixByteCount + size
      } else {
        // The NAL unit's own header byte is part of the prefix.
        let pieceCount = (size - 2) / (packetSize - RTPHeader.byteCount - 2) + 1
        packetCount += pieceCount
        byteCount += pieceCount * RTPPacket.maximumPrefixByteCount + size - 1
      }
    }
    self.packetCount = packetCount
    self.byteCount = byteCount
    self.leftOutCount = leftOutCount
  }

  package var underestimatedCount: Int { packetCount }

  package func makeIterator() -> Iterator { Iterator(self) }

  package struct Iterator: IteratorProtocol {
    private let accessUnit: UnsafeRawBufferPointer
    private let packetSize: Int
    private let endsAccessUnit: Bool
    private var header: RTPHeader
    private var units: NALUnits.Iterator
    private var unit: NALUnit?
    private var followingUnit: NALUnit?
    /// Where the next piece of a fragmented unit begins.
    private var pieceStart: Int?

    fileprivate init(_ packets: RTPPackets) {
      accessUnit = packets.accessUnit
      packetSize = packets.packetSize
      endsAccessUnit = packets.endsAccessUnit
      header = packets.firstHeader
      units = NALUnits(packets.accessUnit, framing: packets.framing).makeIterator()
      unit = nextUnit()
      followingUnit = nextUnit()
    }

    private mutating func nextUnit() -> NALUnit? {
      while let unit = units.next() {
        if unit.type.fitsInRTP { return unit }
      }
      return nil
    }

    /// The next packet; nil after the last.
    package mutating func next() -> RTPPacket? {
      guard let unit else { return nil }
      let packet =
        unit.range.count <= packetSize - RTPHeader.byteCount ? wholePacket(unit) : fragment(of: unit)
      header.sequenceNumber &+= 1
      if packet.payloadRange.upperBound == unit.range.upperBound {
        self.unit = followingUnit
        followingUnit = followingUnit == nil ? nil : nextUnit()
        pieceStart = nil
      }
      return packet
    }

    private func wholePacket(_ unit: NALUnit) -> RTPPacket {
      RTPPacket(header: header(isLastOfUnit: true), fragmentHeader: nil, payloadRange: unit.range)
    }

    private mutating func fragment(of unit: NALUnit) -> RTPPacket {
      let start = pieceStart ?? unit.range.lowerBound + 1
      let end = Swift.min(start + packetSize - RTPHeader.byteCount - 2, unit.range.upperBound)
      let isLast = end == unit.range.upperBound
      let fragmentHeader = RTPPacket.FragmentHeader(
        nalUnitHeader: accessUnit[unit.range.lowerBound], isFirst: pieceStart == nil, isLast: isLast)
      pieceStart = end
      return RTPPacket(
        header: header(isLastOfUnit: isLast), fragmentHeader: fragmentHeader, payloadRange: start..<end)
    }

    private func header(isLastOfUnit: Bool) -> RTPHeader {
      var header = header
      header.hasMarker = isLastOfUnit && followingUnit == nil && endsAccessUnit
      return header
    }
  }
}

package struct RTPPacket: Equatable, Sendable {
  /// The two bytes in front of a piece of a NAL unit: FU indicator and FU header (RFC 6184, 5.8).
  struct FragmentHeader: Equatable, Sendable {
    let indicator: UInt8
    let header: UInt8

    init(nalUnitHeader: UInt8, isFirst: Bool, isLast: Bool) {
      indicator = nalUnitHeader & 0xE0 | NALUnitType.fragmentationUnit.rawValue
      header = (isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0) | nalUnitHeader & 0x1F
    }
  }

  /// Length and RTP header.
  static let minimumPrefixByteCount = 2 + RTPHeader.byteCount
  package static let maximumPrefixByteCount = minimumPrefixByteCount + 2

  package let header: RTPHeader
  let fragmentHeader: FragmentHeader?
  /// The part of the access unit that ends the packet.
  package let payloadRange: Range<Int>

  package var prefixByteCount: Int {
    fragmentHeader == nil ? Self.minimumPrefixByteCount : Self.maximumPrefixByteCount
  }

  /// Writes everything of this packet that is not a part of the access unit, the length first; returns how many bytes
  /// that is. There must be room for ``prefixByteCount``.
  @discardableResult
  package func writePrefix(to destination: UnsafeMutableRawBufferPointer) -> Int {
    let size = prefixByteCount - 2 + payloadRange.count
    destination.storeBytes(of: UInt16(truncatingIfNeeded: size).bigEndian, as: UInt16.self)
    header.write(to: destination, at: 2)
    if let fragmentHeader {
      destination[Self.minimumPrefixByteCount] = fragmentHeader.indicator
      destination[Self.minimumPrefixByteCount + 1] = fragmentHeader.header
    }
    return prefixByteCount
  }
}
