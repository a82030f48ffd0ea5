import H264

/// Depacketises the RTP stream of a video service and reports violations of RTP.
struct RTPStreamChecker: Sendable {
  private var depacketizer = RTPDepacketizer()
  /// A sender that breaks a rule breaks it with every packet, so each rule is reported once per service.
  private var reportedRules: Set<RTPFault.Rule> = []
  private var isAccessUnitCountReported = false
  /// RTP timestamps of the access units that were returned last.
  private(set) var timestamps: [UInt32] = []

  /// The most access units of a message: ten seconds. Apps send one in a message, but a message has room for a million
  /// tiny ones.
  static let maximumAccessUnitsPerMessage = 300

  mutating func beginMessage() {
    timestamps.removeAll(keepingCapacity: true)
  }

  /// Returns the access units, in Annex B form, that the next bytes of the message complete; and their faults.
  mutating func accessUnits(in bytes: UnsafeRawBufferPointer) -> ([[UInt8]], [VideoStreamViolation]) {
    var accessUnits: [[UInt8]] = []
    var violations: [VideoStreamViolation] = []
    depacketizer.append(bytes)
    while let item = depacketizer.next() { take(item, &accessUnits, &violations) }
    return (accessUnits, violations)
  }

  private mutating func take(
    _ item: RTPDepacketizer.Item, _ accessUnits: inout [[UInt8]], _ violations: inout [VideoStreamViolation]
  ) {
    switch item {
    case .accessUnit(let unit) where timestamps.count < Self.maximumAccessUnitsPerMessage:
      accessUnits.append(unit.bytes)
      timestamps.append(unit.timestamp)
    case .accessUnit:
      guard !isAccessUnitCountReported else { return }
      isAccessUnitCountReported = true
      violations.append(.tooManyAccessUnits(limit: Self.maximumAccessUnitsPerMessage))
    case .fault(let fault):
      if reportedRules.insert(fault.rule).inserted { violations.append(.rtp(fault)) }
    }
  }

  /// After a pause SDL's iOS library sets its encoder up again, with other sequence numbers and timestamps.
  mutating func expectRestart() {
    depacketizer.expectRestart()
  }
}

extension RTPFault {
  fileprivate enum Rule: Hashable {
    case framing, packetStructure, lostPackets, payloadType, payloadStructure, strayFragment, unfinishedNALUnit
    case earlyMarker, missingMarker, timestampNotGrowing, oversizedAccessUnit
  }

  fileprivate var rule: Rule {
    switch self {
    case .framing: .framing
    case .packetStructure: .packetStructure
    case .lostPackets: .lostPackets
    case .payloadType: .payloadType
    case .payloadStructure: .payloadStructure
    case .strayFragment: .strayFragment
    case .unfinishedNALUnit: .unfinishedNALUnit
    case .earlyMarker: .earlyMarker
    case .missingMarker: .missingMarker
    case .timestampNotGrowing: .timestampNotGrowing
    case .oversizedAccessUnit: .oversizedAccessUnit
    }
  }
}

extension RTPFault {
  /// One sentence for the developer of the app.
  var text: String {
    switch self {
    case .framing(let bytes):
      "bytes that are not an RTP packet after its length (\(Self.hex(bytes)) …), so the rest "
        + "of the stream can't be read"
    case .packetStructure(let number): "RTP packet \(number) is shorter than its header announces"
    case .lostPackets(let expected, let got): "RTP packet \(got) where \(expected) was next"
    case .payloadType(let type):
      "RTP payload of NAL unit type \(type), which packetization mode 1 does not have"
        + (type == 0 ? " (start codes must be left out)" : "")
    case .payloadStructure(let number): "the payload of RTP packet \(number) is cut off or empty"
    case .strayFragment(let number): "RTP packet \(number) continues a NAL unit that was not begun"
    case .unfinishedNALUnit(let type): "the last fragment of a NAL unit of type \(type) is missing"
    case .earlyMarker(let number):
      "marker bit in RTP packet \(number), which is not the last of its access unit but a fragment of a NAL unit"
    case .missingMarker(let timestamp):
      "the access unit with RTP timestamp \(timestamp) ends without the marker bit, or changes its timestamp"
    case .timestampNotGrowing(let previous, let got):
      "access unit with RTP timestamp \(got) after one with \(previous)"
    case .oversizedAccessUnit(let limit): "access unit of more than \(limit) bytes"
    }
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ")
  }
}
