import Glibc
import H264
import SDLApp

@testable import SDLLink

/// A relay between a sink and a head unit that records the sink's requests and video messages as sent.
final class WireTap {
  /// A message of the video service.
  struct VideoMessage: Sendable {
    var bytes: [UInt8]
    /// Protocol frames that carry it, without the first frame.
    var frameCount: Int
  }

  struct Record: Sendable {
    /// StartService of video: "RTP 800×380", or "bare" without parameters.
    var requests: [String] = []
    var video: [VideoMessage] = []
    /// How many messages there were when each service was asked for.
    var starts: [Int] = []
  }

  private let record = Monitor(Record())
  private let peer: RawPeer

  init(to headUnit: TestHeadUnit) throws {
    let port = headUnit.port
    peer = try RawPeer { [record] app in
      var observer = Observer(record: record)
      relay(app, to: port) { observer.observe($0) }
    }
  }

  var uri: String { peer.uri }
  var requests: [String] { record.withLock { $0.requests } }
  var video: [VideoMessage] { record.withLock { $0.video } }
  var starts: [Int] { record.withLock { $0.starts } }

  /// Reads one connection's frames of the app.
  private struct Observer {
    let record: Monitor<Record>
    private var decoder = FrameDecoder()
    private var assembler = MessageAssembler(maximumMessageSize: 16 << 20)
    private var frameCount = 0

    init(record: Monitor<Record>) {
      self.record = record
    }

    mutating func observe(_ bytes: [UInt8]) {
      decoder.append(bytes)
      while let item = decoder.next() {
        guard case .frame(let frame) = item, frame.header.service == .video else { continue }
        observe(frame)
      }
    }

    private mutating func observe(_ frame: Frame) {
      if let control = frame.header.controlFrame {
        guard control == .startService else { return }
        record.withLock { record in
          record.requests.append(Self.text(VideoServiceParameters(payload: frame.payload)))
          record.starts.append(record.video.count)
        }
        return
      }
      if frame.header.frameType != .first { frameCount += 1 }
      guard let message = try? assembler.accept(frame, now: MonotonicClock.now) else { return }
      record.withLock { $0.video.append(VideoMessage(bytes: message.payload, frameCount: frameCount)) }
      frameCount = 0
    }

    private static func text(_ request: VideoServiceParameters) -> String {
      guard let transport = request.videoProtocol, let width = request.width, let height = request.height else {
        return "bare"
      }
      return "\(transport) \(width)×\(height)"
    }
  }
}

/// The header fields of an RTP packet in a message.
struct SentPacket: Equatable {
  var hasMarker: Bool
  var sequenceNumber: UInt16
  var timestamp: UInt32
  var source: UInt32
  /// NAL unit type of the payload (RFC 6184): 28 is an FU-A.
  var payloadType: UInt8

  /// The packets of a message; nil unless it is made of whole ones with their lengths in front.
  static func packets(in message: [UInt8]) -> [SentPacket]? {
    var packets: [SentPacket] = []
    var rest = message[...]
    func number(_ offset: Int, _ count: Int) -> UInt32 {
      rest.dropFirst(offset).prefix(count).reduce(0) { $0 << 8 | UInt32($1) }
    }
    while !rest.isEmpty {
      let size = Int(number(0, 2))
      guard size > 12, rest.count >= 2 + size, number(2, 1) == 0x80 else { return nil }
      packets.append(
        SentPacket(
          hasMarker: number(3, 1) & 0x80 != 0, sequenceNumber: UInt16(number(4, 2)), timestamp: number(6, 4),
          source: number(10, 4), payloadType: UInt8(number(14, 1) & 0x1F)))
      rest = rest.dropFirst(2 + size)
    }
    return packets
  }
}

extension WireTap {
  /// Of all messages; nil for those that are no RTP packets.
  var packets: [[SentPacket]?] { video.map { SentPacket.packets(in: $0.bytes) } }
}

/// Relays between an app and a head unit until one of them closes.
private func relay(_ app: RawConnection, to port: UInt16, observe: ([UInt8]) -> Void) {
  guard let target = try? Resolver.addresses(host: "127.0.0.1", port: port, flags: AI_NUMERICHOST).get().first,
    let socket = Socket.tcp(family: AF_INET)
  else { return }
  _ = target.withPointer { connect(socket.descriptor, $0, $1) }
  let headUnit = RawConnection(socket: socket, isStopped: app.isStopped)
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while !app.isStopped.withLock({ $0 }) {
    var polled = [app, headUnit].map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0) }
    _ = poll(&polled, nfds_t(polled.count), 20)
    for (isApp, from, to) in [(true, app, headUnit), (false, headUnit, app)] {
      switch buffer.withUnsafeMutableBytes({ from.socket.receive(into: $0) }) {
      case .bytes(let count):
        let bytes = Array(buffer[..<count])
        if isApp { observe(bytes) }
        guard to.send(bytes) else { return }
      case .wouldBlock: continue
      case .endOfStream, .failed: return
      }
    }
  }
}
