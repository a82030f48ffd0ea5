import H264
import SDLHeadUnit
import SDLWire

/// A sender of RTP, whose packets can be changed before they are sent.
struct RTPSender {
  var packetizer: RTPPacketizer
  var time = Duration.zero

  init(packetSize: Int = RTPPacketizer.maximumPacketSize, sequenceNumber: UInt16 = 100, timestamp: UInt32 = 1000) {
    packetizer = RTPPacketizer(
      sequenceNumber: sequenceNumber, timestamp: timestamp, synchronizationSource: 5, packetSize: packetSize)
  }

  /// Packets with their lengths in front; the next access unit is 100 ms later.
  mutating func packets(of accessUnit: [UInt8]) -> [[UInt8]] {
    defer { time += .milliseconds(100) }
    return accessUnit.withUnsafeBytes { bytes in
      packetizer.packets(of: bytes, at: time).map { packet in
        withUnsafeTemporaryAllocation(byteCount: RTPPacket.maximumPrefixByteCount, alignment: 1) { prefix in
          let size = packet.writePrefix(to: prefix)
          return Array(prefix[..<size]) + Array(bytes[packet.payloadRange])
        }
      }
    }
  }

  mutating func message(of accessUnit: [UInt8]) -> [UInt8] {
    packets(of: accessUnit).flatMap { $0 }
  }
}

extension TestApp {
  /// A service with H.264 over RTP at a head unit that offers it.
  static func streamingRTP() -> TestApp {
    streaming(
      HeadUnitPreset.core.configuration,
      start: VideoServiceParameters(width: 480, height: 320, videoProtocol: "RTP", videoCodec: "H264"))
  }

  /// Ends that service and starts another.
  mutating func restartRTP() {
    send(.endService, .video)
    startVideo(VideoServiceParameters(width: 480, height: 320, videoProtocol: "RTP", videoCodec: "H264"))
    forget()
  }

  var shown: [[UInt8]] {
    events.compactMap { if case .videoData(let bytes) = $0 { bytes } else { nil } }
  }

  var faults: [RTPFault] {
    violations.compactMap { if case .stream(.rtp(let fault)) = $0 { fault } else { nil } }
  }
}

extension RTPSender {
  var packetsOfKeyFrame: [[UInt8]] {
    var sender = self
    return sender.packets(of: Stream.units(Stream.sps480x320, Stream.pps, Stream.idr))
  }
}
