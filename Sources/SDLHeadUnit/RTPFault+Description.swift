import H264

extension RTPFault {
  /// One sentence for the developer of the app.
  var text: String {
    switch self {
    case .framing(let bytes):
      "bytes that are no RTP packet with its length in front (\(Self.hex(bytes)) …), so "
        + "that the rest of the stream can't be read"
    case .packetStructure(let number): "RTP packet \(number) is too short for what its header announces"
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
