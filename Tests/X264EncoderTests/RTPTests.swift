import Foundation
import H264
import TestSupport
import Testing
import X264Encoder

/// RTP packets of encoded pictures, checked against GStreamer's elements in both directions.
extension X264EncoderTests {
  @Suite struct RTP {
    /// Small packets split everything, the large ones only what is larger than the framing allows.
    static let packetSizes = [40, 1400, 65_535]

    /// Six frames with two key frames, several slices and delimiters.
    private static func accessUnits() throws -> [[UInt8]] {
      let pictures = (0..<12).map { Panorama.smooth.picture(at: Panorama.pan($0), width: 322, height: 242) }
      return try FreeEncoding(options: ["slices": "4", "aud": "1", "bitrate": "2000"]).encode(pictures)
    }

    private static func packets(of accessUnits: [[UInt8]], packetSize: Int) -> [UInt8] {
      var packetizer = RTPPacketizer(
        sequenceNumber: 0xFFFA, timestamp: 0xFFFF_FF00, synchronizationSource: 7, packetSize: packetSize)
      var bytes: [UInt8] = []
      for (index, unit) in accessUnits.enumerated() {
        unit.withUnsafeBytes { unit in
          for packet in packetizer.packets(of: unit, at: .nanoseconds(index * 1_000_000_000 / 15)) {
            withUnsafeTemporaryAllocation(byteCount: RTPPacket.maximumPrefixByteCount, alignment: 1) { prefix in
              bytes.append(contentsOf: prefix[..<packet.writePrefix(to: prefix)])
            }
            bytes.append(contentsOf: unit[packet.payloadRange])
          }
        }
      }
      return bytes
    }

    private static func accessUnits(in stream: [UInt8]) -> [RTPDepacketizer.Item] {
      var depacketizer = RTPDepacketizer()
      depacketizer.append(stream)
      var items: [RTPDepacketizer.Item] = []
      while let item = depacketizer.next() { items.append(item) }
      return items
    }

    private static func units(_ bytes: [UInt8]) -> [[UInt8]] {
      bytes.withUnsafeBytes { bytes in AnnexB(bytes).map { Array(bytes[$0.range]) } }
    }

    @Test(arguments: packetSizes) func roundTrip(packetSize: Int) throws {
      let sent = try Self.accessUnits()
      let items = Self.accessUnits(in: Self.packets(of: sent, packetSize: packetSize))
      let received = items.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
      #expect(items.count == sent.count)
      let areEqual = received.map { Self.units($0.bytes) } == sent.map(Self.units)
      #expect(areEqual)
      #expect(received.map(\.timestamp) == sent.indices.map { 0xFFFF_FF00 &+ UInt32($0) * 6000 })
      #expect(received.allSatisfy { $0.hasMarker && !$0.hasLoss })
      let pictures = try StreamDecoder.decode(received.flatMap(\.bytes), width: 322, height: 242)
      let original = try StreamDecoder.decode(sent.flatMap { $0 }, width: 322, height: 242)
      #expect(zip(pictures, original).allSatisfy { $0 == $1 })
      #expect(pictures.count == 12)
    }

    /// A real NAL unit that is larger than the framing allows.
    @Test func largePicture() throws {
      var generator = SeededGenerator(seed: 1)
      let noise = (0..<640 * 480).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      let grey = [UInt8](repeating: 128, count: 320 * 240)
      let picture = Picture(width: 640, height: 480, luma: noise, blueChroma: grey, redChroma: grey)
      let unit = try #require(FreeEncoding(options: ["qp": "1"]).encode([picture]).first)
      try #require(Self.units(unit).contains { $0.count > 3 * 65_535 })
      let stream = Self.packets(of: [unit], packetSize: 65_535)
      let depayloaded = try StreamDecoder.depayload(stream)
      #expect(Self.units(depayloaded).map(\.count) == Self.units(unit).map(\.count))
      let isEqual = Self.units(depayloaded) == Self.units(unit)
      #expect(isEqual)
      let received = Self.accessUnits(in: stream).compactMap {
        if case .accessUnit(let unit) = $0 { Self.units(unit.bytes) } else { nil }
      }
      let isReceived = received == [Self.units(unit)]
      #expect(isReceived)
    }

    @Test(arguments: packetSizes) func gstreamerTakesOurPackets(packetSize: Int) throws {
      let sent = try Self.accessUnits()
      let received = try StreamDecoder.depayload(Self.packets(of: sent, packetSize: packetSize))
      let areEqual = Self.units(received) == sent.flatMap(Self.units)
      #expect(areEqual)
    }

    @Test(arguments: [("none", 1400), ("none", 100), ("zero-latency", 1400), ("max-stap", 1400), ("max-stap", 60_000)])
    func weTakeGStreamersPackets(aggregation: String, packetSize: Int) throws {
      let sent = try Self.accessUnits()
      let stream = try StreamDecoder.payload(
        sent.flatMap { $0 }, payloader: "rtph264pay mtu=\(packetSize) aggregate-mode=\(aggregation)")
      let items = Self.accessUnits(in: stream)
      let received = items.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
      // A file has no times, so that all timestamps are the same.
      let faults = items.compactMap { if case .fault(let fault) = $0 { fault } else { nil } }
      #expect(faults.allSatisfy { if case .timestampNotGrowing = $0 { true } else { false } }, "\(faults)")
      #expect(received.allSatisfy { $0.hasMarker && !$0.hasLoss })
      let areEqual = received.map { Self.units($0.bytes) } == sent.map(Self.units)
      #expect(
        areEqual, "\(received.map { Self.units($0.bytes).map(\.count) }) of \(sent.map { Self.units($0).map(\.count) })"
      )
    }
  }
}
