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

  /// A payload of each size, once it is encrypted, and what it has room for: SDL's libraries take 16384 bytes.
  @Test(arguments: [
    (131_072, 16_091), (16_384, 16_091), (16_383, 16_090), (1488, 1195), (587, 294), (586, 293), (500, 250), (2, 1),
    (0, 1), (-5, 1),
  ])
  func roomForTheOverhead(limit: Int, plaintext: Int) {
    #expect(SecurePayload.plaintextLimit(limit) == plaintext)
  }
}
