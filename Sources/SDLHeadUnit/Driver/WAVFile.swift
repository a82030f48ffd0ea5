import SDLMessages

/// The header of a WAV file with the sound of an app: RIFF, one `fmt ` chunk for PCM, and the head of the `data` chunk,
/// whose samples follow.
package struct WAVHeader: Sendable {
  private static let byteCountBeforeData = 36
  /// The beginning of the file.
  package let bytes: [UInt8]

  /// - Parameter dataByteCount: the bytes of the samples; nil, and more than fit, stand for "to the end of the file".
  package init(_ format: PCMFormat, dataByteCount: Int?) {
    let limit = Int(UInt32.max) - Self.byteCountBeforeData - 1
    let dataSize = dataByteCount.flatMap { (0...limit).contains($0) ? UInt32($0) : nil }
    let rate = UInt32(format.samplingRate.hertz)
    let sampleSize = UInt16(format.sampleSize.byteCount)
    func number(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian, Array.init) }
    let riffSize = dataSize.map { $0 + UInt32(Self.byteCountBeforeData) }
    let formatChunk =
      number(1 as UInt16) + number(1 as UInt16) + number(rate) + number(rate * UInt32(sampleSize))
      + number(sampleSize) + number(sampleSize * 8)
    bytes =
      Array("RIFF".utf8) + number(riffSize ?? .max) + Array("WAVEfmt ".utf8) + number(UInt32(formatChunk.count))
      + formatChunk + Array("data".utf8) + number(dataSize ?? .max)
  }
}

/// The sound of a WAV file with PCM; only the first channel is used.
package struct WAVSound: Equatable, Sendable {
  /// In bytes; longer files are refused.
  package static let maximumByteCount = 64 << 20
  private static let samplingRates = 1000...384_000

  private let samplingRate: Int
  private let samples: [Int16]

  /// Reads a whole file; nil for anything but PCM with 8 or 16 bits. A length beyond its end means its end.
  package init?(_ file: [UInt8]) {
    guard file.count <= Self.maximumByteCount, file.starts(with: "RIFF".utf8),
      file.dropFirst(8).starts(with: "WAVE".utf8)
    else { return nil }
    var format: (channelCount: Int, samplingRate: Int, bitCount: Int)?
    var rest = file.dropFirst(12)
    while rest.count >= 8 {
      let name = rest.prefix(4)
      let size = Self.number(rest.dropFirst(4).prefix(4))
      let content = rest.dropFirst(8).prefix(size)
      if name.elementsEqual("fmt ".utf8), content.count >= 16 {
        guard Self.number(content.prefix(2)) == 1 else { return nil }
        format = (
          Self.number(content.dropFirst(2).prefix(2)), Self.number(content.dropFirst(4).prefix(4)),
          Self.number(content.dropFirst(14).prefix(2))
        )
      } else if name.elementsEqual("data".utf8) {
        guard let format, format.channelCount > 0, Self.samplingRates.contains(format.samplingRate),
          [8, 16].contains(format.bitCount)
        else { return nil }
        samplingRate = format.samplingRate
        let sampleSize = format.bitCount / 8
        samples = stride(from: content.startIndex, to: content.endIndex, by: format.channelCount * sampleSize)
          .compactMap { start in
            // Eight bits are unsigned.
            if sampleSize == 1 { return (Int16(content[start]) - 0x80) << 8 }
            guard start + 1 < content.endIndex else { return nil }
            return Int16(bitPattern: UInt16(content[start]) | UInt16(content[start + 1]) << 8)
          }
        return
      }
      // Chunks begin at even places.
      rest = rest.dropFirst(8 + size + size % 2)
    }
    return nil
  }

  /// Little-endian; at most four bytes.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// Samples of the sound in another format, with silence after its end. It takes the nearest samples, which is good
  /// enough for voices.
  func bytes(_ range: Range<Int>, _ format: PCMFormat) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in range {
      let place = index * samplingRate / format.samplingRate.hertz
      let sample = samples.indices.contains(place) ? samples[place] : 0
      switch format.sampleSize {
      case .bits8: bytes.append(UInt8(truncatingIfNeeded: (sample >> 8) + 0x80))
      case .bits16: withUnsafeBytes(of: sample.littleEndian) { bytes += $0 }
      }
    }
    return bytes
  }
}
