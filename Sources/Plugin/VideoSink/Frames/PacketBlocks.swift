import H264

/// RTP packets as memory blocks to write one after the other: what stands in front of each, then its part of the access
/// unit, which stays where it is.
struct PacketBlocks: ~Copyable {
  private static let stride = RTPPacket.maximumPrefixByteCount

  private var prefixes = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * stride, alignment: 16)
  /// The parts of the access unit. Used again and again, as are the prefixes.
  private var parts: [UnsafeRawBufferPointer] = []
  private var prefixByteCounts: [Int] = []
  private(set) var byteCount = 0
  /// NAL units that RTP can't carry.
  private(set) var leftOutCount = 0

  deinit {
    prefixes.deallocate()
  }

  /// Two for each packet.
  var count: Int { parts.count * 2 }

  subscript(_ index: Int) -> UnsafeRawBufferPointer {
    let packet = index / 2
    guard index.isMultiple(of: 2) else { return parts[packet] }
    let start = packet * Self.stride
    return UnsafeRawBufferPointer(rebasing: prefixes[start..<(start + prefixByteCounts[packet])])
  }

  /// Adds the packets of `accessUnit`, or of a part of one; it must stay valid while the blocks are in use.
  mutating func append(_ packets: RTPPackets, of accessUnit: UnsafeRawBufferPointer) {
    reserve(parts.count + packets.packetCount)
    for packet in packets {
      let start = parts.count * Self.stride
      prefixByteCounts.append(
        packet.writePrefix(to: UnsafeMutableRawBufferPointer(rebasing: prefixes[start..<(start + Self.stride)])))
      parts.append(UnsafeRawBufferPointer(rebasing: accessUnit[packet.payloadRange]))
    }
    byteCount += packets.byteCount
    leftOutCount += packets.leftOutCount
  }

  private mutating func reserve(_ packetCount: Int) {
    let byteCount = packetCount * Self.stride
    guard prefixes.count < byteCount else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount * 2, alignment: 16)
    larger.copyMemory(from: UnsafeRawBufferPointer(prefixes))
    prefixes.deallocate()
    prefixes = larger
  }

  mutating func removeAll() {
    parts.removeAll(keepingCapacity: true)
    prefixByteCounts.removeAll(keepingCapacity: true)
    byteCount = 0
    leftOutCount = 0
  }
}
