import SDLHeadUnit
import SDLMessages
import Testing
import TestSupport

@Suite struct WAVFileTests {
  /// A second of 16 kHz, 16 bit, mono.
  @Test func bytes() {
    let expected = joined(
      Array("RIFF".utf8), [0x24, 0x7D, 0, 0], Array("WAVEfmt ".utf8), [16, 0, 0, 0, 1, 0, 1, 0],
      [0x80, 0x3E, 0, 0, 0, 0x7D, 0, 0, 2, 0, 16, 0], Array("data".utf8), [0, 0x7D, 0, 0])
    #expect(WAVHeader(PCMFormat(), dataByteCount: 32_000).bytes == expected)
  }

  /// Chunks that mean nothing here, a second channel and a cut end are left out.
  @Test func soundOfAFile() {
    func chunk(_ name: String, _ size: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      joined(Array(name.utf8), [size, 0, 0, 0], bytes)
    }
    let stereo: [UInt8] = [1, 0, 2, 0, 0x80, 0x3E, 0, 0, 0, 0xFA, 0, 0, 4, 0, 16, 0]
    let file = joined(
      Array("RIFF".utf8), [0, 0, 0, 0], Array("WAVE".utf8), chunk("LIST", 3, [1, 2, 3, 0]),
      chunk("fmt ", 16, stereo), chunk("data", 200, [1, 2, 9, 9, 3, 4, 9, 9, 5]))
    let mono = WAVHeader(PCMFormat(), dataByteCount: 4).bytes + [1, 2, 3, 4]
    #expect(WAVSound(file) != nil && WAVSound(file) == WAVSound(mono))
  }

  @Test func noSound() {
    let file = WAVHeader(PCMFormat(), dataByteCount: 2).bytes + [1, 2]
    #expect(WAVSound(file) != nil)
    for (index, byte) in [(0, 0), (8, 0), (20, 3), (22, 0), (26, 255), (34, 24), (36, 0)] as [(Int, UInt8)] {
      var changed = file
      changed[index] = byte
      #expect(WAVSound(changed) == nil, "\(index)")
    }
    for count in 0..<40 { #expect(WAVSound(Array(file[..<count])) == nil, "\(count)") }
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

  @Test(arguments: [(999, false), (1000, true), (384_000, true), (384_001, false)] as [(UInt32, Bool)])
  func samplingRates(rate: UInt32, isTaken: Bool) {
    var file = WAVHeader(PCMFormat(), dataByteCount: 2).bytes + [1, 2]
    file.replaceSubrange(24..<28, with: withUnsafeBytes(of: rate.littleEndian, Array.init))
    #expect((WAVSound(file) != nil) == isTaken)
  }
}
