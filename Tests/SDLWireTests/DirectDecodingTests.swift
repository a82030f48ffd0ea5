import SDLWire
import TestSupport
import Testing

/// The decoder without intermediate buffer finds the same items as the other.
@Suite struct DirectDecodingTests {
  private static let garbage: [UInt8] = [0xDE, 0xAD, 0xBE, 0xEF, 0x00, 0xFF]
  private static let stream = joined(
    Vector.v02, Vector.v04, garbage, Vector.v15, Vector.v18, Vector.v31, garbage, Vector.v06, Vector.v42, Vector.v24)

  private func decode(_ pieces: [[UInt8]], limits: FrameLimits = FrameLimits()) -> [FrameDecoder.Item] {
    var decoder = FrameDecoder(limits: limits)
    var items: [FrameDecoder.Item] = []
    for piece in pieces {
      piece.withUnsafeBytes { bytes in
        var bytes = bytes
        while let item = decoder.next(from: &bytes) { items.append(item) }
        #expect(bytes.isEmpty)
      }
    }
    return items
  }

  /// Without the first bytes of garbage, which may be fewer.
  private func reasons(_ items: [FrameDecoder.Item]) -> [FrameHeader.InvalidHeader] {
    items.compactMap { if case .garbage(let reason, _) = $0 { reason } else { nil } }
  }

  @Test func atOnce() {
    #expect(decode([Self.stream]) == SDLWireTests.decode(Self.stream))
  }

  @Test func everySplitPoint() {
    let whole = decode([Self.stream])
    for split in 0...Self.stream.count {
      let items = decode([Array(Self.stream[..<split]), Array(Self.stream[split...])])
      #expect(frames(items) == frames(whole) && reasons(items) == reasons(whole), "split at \(split)")
    }
  }

  @Test(arguments: [1, 2, 3, 7, 11, 13, 1000])
  func pieces(of size: Int) {
    let payload = (0..<FrameLimits.corePayload).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let header = FrameHeader(
      version: 5, frameType: .single, service: .video, frameInfo: 0, sessionID: 1, dataSize: UInt32(payload.count),
      messageID: 1)
    let bytes = Self.stream + header.bytes + payload + Self.stream
    let items = decode(
      stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) })
    let whole = SDLWireTests.decode(bytes)
    #expect(frames(items) == frames(whole) && reasons(items) == reasons(whole))
  }

  /// Random bytes in random pieces against the other decoder; most of the bytes could be a version.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func randomBytes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let bytes = (0..<4000).map { _ in
      Bool.random(using: &generator) ? UInt8.random(in: 0...0x5F, using: &generator) : 0
    }
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...40, using: &generator)
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    let limits = FrameLimits(payload: FrameLimits.legacyPayload)
    let items = decode(pieces, limits: limits)
    let whole = SDLWireTests.decode(bytes, limits: limits)
    #expect(frames(items) == frames(whole) && reasons(items) == reasons(whole))
  }

  /// No more than one frame is buffered.
  @Test func holdsLittle() {
    var decoder = FrameDecoder()
    Array(Vector.v31.dropLast()).withUnsafeBytes { bytes in
      var bytes = bytes
      #expect(decoder.next(from: &bytes) == nil)
    }
    // The header is not buffered any more.
    #expect(decoder.bufferedByteCount == Vector.v31.count - 1 - FrameHeader.maximumByteCount)
  }
}
