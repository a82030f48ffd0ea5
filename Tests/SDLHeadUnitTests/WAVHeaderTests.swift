import SDLHeadUnit
import SDLMessages
import Testing

@Suite struct WAVHeaderTests {
  /// A second of 16 kHz, 16 bit, mono.
  @Test func bytes() {
    let expected: [UInt8] =
      Array("RIFF".utf8) + [0x24, 0x7D, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0]
      + [0x80, 0x3E, 0, 0, 0, 0x7D, 0, 0, 2, 0, 16, 0] + Array("data".utf8) + [0, 0x7D, 0, 0]
    #expect(WAVHeader(PCMFormat(), dataByteCount: 32_000).bytes == expected)
  }

  @Test func otherFormat() {
    let format = PCMFormat(samplingRate: .hertz44000, sampleSize: .bits8)
    #expect(
      WAVHeader(format, dataByteCount: 0).bytes[20..<36]
        == [1, 0, 1, 0, 0xE0, 0xAB, 0, 0, 0xE0, 0xAB, 0, 0, 1, 0, 8, 0])
  }

  @Test(arguments: [nil, -1, Int(UInt32.max), .max] as [Int?]) func unknownLength(count: Int?) {
    let bytes = WAVHeader(PCMFormat(), dataByteCount: count).bytes
    #expect(bytes[4..<8] == [255, 255, 255, 255] && bytes[40...] == [255, 255, 255, 255])
  }
}
