import Glibc
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  @Suite struct VideoWriterTests {
    /// Writes `payload` and returns the bytes that came out, reading whenever the socket is full.
    private func write(_ payload: TestPayload, maximumPayload: Int, framesOnly: Bool) throws -> [UInt8] {
      let (sender, receiver) = try Socket.pair()
      let writer = MediaWriter()
      let hasBegun = writer.begin(payload, grant: makeGrant(1, maximumPayload: maximumPayload), messageID: 77)
      #expect(hasBegun)
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 50_000)
      while writer.hasMessage {
        switch writer.write(to: sender, finishesFrameOnly: framesOnly) {
        case .bytes: continue
        case .wouldBlock:
          if case .bytes(let count) = buffer.withUnsafeMutableBytes({ receiver.receive(into: $0) }) {
            bytes += buffer[..<count]
          }
        case .endOfStream, .failed:
          Issue.record("the socket broke")
          return bytes
        }
      }
      _ = shutdown(sender.descriptor, Int32(SHUT_WR))
      return bytes + receiver.readAll()
    }

    /// Message size in bytes, and the size of the memory blocks that it lies in.
    static let layouts = [
      (1, 1), (100, 100), (101, 50), (1000, 1), (100_000, 33_333), (1_000_000, 777), (3_000_000, 131_072),
    ]

    @Test(arguments: layouts, [100, 4096, 131_060])
    func writesWhatFragmentationSays(layout: (size: Int, block: Int), maximumPayload: Int) throws {
      let bytes = noise(layout.size)
      var cuts = Array(stride(from: layout.block, to: layout.size, by: layout.block))
      // Empty blocks are skipped.
      if let last = cuts.last { cuts = [0] + cuts + [last] }
      let payload = TestPayload(bytes, cuts: cuts)
      let expected = Fragmentation(
        service: .video, version: 5, sessionID: 9, messageID: 77, payloadSize: bytes.count,
        maximumPayload: maximumPayload
      ).frames(of: bytes)
      #expect(try write(payload, maximumPayload: maximumPayload, framesOnly: false) == expected)
    }

    @Test func stopsAfterEachFrameWhenAsked() throws {
      let bytes = noise(50_000)
      let payload = TestPayload(bytes, cuts: [10_000])
      let (sender, receiver) = try Socket.pair()
      let writer = MediaWriter()
      let hasBegun = writer.begin(payload, grant: makeGrant(1), messageID: 5)
      #expect(hasBegun)
      var callCount = 0
      while writer.hasMessage {
        guard case .bytes = writer.write(to: sender, finishesFrameOnly: true) else { break }
        let isInsideFrame = writer.isInsideFrame
        #expect(!isInsideFrame)
        callCount += 1
      }
      #expect(callCount == 51, "the first frame and 50 others")
      _ = shutdown(sender.descriptor, Int32(SHUT_WR))
      #expect(receiver.readAll().count == 50_000 + 51 * 12 + 8)
    }

    @Test func refusesEmptyPayload() {
      let writer = MediaWriter()
      let payload = TestPayload([], cuts: [0])
      let hasBegun = writer.begin(payload, grant: makeGrant(1), messageID: 1)
      let hasMessage = writer.hasMessage
      #expect(!hasBegun && !hasMessage)
    }
  }
}
