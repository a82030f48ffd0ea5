/// Pictures per second, as a fraction in lowest terms.
package struct FrameRate: Equatable, Sendable {
  package let numerator: Int
  package let denominator: Int

  /// Nil for 0 and for more than 1000 pictures per second. A tick is the duration of a field.
  init?(unitsInTick: Int, timeScale: Int) {
    let ticks = unitsInTick.multipliedReportingOverflow(by: 2).partialValue
    guard timeScale > 0, ticks > 0, timeScale / ticks <= 1000 else { return nil }
    var (divisor, rest) = (timeScale, ticks)
    while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
    numerator = timeScale / divisor
    denominator = ticks / divisor
  }
}

/// Width and height of a pixel, in the same unit.
package struct SampleAspectRatio: Equatable, Sendable {
  package let width: Int
  package let height: Int

  private static let extended: UInt8 = 255
  /// Of `aspect_ratio_idc` from 1 on (table E-1).
  private static let table = [
    (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
    (64, 33),
    (160, 99), (4, 3), (3, 2), (2, 1),
  ]

  package var isSquare: Bool { width == height }

  /// Nil if it is unspecified.
  init?(from reader: inout PayloadBitReader) throws(SequenceParameterSet.Malformed) {
    guard try reader.flag() else { return nil }
    let idc = try reader.byte()
    if idc == Self.extended {
      width = Int(try reader.bits(16))
      height = Int(try reader.bits(16))
      guard width > 0, height > 0 else { return nil }
    } else {
      guard idc > 0, Int(idc) <= Self.table.count else { return nil }
      (width, height) = Self.table[Int(idc) - 1]
    }
  }
}

/// Video usability information (VUI): how to display and buffer the decoded pictures (H.264, annex E).
struct VideoUsability: Equatable, Sendable {
  /// The place of video_signal_type_present_flag in the payload, in bits, if it is not set.
  private(set) var absentSignalType: Int?
  private(set) var videoFullRange: Bool?
  private(set) var colourPrimaries: UInt8?
  private(set) var transferCharacteristics: UInt8?
  private(set) var matrixCoefficients: UInt8?
  private(set) var numReorderFrames: Int?
  private(set) var frameRate: FrameRate?
  private(set) var sampleAspectRatio: SampleAspectRatio?

  init(from reader: inout PayloadBitReader) throws(SequenceParameterSet.Malformed) {
    sampleAspectRatio = try SampleAspectRatio(from: &reader)
    if try reader.flag() { _ = try reader.flag() }  // overscan_appropriate_flag
    let signalType = reader.position
    if try reader.flag() {
      _ = try reader.bits(3)  // video_format
      videoFullRange = try reader.flag()
      if try reader.flag() {
        colourPrimaries = try reader.byte()
        transferCharacteristics = try reader.byte()
        matrixCoefficients = try reader.byte()
      }
    } else {
      absentSignalType = signalType
    }
    if try reader.flag() {
      _ = try reader.unsigned("chroma_sample_loc_type_top_field", in: 0...5)
      _ = try reader.unsigned("chroma_sample_loc_type_bottom_field", in: 0...5)
    }
    if try reader.flag() {
      let unitsInTick = try reader.bits(32)
      let timeScale = try reader.bits(32)
      _ = try reader.flag()  // fixed_frame_rate_flag
      frameRate = FrameRate(unitsInTick: Int(unitsInTick), timeScale: Int(timeScale))
    }
    let hasNALParameters = try reader.flag()
    if hasNALParameters { try Self.skipHypotheticalDecoder(&reader) }
    let hasVCLParameters = try reader.flag()
    if hasVCLParameters { try Self.skipHypotheticalDecoder(&reader) }
    if hasNALParameters || hasVCLParameters { _ = try reader.flag() }  // low_delay_hrd_flag
    _ = try reader.flag()  // pic_struct_present_flag
    guard try reader.flag() else { return }
    _ = try reader.flag()  // motion_vectors_over_pic_boundaries_flag
    _ = try reader.unsigned("max_bytes_per_pic_denom", in: 0...16)
    _ = try reader.unsigned("max_bits_per_mb_denom", in: 0...16)
    _ = try reader.unsigned("log2_max_mv_length_horizontal", in: 0...16)
    _ = try reader.unsigned("log2_max_mv_length_vertical", in: 0...16)
    numReorderFrames = try reader.unsigned("max_num_reorder_frames", in: 0...16)
    _ = try reader.unsigned("max_dec_frame_buffering", in: 0...16)
  }

  /// Skips hrd_parameters().
  private static func skipHypotheticalDecoder(
    _ reader: inout PayloadBitReader
  ) throws(SequenceParameterSet.Malformed) {
    let count = try reader.unsigned("cpb_cnt_minus1", in: 0...31) + 1
    _ = try reader.bits(8)  // bit_rate_scale, cpb_size_scale
    for _ in 0..<count {
      _ = try reader.unsigned("bit_rate_value_minus1")
      _ = try reader.unsigned("cpb_size_value_minus1")
      _ = try reader.flag()  // cbr_flag
    }
    _ = try reader.bits(20)  // four lengths of five bits
  }
}
