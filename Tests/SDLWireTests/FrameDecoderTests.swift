import SDLWire
import Testing
import TestSupport

@Suite struct FrameDecoderTests {
  /// Frames of several sizes and versions, one after the other.
  private static let stream =
    Vector.v02 + Vector.v04 + Vector.v15 + Vector.v18 + Vector.v31 + Vector.v06 + Vector.v42 + Vector.v24

  @Test func byteByByte() {
    var decoder = FrameDecoder()
    var items: [FrameDecoder.Item] = []
    for byte in Self.stream {
      decoder.append([byte])
      items += drain(&decoder)
    }
    #expect(items == decode(Self.stream))
    #expect(frames(items).flatMap(\.bytes) == Self.stream)
    #expect(decoder.bufferedByteCount == 0)
  }

  @Test func everySplitPoint() {
    let whole = decode(Self.stream)
    for split in 0...Self.stream.count {
      var decoder = FrameDecoder()
      decoder.append(Array(Self.stream.prefix(split)))
      var items = drain(&decoder)
      decoder.append(Array(Self.stream.dropFirst(split)))
      items += drain(&decoder)
      #expect(items == whole, "split at \(split)")
    }
  }

  /// Nothing is lost when frames are taken late, or one per append.
  @Test func appendingWithoutDraining() {
    var decoder = FrameDecoder()
    var items: [FrameDecoder.Item] = []
    for _ in 0..<50 {
      decoder.append(Self.stream)
      if let item = decoder.next() { items.append(item) }
    }
    items += drain(&decoder)
    #expect(frames(items).flatMap(\.bytes) == (0..<50).flatMap { _ in Self.stream })
  }

  @Test func waitsForTheWholeFrame() {
    var decoder = FrameDecoder()
    decoder.append(Array(Vector.v31.dropLast()))
    #expect(decoder.next() == nil)
    #expect(decoder.bufferedByteCount == Vector.v31.count - 1)
    decoder.append([0x7D])
    #expect(frames(drain(&decoder)).map(\.bytes) == [Vector.v31])
  }

  @Test func resynchronisesAfterGarbage() {
    let garbage: [UInt8] = [0xDE, 0xAD, 0xBE, 0xEF, 0x00, 0xFF]
    let items = decode(Vector.v18 + garbage + Vector.v31 + Vector.v22)
    #expect(items.count == 4)
    #expect(frames(items).map(\.bytes) == [Vector.v18, Vector.v31, Vector.v22])
    guard case .garbage(let reason, let firstBytes) = items[1] else {
      Issue.record("no garbage reported")
      return
    }
    #expect(reason == .version(13))
    #expect(firstBytes == Array((garbage + Vector.v31).prefix(32)))
  }

  /// One report per run of garbage, not one per byte, also when the run comes in pieces.
  @Test func oneReportPerRun() {
    var decoder = FrameDecoder()
    var reports = 0
    for _ in 0..<100 {
      decoder.append([UInt8](repeating: 0xFF, count: 37))
      reports += drain(&decoder).count
    }
    #expect(reports == 1)
    decoder.append(Vector.v18)
    #expect(frames(drain(&decoder)).count == 1)
    decoder.append([UInt8](repeating: 0xFF, count: 37))
    #expect(drain(&decoder).count == 1)
  }

  /// A run that does not end is reported again, so that it can be bounded.
  @Test func longRun() {
    var decoder = FrameDecoder()
    var direct = FrameDecoder()
    let piece = [UInt8](repeating: 0xFF, count: 1 << 16)
    var reports: [Int] = []
    for number in 0..<33 {
      decoder.append(piece)
      let count = drain(&decoder).count
      let directCount = piece.withUnsafeBytes { bytes in
        var rest = bytes
        var count = 0
        while direct.next(from: &rest) != nil { count += 1 }
        return count
      }
      #expect(count == directCount)
      if count > 0 { reports.append(number) }
    }
    #expect(reports == [0, 16, 32])
  }

  /// What follows is found again, byte by byte, as SDL Core does; so is what looks like a frame in the payload.
  @Test func frameThatIsTooLarge() {
    let header = [UInt8](hex: "51 0B 00 01 00 02 00 01 00 00 00 07")
    let zeros = [UInt8](repeating: 0, count: 131_073)
    for inside in [[], Vector.v18] {
      let payload = Array(zeros[..<100]) + inside + Array(zeros[(100 + inside.count)...])
      let items = decode(header + payload + Vector.v31)
      let garbage = FrameDecoder.Item.garbage(
        reason: .oversized(131_073, limit: 131_072), firstBytes: header + zeros[..<20])
      #expect(items.first == garbage)
      #expect(frames(items).flatMap(\.bytes) == inside + Vector.v31)
    }
  }

