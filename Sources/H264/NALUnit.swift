/// The type of a NAL unit: the low five bits of its first byte (H.264, table 7-1).
public struct NALUnitType: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8

  /// Creates a type from any number; only 0…31 occur in a stream.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The type in a NAL unit's first byte.
  public init(header: UInt8) {
    self.init(rawValue: header & 0x1F)
  }

  public static let nonIDRSlice = NALUnitType(rawValue: 1)
  public static let dataPartitionA = NALUnitType(rawValue: 2)
  public static let dataPartitionB = NALUnitType(rawValue: 3)
  public static let dataPartitionC = NALUnitType(rawValue: 4)
  public static let idrSlice = NALUnitType(rawValue: 5)
  public static let supplementalEnhancementInformation = NALUnitType(rawValue: 6)
  public static let sequenceParameterSet = NALUnitType(rawValue: 7)
  public static let pictureParameterSet = NALUnitType(rawValue: 8)
  public static let accessUnitDelimiter = NALUnitType(rawValue: 9)
  public static let endOfSequence = NALUnitType(rawValue: 10)
  public static let endOfStream = NALUnitType(rawValue: 11)
  public static let fillerData = NALUnitType(rawValue: 12)

  /// Whether RTP can carry a unit of this type: receivers take the types that the standard leaves open for aggregates and pieces
  /// (RFC 6184, 5.2).
  var fitsInRTP: Bool { 1...23 ~= rawValue }

  /// Whether a unit of this type starts a slice of the primary picture. Partitions B and C only continue one.
  public var startsSlice: Bool {
    self == .nonIDRSlice || self == .idrSlice || self == .dataPartitionA
  }
}

/// The place of a NAL unit in an Annex B byte stream.
public struct NALUnit: Equatable, Sendable {
  public let type: NALUnitType
  /// Offsets into the scanned bytes, from the NAL unit's first byte; without start code and without the zero bytes
  /// that may follow it. Never empty.
  public let range: Range<Int>
}
