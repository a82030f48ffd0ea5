/// The part of a sequence parameter set that defines how pictures are numbered, in decoding order and in output order.
struct PictureNumbering: Equatable, Sendable {
  enum OrderCount: Equatable, Sendable {
    /// Type 0: each slice header carries the low bits, this many.
    case explicit(bitCount: Int)
    /// Type 1: differences to a cycle in the parameter set.
    case cyclic
    /// Type 2: output order is decoding order.
    case implicit
  }

  /// The length of `frame_num`, 4…16.
  let frameNumberBitCount: Int
  let orderCount: OrderCount

  /// Reads from `log2_max_frame_num_minus4` to the end of the picture order count.
  init(from reader: inout PayloadBitReader) throws(SequenceParameterSet.Malformed) {
    frameNumberBitCount = try reader.unsigned("log2_max_frame_num_minus4", in: 0...12) + 4
    switch try reader.unsigned("pic_order_cnt_type", in: 0...2) {
    case 0:
      orderCount = .explicit(bitCount: try reader.unsigned("log2_max_pic_order_cnt_lsb_minus4", in: 0...12) + 4)
    case 1:
      orderCount = .cyclic
      _ = try reader.flag()  // delta_pic_order_always_zero_flag
      _ = try reader.signed("offset_for_non_ref_pic")
      _ = try reader.signed("offset_for_top_to_bottom_field")
      for _ in 0..<(try reader.unsigned("num_ref_frames_in_pic_order_cnt_cycle", in: 0...255)) {
        _ = try reader.signed("offset_for_ref_frame")
      }
    default:
      orderCount = .implicit
    }
  }
}
