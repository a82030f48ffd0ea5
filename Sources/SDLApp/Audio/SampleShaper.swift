import SDLMessages

/// Applies volume and ramps to samples. After missing samples, the next ones ramp from the last value that was sent, so
/// that nothing clicks; a new volume is reached within a few milliseconds for the same reason.
///
/// While ``isNeutral``, samples may be sent as they are.
package struct SampleShaper: Equatable, Sendable {
  private static let rampTime = Duration.milliseconds(5)

  package let format: PCMFormat
  private let rampCount: Int
  /// The target volume, 0 for muted.
  package private(set) var volume: Double
  private var gain: Double
  /// The value of the sample sent last, around 0.
  private var last: Double = 0
  /// The start value of the ramp, and its remaining samples.
  private var from: Double = 0
  private var rampLeft = 0

  /// - Parameter volume: 1 leaves samples as they are; the first volume is not ramped to.
  package init(format: PCMFormat, volume: Double = 1) {
    self.format = format
    self.volume = volume
    gain = volume
    rampCount = max(format.sampleCount(in: Self.rampTime), 1)
  }

  /// Whether the next samples come out as they went in.
  package var isNeutral: Bool { volume == 1 && gain == 1 && rampLeft == 0 }

  /// Whether the next samples come out as silence.
  private var isMuted: Bool { volume == 0 && gain == 0 && rampLeft == 0 }

  /// The volume from the next sample on.
  package mutating func setVolume(_ volume: Double) {
    self.volume = volume
  }

  /// Samples are missing between the last one and the next.
  package mutating func bridge() {
    from = last
    rampLeft = rampCount
  }

  /// A stream begins: there is no last sample to ramp from.
  package mutating func begin() {
    last = 0
    rampLeft = 0
    gain = volume
  }

  /// Notes samples that were sent unchanged.
  package mutating func noteSent(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= format.sampleSize.byteCount else { return }
    last = value(bytes, bytes.count / format.sampleSize.byteCount - 1)
  }

  /// Writes the shaped samples of `input`. `output` must have at least as many bytes.
  package mutating func shape(_ input: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) {
    let count = format.sampleCount(ofByteCount: input.count)
    guard !isMuted else { return writeSilence(count, to: output) }
    for index in 0..<count { write(next(value(input, index)), to: output, index) }
  }

  /// Writes silence, into which the last sample fades.
  package mutating func writeSilence(_ count: Int, to output: UnsafeMutableRawBufferPointer) {
    var index = 0
    if last != 0, rampLeft == 0 { bridge() }
    while index < count, rampLeft > 0 {
      write(next(0), to: output, index)
      index += 1
    }
    guard index < count else { return }
    last = 0
    let rest = (index * format.sampleSize.byteCount)..<(count * format.sampleSize.byteCount)
    UnsafeMutableRawBufferPointer(rebasing: output[rest]).initializeMemory(as: UInt8.self, repeating: format.silentByte)
  }

  private mutating func next(_ value: Double) -> Double {
    if gain != volume {
      let step = 1 / Double(rampCount)
      gain = gain < volume ? min(gain + step, volume) : max(gain - step, volume)
    }
    var result = value * gain
    if rampLeft > 0 {
      let part = Double(rampLeft) / Double(rampCount + 1)
      result = result * (1 - part) + from * part
      rampLeft -= 1
    }
    result = min(max(result, format.lowest), format.highest)
    last = result
    return result
  }

  private func value(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Double {
    switch format.sampleSize {
    case .bits8: Double(Int(bytes[index]) - 128)
    case .bits16: Double(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self)))
    }
  }

  private func write(_ value: Double, to output: UnsafeMutableRawBufferPointer, _ index: Int) {
    switch format.sampleSize {
    case .bits8: output[index] = UInt8(clamping: Int(value.rounded()) + 128)
    case .bits16:
      output.storeBytes(of: Int16(clamping: Int(value.rounded())).littleEndian, toByteOffset: 2 * index, as: Int16.self)
    }
  }
}

extension PCMFormat {
  package var silentByte: UInt8 { sampleSize == .bits8 ? 128 : 0 }

  package func isSilent(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let silentByte = self.silentByte
    return bytes.allSatisfy { $0 == silentByte }
  }

  fileprivate var lowest: Double { sampleSize == .bits8 ? -128 : -32_768 }
  fileprivate var highest: Double { sampleSize == .bits8 ? 127 : 32_767 }
}
