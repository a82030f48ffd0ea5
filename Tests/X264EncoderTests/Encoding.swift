import H264
import Testing
import X264Encoder

/// One access unit with its bytes copied, so that it outlives the encoder's next call.
struct AccessUnit {
  let bytes: [UInt8]
  let isKeyFrame: Bool

  init(_ unit: EncodedAccessUnit) {
    bytes = Array(unit.bytes)
    isKeyFrame = unit.isKeyFrame
  }

  var types: [NALUnitType] {
    bytes.withUnsafeBytes { AnnexB($0).map(\.type) }
  }

  /// The parameter set at the start, which every key frame must have.
  func sequenceParameterSet() throws -> SequenceParameterSet {
    let summary = bytes.withUnsafeBytes { AccessUnitSummary(scanning: $0) }
    let range = try #require(summary.sequenceParameterSet)
    return try SequenceParameterSet(nalUnit: bytes[range])
  }
}

extension EncoderSettings {
  /// 15 frames per second and, by default, one thread, so that sizes do not depend on the machine.
  static func test(
    _ width: Int = 800, _ height: Int = 480, format: PixelFormat = .i420, bitrate: Int = 600, threads: Int = 1,
    options: String = ""
  ) -> EncoderSettings {
    EncoderSettings(
      width: width, height: height, frameRate: FrameRate(numerator: 15, denominator: 1), pixelFormat: format,
      bitrate: bitrate, threads: threads, optionString: options)
  }

  func encoder() throws(EncoderError) -> X264Encoder {
    try X264Encoder(settings: self) { _, _ in }
  }
}

extension X264Encoder {
  /// Encodes the pictures `range` of a pan, alternating between `panoramas`.
  func encodePan(_ range: Range<Int>, over panoramas: [Panorama] = [.smooth]) throws -> [AccessUnit] {
    try range.map { index in
      let planes = try panoramas[index % panoramas.count].planes(at: Panorama.pan(index))
      return AccessUnit(try encode(planes, timestamp: Int64(index)))
    }
  }
}

extension X264Encoder {
  /// Changes the bit rate alone, in kbit/s.
  func setBitrate(_ bitrate: Int) throws(EncoderError) {
    try setRates(EncoderRates(bitrate: bitrate, frameRate: rates.frameRate))
  }
}
