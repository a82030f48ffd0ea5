import SDLWire
import TestSupport
import Testing

@testable import SDLLink

/// Control frames and RPCs on their way to a socket.
@Suite struct ControlFrameBufferTests {
  private func protected(_ byteCount: Int, by channel: FakeChannel = FakeChannel(isServer: true)) -> ControlMessage {
    .protected(
      ProtectedMessage(
        service: .rpc, version: 5, sessionID: 1, messageID: 1, payload: [UInt8](repeating: 1, count: byteCount),
        maximumPayload: 1000), by: channel)
  }

  private func frames(_ byteCount: Int) -> ControlMessage { .frames([UInt8](repeating: 0, count: byteCount)) }

  /// Those that are yet to be encrypted, and those that wait behind them, count as well.
  @Test func boundedTogether() throws {
    var buffer = ControlFrameBuffer()
    let part = ControlFrameBuffer.maximumByteCount / 4
    for message in [frames(part), protected(part), frames(part), protected(part)] {
      try buffer.append(message, peer: "car")
    }
    for message in [frames(1), protected(1)] {
      #expect(throws: LinkError.peerNotReading(address: "car", queuedByteCount: 4 * part)) {
        try buffer.append(message, peer: "car")
      }
    }
  }

  /// In their order, and with as much room afterwards as before.
  @Test func writtenToTheEnd() throws {
    let channel = FakeChannel(isServer: true)
    let (ours, theirs) = try Socket.pair()
    var buffer = ControlFrameBuffer()
    let heartbeat = Frame.control(.heartbeat, service: .control, version: 5, sessionID: 1)
    for _ in 0..<2 {
      for message in [ControlMessage.frames(heartbeat.bytes), protected(10, by: channel), .frames(heartbeat.bytes)] {
        try buffer.append(message, peer: "car")
      }
      #expect(buffer.byteCount == 2 * heartbeat.bytes.count + 10 && !buffer.isEmpty)
      while !buffer.isEmpty {
        guard case .bytes = buffer.write(to: ours) else {
          Issue.record("not written")
          return
        }
      }
      #expect(buffer.byteCount == 0)
    }
    let (sent, rest) = decode(receive(theirs).1)
    #expect(rest == 0)
    #expect(sent.map(\.header.service) == [.control, .rpc, .control, .control, .rpc, .control])
    #expect(sent.filter { $0.header.service == .rpc }.map(\.header.isEncrypted) == [true, true])
  }
}
