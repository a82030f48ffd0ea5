import SDLMessages
import TestSupport
import Testing

/// The form of the sound, on the wire and in numbers.
@Suite struct PCMFormatTests {
  private static let formats = PCMFormat.SamplingRate.allCases.flatMap { rate in
    PCMFormat.SampleSize.allCases.map { PCMFormat(samplingRate: rate, sampleSize: $0) }
  }

  @Test(arguments: formats) func capability(format: PCMFormat) throws {
    let text = """
      {"success":true,"resultCode":"SUCCESS","pcmStreamCapabilities":{"samplingRate":"\(format.samplingRate.rawValue)",
       "bitsPerSample":"\(format.sampleSize.rawValue)","audioType":"PCM"}}
      """
    var response = RegisterAppInterfaceResponse(result: RPCResult(success: true, resultCode: .success))
    response.pcmFormat = format
    #expect(try response.json == json(text))
    #expect(try RegisterAppInterfaceResponse(json: json(text)) == response)
  }

  @Test(arguments: [
    #"{"samplingRate":"48KHZ","bitsPerSample":"16_BIT","audioType":"PCM"}"#,
    #"{"samplingRate":"16KHZ","bitsPerSample":"24_BIT","audioType":"PCM"}"#,
    #"{"samplingRate":"16KHZ","bitsPerSample":"16_BIT","audioType":"OPUS"}"#,
    #"{"samplingRate":"16KHZ","bitsPerSample":"16_BIT"}"#, #"{"samplingRate":16000}"#, "{}", "[]", "7", "null",
  ])
  func unusableCapability(text: String) throws {
    let response = try json(#"{"success":true,"resultCode":"SUCCESS","pcmStreamCapabilities":\#(text)}"#)
    #expect(RegisterAppInterfaceResponse(json: response).pcmFormat == nil)
  }

  @Test func texts() {
    #expect("\(PCMFormat())" == "16000 Hz, 16 bit")
    #expect("\(PCMFormat(samplingRate: .hertz22000, sampleSize: .bits8))" == "22000 Hz, 8 bit")
  }

  /// As people write it.
  @Test(arguments: formats) func written(format: PCMFormat) {
    #expect(PCMFormat(text: format.text) == format)
  }

  @Test(arguments: ["", "/", "16KHZ", "16KHZ/", "16KHZ/16_BIT/", "16khz/16_BIT", "48KHZ/16_BIT", "none"])
  func notWritten(text: String) {
    #expect(PCMFormat().text == "16KHZ/16_BIT" && PCMFormat(text: text) == nil)
  }

  /// Sums of pieces of 20 ms: each in the first minute of a working day, then one a second.
  @Test(arguments: formats) func hoursWithoutDrift(format: PCMFormat) {
    let piece = format.sampleCount(in: .milliseconds(20))
    var samples = 0
    for step in Array(1..<3000) + Array(stride(from: 3000, through: 8 * 3600 * 50, by: 50)) {
      samples = step * piece
      guard format.duration(ofSampleCount: samples) == .milliseconds(20) * step else {
        Issue.record("\(samples) samples are not \(step * 20) ms")
        return
      }
    }
    #expect(samples == format.samplingRate.hertz * 8 * 3600)
    #expect(format.byteCount(ofSampleCount: samples) == samples * format.sampleSize.byteCount)
  }

  @Test(arguments: formats, [1, 2, 3] as [UInt64]) func timesOfSamples(format: PCMFormat, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<1000 {
      let count = Int.random(in: 0...(1 << 40), using: &random)
      let time = format.duration(ofSampleCount: count)
      #expect(format.sampleCount(in: time) == count)
      #expect(format.duration(ofSampleCount: count + 1) > time)
    }
  }

  @Test func partsOfSamples() {
    let format = PCMFormat()
    #expect(format.sampleCount(ofByteCount: 7) == 3)
    #expect(format.sampleCount(in: .microseconds(31)) == 0)
    #expect(format.sampleCount(in: .microseconds(32)) == 1)
    #expect(format.duration(ofSampleCount: 1) == .microseconds(62) + .nanoseconds(500))
  }

  @Test(arguments: formats) func impossibleNumbers(format: PCMFormat) {
    #expect(format.sampleCount(ofByteCount: -5) == 0)
    #expect(format.byteCount(ofSampleCount: .min) == 0)
    #expect(format.duration(ofSampleCount: -1) == .zero)
    #expect(format.sampleCount(in: .seconds(-1)) == 0)
    #expect(format.sampleCount(in: .seconds(Int64.max)) == .max)
    #expect(format.sampleCount(ofByteCount: .max) >= .max / 2)
    #expect(format.byteCount(ofSampleCount: .max) == .max)
    #expect(format.duration(ofSampleCount: .max) > .seconds(1 << 40))
  }
}
