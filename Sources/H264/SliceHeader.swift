/// The part of a slice header that places its picture in the stream (H.264, 7.3.3).
///
/// Only frames, no fields. Values that the standard allows but ``RepeatPicture`` does not support are out of range.
struct SliceHeader {
  /// `frame_num`.
  let frameNumber: Int
  /// `pic_order_cnt_lsb`; 0 with an order count of another type.
  let orderCountLSB: Int
  let isBidirectional: Bool
  /// The picture becomes a short-term reference, and so the first reference of the next picture.
  let isShortTermReference: Bool

  /// Reads a slice header from `frame_num` on.
  ///
  /// - Parameters:
  ///   - header: the NAL unit's first byte.
  ///   - type: of the slice, which stands before `frame_num`.
  init(
    from reader: inout PayloadBitReader, sequence: SequenceParameterSet, picture: PictureParameterSet,
    type: SliceType, header: UInt8
  ) throws(SequenceParameterSet.Malformed) {
    let isIDR = NALUnitType(header: header) == .idrSlice
    let isReference = header & 0x60 != 0
    isBidirectional = type == .bidirectional
    frameNumber = Int(try reader.bits(sequence.numbering.frameNumberBitCount))
    if isIDR {
      guard isReference, frameNumber == 0 else { throw .outOfRange("frame_num") }
      _ = try reader.unsigned("idr_pic_id", in: 0...65535)
    }
    if case .explicit(let bitCount) = sequence.numbering.orderCount {
      orderCountLSB = Int(try reader.bits(bitCount))
      if picture.hasBottomFieldOrder { _ = try reader.signed("delta_pic_order_cnt_bottom", in: 0...0) }
    } else {
      orderCountLSB = 0
    }
    if picture.hasRedundantPictures { _ = try reader.unsigned("redundant_pic_cnt", in: 0...0) }
    // The rest differs in B slices, which are never repeated.
    guard isReference, !isBidirectional else {
      isShortTermReference = false
      return
    }
    if type == .predicted {
      let hasOverride = try reader.flag()
      let references =
        hasOverride
        ? try reader.unsigned("num_ref_idx_l0_active_minus1", in: 0...31) + 1 : picture.defaultReferenceCount
      try Self.skipReferenceListModification(&reader)
      if picture.hasWeightedPrediction {
        try Self.skipWeights(&reader, references: references, hasChroma: sequence.chromaFormatIDC != 0)
      }
    }
    isShortTermReference = try Self.marksShortTerm(&reader, isIDR: isIDR)
  }

  private static func skipReferenceListModification(
    _ reader: inout PayloadBitReader
  ) throws(SequenceParameterSet.Malformed) {
    guard try reader.flag() else { return }
    while try reader.unsigned("modification_of_pic_nums_idc", in: 0...3) != 3 {
      _ = try reader.unsigned("abs_diff_pic_num_minus1")
    }
  }

  /// Skips pred_weight_table() of a P slice.
  private static func skipWeights(
    _ reader: inout PayloadBitReader, references: Int, hasChroma: Bool
  ) throws(SequenceParameterSet.Malformed) {
    _ = try reader.unsigned("luma_log2_weight_denom", in: 0...7)
    if hasChroma { _ = try reader.unsigned("chroma_log2_weight_denom", in: 0...7) }
    for _ in 0..<references {
      if try reader.flag() {
        for _ in 0..<2 { _ = try reader.signed("luma_weight_l0", in: -128...127) }
      }
      if hasChroma, try reader.flag() {
        for _ in 0..<4 { _ = try reader.signed("chroma_weight_l0", in: -128...127) }
      }
    }
  }

  /// Reads dec_ref_pic_marking(): whether the picture itself becomes a short-term reference.
  private static func marksShortTerm(
    _ reader: inout PayloadBitReader, isIDR: Bool
  ) throws(SequenceParameterSet.Malformed) -> Bool {
    if isIDR {
      _ = try reader.flag()  // no_output_of_prior_pics_flag
      return try !reader.flag()  // long_term_reference_flag
    }
    guard try reader.flag() else { return true }
    var isShortTerm = true
    while true {
      switch try reader.unsigned("memory_management_control_operation", in: 0...6) {
      case 0: return isShortTerm
      case 1, 2, 4: _ = try reader.unsigned("memory_management_control_operation operand")
      case 3:
        _ = try reader.unsigned("difference_of_pic_nums_minus1")
        _ = try reader.unsigned("long_term_frame_idx")
      case 6:
        _ = try reader.unsigned("long_term_frame_idx")
        isShortTerm = false
      // Operation 5 resets all numbers in the middle of a sequence.
      default: throw .outOfRange("memory_management_control_operation")
      }
    }
  }
}

/// `slice_type` (H.264, table 7-6), without the switching slices of the extended profile.
enum SliceType {
  case predicted
  case bidirectional
  case intra

  init(from reader: inout PayloadBitReader) throws(SequenceParameterSet.Malformed) {
    switch try reader.unsigned("slice_type", in: 0...9) % 5 {
    case 0: self = .predicted
    case 1: self = .bidirectional
    case 2: self = .intra
    default: throw .outOfRange("slice_type")
    }
  }
}
