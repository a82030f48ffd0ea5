import SDLMessages
import Testing

@testable import SDLApp

/// Volume and ramps.
@Suite struct SampleShaperTests {
  private func shape(_ shaper: inout SampleShaper, _ samples: [Int16]) -> [Int16] {
    var output = [Int16](repeating: 0, count: samples.count)
    samples.withUnsafeBytes { input in output.withUnsafeMutableBytes { shaper.shape(input, to: $0) } }
    return output
  }

  private func silence(_ shaper: inout SampleShaper, _ count: Int) -> [Int16] {
    var output = [Int16](repeating: .min, count: count + 1)
    output.withUnsafeMutableBytes { shaper.writeSilence(count, to: $0) }
    #expect(output.last == .min, "Nothing is written behind it.")
    return output.dropLast()
  }

  /// The largest step from one sample to the next.
  private func step(_ samples: [Int16]) -> Int {
    zip(samples, samples.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0
  }

  @Test func neutralAtFullVolume() {
    var shaper = SampleShaper(format: PCMFormat())
    #expect(shaper.isNeutral)
    #expect(shape(&shaper, [1, -2, .max, .min]) == [1, -2, .max, .min])
  }

  private static let volumes: [(Double, [Int16])] = [
    (0.5, [50, -50, 16_384, -16_384]), (2, [200, -200, 32_767, -32_768]), (0, [0, 0, 0, 0]),
  ]

  @Test(arguments: volumes)
  func volume(_ volume: Double, _ expected: [Int16]) {
    var shaper = SampleShaper(format: PCMFormat(), volume: volume)
    #expect(!shaper.isNeutral)
    #expect(shape(&shaper, [100, -100, .max, .min]) == expected)
  }

  /// A new volume, a cut and silence are reached without a click.
  @Test func nothingClicks() {
    var shaper = SampleShaper(format: PCMFormat())
    let loud = [Int16](repeating: 20_000, count: 400)
    var output = shape(&shaper, loud)
    shaper.setVolume(0.25)
    output += shape(&shaper, loud)
    #expect(output.last == 5000)
    shaper.setVolume(1)
    output += shape(&shaper, loud)
    shaper.bridge()
    output += shape(&shaper, loud.map { -$0 })
    #expect(output.last == -20_000)
    output += silence(&shaper, 400)
    #expect(output.last == 0 && step(output) < 600 && shaper.isNeutral)
  }

  /// What was sent as it is counts for the ramp as well.
  @Test func rampsFromWhatWasSent() {
    var shaper = SampleShaper(format: PCMFormat())
    [Int16](repeating: 10_000, count: 4).withUnsafeBytes { shaper.noteSent($0) }
    let output = silence(&shaper, 200)
    #expect(output[0] > 9000 && output[0] < 10_000 && output[80...].allSatisfy { $0 == 0 })
    #expect(step(output) < 200)
  }

  /// The former stream's volume is not ramped from.
  @Test func aStreamBeginsAtItsVolume() {
    var shaper = SampleShaper(format: PCMFormat())
    _ = shape(&shaper, [20_000, 20_000])
    shaper.setVolume(0.25)
    shaper.begin()
    #expect(shape(&shaper, [20_000, -20_000]) == [5000, -5000])
  }

  @Test func eightBits() {
    let format = PCMFormat(sampleSize: .bits8)
    var shaper = SampleShaper(format: format, volume: 0.5)
    var output = [UInt8](repeating: 0, count: 4)
    let input: [UInt8] = [0, 128, 255, 130]
    input.withUnsafeBytes { input in output.withUnsafeMutableBytes { shaper.shape(input, to: $0) } }
    #expect(output == [64, 128, 192, 129])
    #expect([UInt8](repeating: 128, count: 9).withUnsafeBytes { format.isSilent($0) })
    #expect(!([128, 129] as [UInt8]).withUnsafeBytes { format.isSilent($0) })
    #expect(!([0, 128] as [UInt8]).withUnsafeBytes { PCMFormat().isSilent($0) })
  }

  /// What follows a silence that is shorter than its ramp goes on from where that has come to.
  @Test func silenceWithinARamp() {
    var shaper = SampleShaper(format: PCMFormat())
    var output = shape(&shaper, [Int16](repeating: 20_000, count: 100))
    output += silence(&shaper, 40)
    output += silence(&shaper, 0)
    shaper.bridge()
    output += shape(&shaper, [Int16](repeating: -20_000, count: 200))
    #expect(output.last == -20_000 && step(output) < 600)
  }

  /// A ramp takes 5 ms: 80 samples at 16 kHz.
  @Test func lengthOfARamp() {
    var shaper = SampleShaper(format: PCMFormat())
    shaper.setVolume(0)
    let output = shape(&shaper, [Int16](repeating: 8000, count: 100))
    #expect(output[0] == 7900 && output[78] == 100 && output[79...].allSatisfy { $0 == 0 })
  }
}
