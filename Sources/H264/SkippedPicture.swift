/// A picture all of whose macroblocks are skipped (P_Skip): each is copied from the first reference picture.
///
/// The picture has one slice, so no neighbour of a macroblock has motion and none is predicted (H.264, 8.4.1.1).
struct SkippedPicture {
  var sequence: SequenceParameterSet
  var picture: PictureParameterSet
  /// `frame_num`.
  var frameNumber: Int
  /// `pic_order_cnt_lsb`, where the stream has it.
  var orderCountLSB: Int

  /// An access unit with start codes: a delimiter and a slice that is no reference.
  ///
  /// The delimiter keeps two of these apart, which may have equal slice headers (H.264, 7.4.1.2.4).
  var accessUnit: [UInt8] {
    let delimiter: [UInt8] = [0, 0, 0, 1, NALUnitType.accessUnitDelimiter.rawValue, 0x30]
    return delimiter + slice
  }

  private var slice: [UInt8] {
    var writer = PayloadBitWriter()
    writer.unsigned(0)  // first_mb_in_slice
    writer.unsigned(5)  // slice_type: P, like all slices of the picture
    writer.unsigned(picture.id)
    writer.bits(frameNumber, sequence.numbering.frameNumberBitCount)
    if case .explicit(let bitCount) = sequence.numbering.orderCount {
      writer.bits(orderCountLSB, bitCount)
      if picture.hasBottomFieldOrder { writer.signed(0) }  // delta_pic_order_cnt_bottom
    }
    if picture.hasRedundantPictures { writer.unsigned(0) }
    writer.flag(true)  // num_ref_idx_active_override_flag
    writer.unsigned(0)  // num_ref_idx_l0_active_minus1
    writer.flag(false)  // ref_pic_list_modification_flag_l0
    if picture.hasWeightedPrediction { writeUnitWeights(&writer) }
    if picture.hasArithmeticCoding { writer.unsigned(SkipRun.initialisation) }  // cabac_init_idc
    writer.signed(picture.hasArithmeticCoding ? SkipRun.quantiser - picture.initialQuantiser : 0)  // slice_qp_delta
    // Off where the stream allows the choice. Otherwise the filter is on, and leaves macroblocks alone that have no
    // residual, the same reference and no motion (bS = 0; H.264, 8.7.2.1).
    if picture.hasDeblockingControl { writer.unsigned(1) }  // disable_deblocking_filter_idc
    if picture.hasArithmeticCoding {
      writer.alignWithOnes()
      SkipRun.write(sequence.macroblockCount, to: &writer)
    } else {
      writer.unsigned(sequence.macroblockCount)  // mb_skip_run
      writer.flag(true)  // rbsp_stop_one_bit
    }
    return writer.nalUnit(header: NALUnitType.nonIDRSlice.rawValue)
  }

  /// A pred_weight_table() that leaves the prediction as it is.
  private func writeUnitWeights(_ writer: inout PayloadBitWriter) {
    let hasChroma = sequence.chromaFormatIDC != 0
    writer.unsigned(0)  // luma_log2_weight_denom
    if hasChroma { writer.unsigned(0) }  // chroma_log2_weight_denom
    writer.flag(false)  // luma_weight_l0_flag
    if hasChroma { writer.flag(false) }  // chroma_weight_l0_flag
  }
}

/// Arithmetic coding of skipped macroblocks alone (H.264, 9.3.4).
///
/// With the right context every decision but the last is the more probable one. These narrow the interval from above,
/// so its lower end stays 0: the code is a run of zeros, as long as the interval was doubled often, and then the end.
enum SkipRun {
  /// `cabac_init_idc` and slice quantiser for which skipping is most probable from the start: context 11 begins with
  /// m = 29, n = 16, thus in state ((29 × 51) >> 4) + 16 − 64 = 44, where skipping is the more probable value. No
  /// other context is used, as all neighbours are skipped or missing.
  static let initialisation = 2
  static let quantiser = 51

  /// Writes `mb_skip_flag` 1 and `end_of_slice_flag` for `count` macroblocks, stop bit included.
  static func write(_ count: Int, to writer: inout PayloadBitWriter) {
    var range = 510
    var state = 0
    for macroblock in 0..<count {
      range -= Int(lessProbableRanges[state][range >> 6 & 3])
      state = min(state + 1, lessProbableRanges.count - 1)
      double(&range, &writer)
      // end_of_slice_flag
      range -= 2
      if macroblock < count - 1 { double(&range, &writer) }
    }
    // The end of the interval's lower part in nine bits; the flush makes the last one 1, which is the stop bit.
    writer.bits(range | 1, 9)
  }

  private static func double(_ range: inout Int, _ writer: inout PayloadBitWriter) {
    while range < 256 {
      range <<= 1
      writer.flag(false)
    }
  }

  /// Table 9-44 from state 44 to the last one that decisions lead to, 62.
  static let lessProbableRanges: [[UInt8]] = [
    [14, 18, 21, 24], [14, 17, 20, 23], [13, 16, 19, 22], [12, 15, 18, 21], [12, 14, 17, 20], [11, 14, 16, 19],
    [11, 13, 15, 18], [10, 12, 15, 17], [10, 12, 14, 16], [9, 11, 13, 15], [9, 11, 12, 14], [8, 10, 12, 14],
    [8, 9, 11, 13], [7, 9, 11, 12], [7, 9, 10, 12], [7, 8, 10, 11], [6, 8, 9, 11], [6, 7, 9, 10], [6, 7, 8, 9],
  ]
}

/// Writes the syntax elements of a NAL unit's payload, the most significant bit first (H.264, 7.2 and 9.1).
struct PayloadBitWriter {
  private var bytes: [UInt8] = []
  private var bitCount = 0

  /// u(1).
  mutating func flag(_ value: Bool) {
    if bitCount % 8 == 0 { bytes.append(0) }
    if value { bytes[bytes.count - 1] |= 0x80 >> UInt8(bitCount % 8) }
    bitCount += 1
  }

  /// u(`count`).
  mutating func bits(_ value: Int, _ count: Int) {
    for shift in (0..<count).reversed() { flag(value >> shift & 1 == 1) }
  }

  /// ue(v) of a value that is not negative.
  mutating func unsigned(_ value: Int) {
    let code = value + 1
    let length = Int.bitWidth - code.leadingZeroBitCount
    bits(0, length - 1)
    bits(code, length)
  }

  /// se(v).
  mutating func signed(_ value: Int) {
    unsigned(value > 0 ? 2 * value - 1 : -2 * value)
  }

  /// Ones up to the next byte: cabac_alignment_one_bit.
  mutating func alignWithOnes() {
    while bitCount % 8 != 0 { flag(true) }
  }

  /// The NAL unit with start code and `header`, with emulation prevention bytes. The last bit written has to be the
  /// stop bit; zeros fill up its byte.
  func nalUnit(header: UInt8) -> [UInt8] {
    var unit: [UInt8] = [0, 0, 0, 1, header]
    var zeros = 0
    for byte in bytes {
      if zeros == 2, byte <= 3 {
        unit.append(3)
        zeros = 0
      }
      zeros = byte == 0 ? zeros + 1 : 0
      unit.append(byte)
    }
    return unit
  }
}
