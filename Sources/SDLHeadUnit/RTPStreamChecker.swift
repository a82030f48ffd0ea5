import H264

/// Takes the RTP packets of a video service apart, and tells which rules of RTP they break.
struct RTPStreamChecker: Sendable {
  private var depacketizer = RTPDepacketizer()
  /// A sender breaks a rule with every packet, or never: each is reported once per service.
  private var reportedRules: Set<RTPFault.Rule> = []
  /// Of the access units that were returned last.
  private(set) var timestamps: [UInt32] = []

  /// Takes the next message; returns the access units in Annex B form that end with it.
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

  /// After a pause apps may set up their encoder again, with other numbers (SDL's iOS library does).
  mutating func expectRestart() {
    depacketizer.expectRestart()
  }
}

extension RTPFault {
  /// A fault without its numbers.
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
