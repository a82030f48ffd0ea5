import H264

/// Depacketises the RTP stream of a video service and reports violations of RTP.
struct RTPStreamChecker: Sendable {
  private var depacketizer = RTPDepacketizer()
  /// A sender that breaks a rule breaks it with every packet, so each rule is reported once per service.
  private var reportedRules: Set<RTPFault.Rule> = []
  /// RTP timestamps of the access units that were returned last.
  private(set) var timestamps: [UInt32] = []

  /// Returns the access units, in Annex B form, that the next message completes.
  mutating func accessUnits(in message: [UInt8], _ violations: inout [VideoStreamViolation]) -> [[UInt8]] {
    var accessUnits: [[UInt8]] = []
    timestamps.removeAll(keepingCapacity: true)
    depacketizer.append(message)
    while let item = depacketizer.next() {
      switch item {
      case .accessUnit(let unit):
        accessUnits.append(unit.bytes)
        timestamps.append(unit.timestamp)
      case .fault(let fault):
        if reportedRules.insert(fault.rule).inserted { violations.append(.rtp(fault)) }
      }
    }
    return accessUnits
  }

  /// After a pause SDL's iOS library sets its encoder up again, with other sequence numbers and timestamps.
  mutating func expectRestart() {
    depacketizer.expectRestart()
  }
}

extension RTPFault {
  /// The kind of a fault.
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