  @Test func largeFrameInPieces() {
    let payload = (0..<FrameLimits.corePayload).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let header = FrameHeader(
      version: 5, frameType: .single, service: .video, frameInfo: 0, sessionID: 1,
      dataSize: UInt32(payload.count), messageID: 1)
    let bytes = header.bytes + payload
    var decoder = FrameDecoder()
    var decoded: [Frame] = []
    for start in stride(from: 0, to: bytes.count, by: 1000) {
      decoder.append(Array(bytes[start..<min(start + 1000, bytes.count)]))
      decoded += frames(drain(&decoder))
    }
    #expect(decoded == [Frame(header: header, payload: payload)])
  }
}

@Suite struct FrameHeaderTests {
  private func reason(_ hex: String, limits: FrameLimits = FrameLimits()) -> FrameHeader.InvalidHeader? {
    let bytes = [UInt8](hex: hex)
    do throws(FrameHeader.InvalidHeader) {
      _ = try FrameHeader(decoding: bytes.span, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("00 07 01 00 00 00 00 00 00 00 00 00", FrameHeader.InvalidHeader.version(0)),
    ("60 07 01 00 00 00 00 00 00 00 00 00", .version(6)),
    ("F0 07 01 00 00 00 00 00 00 00 00 00", .version(15)),
    ("50 01 01 00 00 00 00 00 00 00 00 00", .service(1)),
    ("50 0C 01 00 00 00 00 00 00 00 00 00", .service(12)),
    ("54 07 00 01 00 00 00 01 00 00 00 01", .frameType(4)),
    ("57 07 00 01 00 00 00 01 00 00 00 01", .frameType(7)),
    ("50 07 0A 01 00 00 00 00 00 00 00 00", .frameInfo(0x0A)),
    ("50 07 FC 01 00 00 00 00 00 00 00 00", .frameInfo(0xFC)),
    ("52 07 01 01 00 00 00 08 00 00 00 01", .frameInfo(1)),
    ("51 07 00 01 00 00 00 00 00 00 00 01", .dataSize(0)),
    ("53 07 00 01 00 00 00 00 00 00 00 01", .dataSize(0)),
    ("52 07 00 01 00 00 00 07 00 00 00 01", .dataSize(7)),
    ("52 07 00 01 00 00 00 09 00 00 00 01", .dataSize(9)),
    ("51 07 00 01 00 02 00 01 00 00 00 01", .oversized(131_073, limit: 131_072)),
    ("50 07 02 01 FF FF FF FF 00 00 00 01", .oversized(.max, limit: 131_072)),
    ("21 07 00 01 00 00 05 D1 00 00 00 01", .oversized(1489, limit: 1488)),
    ("10 07 01 00 00 00 05 D1", .oversized(1489, limit: 1488)),
  ])
  func refused(hex: String, expected: FrameHeader.InvalidHeader) {
    #expect(reason(hex) == expected)
  }

  @Test(arguments: [
    "51 07 00 01 00 02 00 00 00 00 00 00", "21 07 00 01 00 00 05 D0 00 00 00 01", "10 07 01 00 00 00 05 D0",
    "53 0B FF 01 00 00 00 01 00 00 00 00",
  ])
  func accepted(hex: String) throws {
    let bytes = [UInt8](hex: hex)
    let header = try FrameHeader(decoding: bytes.span, limits: FrameLimits())
    #expect(header?.bytes == bytes)
  }

  @Test func limitIsTheReceivers() {
    let hex = "51 0B 00 01 00 00 08 00 00 00 00 01"
    #expect(reason(hex, limits: FrameLimits(payload: 2048)) == nil)
    #expect(reason(hex, limits: FrameLimits(payload: 2047)) == .oversized(2048, limit: 2047))
    #expect(FrameLimits(payload: 0).payload == 1488, "never less than old versions take")
  }

  @Test func needsTheWholeHeader() throws {
    for length in 0..<12 {
      let bytes = Array(Vector.v31.prefix(length))
      #expect(try FrameHeader(decoding: bytes.span, limits: FrameLimits()) == nil)
    }
    for length in 0..<8 {
      let bytes = Array(Vector.v01.prefix(length))
      #expect(try FrameHeader(decoding: bytes.span, limits: FrameLimits()) == nil)
    }
  }

  @Test func everyHeaderRoundTrips() throws {
    for version in UInt8(1)...5 {
      for service in ServiceType.allCases {
        for isEncrypted in [false, true] {
          for control in ControlFrame.allCases {
            let header = FrameHeader(
              version: version, isEncrypted: isEncrypted, frameType: .control, service: service,
              frameInfo: control.rawValue, sessionID: 0xA5, dataSize: 0x01_02, messageID: version > 1 ? 0xFEDC_BA98 : 0)
            let bytes = header.bytes
            #expect(bytes.count == (version == 1 ? 8 : 12))
            #expect(try FrameHeader(decoding: bytes.span, limits: FrameLimits()) == header)
          }
        }
      }
    }
  }
}
