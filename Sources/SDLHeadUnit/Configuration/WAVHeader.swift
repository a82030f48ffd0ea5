import SDLMessages

/// The header of a WAV file with the sound of an app: RIFF, one `fmt ` chunk for PCM, and the head of the `data` chunk, whose
/// samples follow.
public struct WAVHeader: Sendable {
  private static let byteCountBeforeData = 36
  /// The beginning of the file.
  public let bytes: [UInt8]

  /// - Parameter dataByteCount: the bytes of the samples; nil, and more than fit, stand for "to the end of the file".
  public init(_ format: PCMFormat, dataByteCount: Int?) {
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
