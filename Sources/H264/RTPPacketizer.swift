/// Turns access units into RTP packets (RFC 6184, packetization mode 1), each with its length in front (RFC 4571), as
/// SDL's RTP protocol wants them.
///
/// NAL units go as they are, parameter sets and delimiters too, in a packet of their own or in FU-A pieces; nothing is
/// aggregated. Those whose type RTP can't carry are left out. Payload is never copied: see ``RTPPackets``.
///
/// A value type, so that a caller can work on a copy and keep it only if the access unit is sent. Skipped sequence numbers
/// would look like a loss to the receiver.
public struct RTPPacketizer: Sendable {
  /// The number that both SDL libraries use; the first of the dynamic ones.
  public static let defaultPayloadType: UInt8 = 96
  /// The most that a length of 16 bits can announce.
  public static let maximumPacketSize = 65_535
  /// Room for an FU-A with one byte.
  public static let minimumPacketSize = RTPHeader.byteCount + 3

  /// Largest packet in bytes, without the two of its length.
  public let packetSize: Int
  private var header: RTPHeader
  /// The time of the access unit that was begun last, in ticks of the 90 kHz clock.
  private var lastTicks: Int64?
  private var isInsideAccessUnit = false

  /// Creates a packetizer with given numbers.
  /// - Parameters:
  ///   - sequenceNumber: of the first packet.
  ///   - timestamp: of the first access unit.
  ///   - packetSize: in bytes, brought into ``minimumPacketSize``…``maximumPacketSize``. Over a byte stream packets
  ///     have no route to fit, so that the default is as large as the framing allows, like that of SDL's libraries.
  public init(
    sequenceNumber: UInt16, timestamp: UInt32, synchronizationSource: UInt32,
    payloadType: UInt8 = defaultPayloadType, packetSize: Int = maximumPacketSize
  ) {
    self.packetSize = min(max(packetSize, Self.minimumPacketSize), Self.maximumPacketSize)
    header = RTPHeader(
      hasMarker: false, payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp,
      synchronizationSource: synchronizationSource)
  }

  /// Creates a packetizer with random numbers, as RFC 3550 requires (5.1).
  public init(packetSize: Int = maximumPacketSize, using generator: inout some RandomNumberGenerator) {
    self.init(
      sequenceNumber: .random(in: 0 ... .max, using: &generator), timestamp: .random(in: 0 ... .max, using: &generator),
      synchronizationSource: .random(in: 0 ... .max, using: &generator), packetSize: packetSize)
  }

  /// Takes new random numbers but the same source, for a new start of the video service.
  public mutating func restart(using generator: inout some RandomNumberGenerator) {
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
  ///   - endsAccessUnit: false for the first part of one that lies in two places. The rest, with at least one NAL unit,
  ///     has to come with the next call, whose `time` is not looked at.
  public mutating func packets(
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
