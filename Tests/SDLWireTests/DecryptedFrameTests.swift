import SDLWire
import TestSupport
import Testing

/// A frame that was encrypted, as if it had been sent in clear.
@Suite struct DecryptedFrameTests {
  @Test func theHeaderTellsTheSizeInClear() throws {
    let records = [UInt8](unsafeUninitializedCapacity: 100) { buffer, count in
      let plain: [UInt8] = [1, 2, 3, 4]
      count = plain.withUnsafeBytes { plain in
        (try? FakeChannel(isServer: true).encrypt(plain, into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
      }
    }
    let encrypted = Frame.control(.heartbeat, service: .rpc, version: 5, sessionID: 1, messageID: 1, payload: records)
    #expect(encrypted.header.dataSize == UInt32(records.count) && records.count > 4)
    let frame = try encrypted.decrypted(by: FakeChannel(isServer: false))
    #expect(frame.payload == [1, 2, 3, 4] && frame.header.dataSize == 4)
  }
}
