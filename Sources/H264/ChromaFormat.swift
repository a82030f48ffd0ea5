/// The part of a sequence parameter set that only the high profiles have.
struct ChromaFormat {
  var idc = 1
  var hasSeparatePlanes = false
  var bitDepthLuma = 8
  var bitDepthChroma = 8

  /// Luma samples per chroma sample in a row; 1 when planes are coded on their own or there is no chroma.
  var horizontalSubsampling: Int { !hasSeparatePlanes && (idc == 1 || idc == 2) ? 2 : 1 }
  /// Luma samples per chroma sample in a column.
  var verticalSubsampling: Int { !hasSeparatePlanes && idc == 1 ? 2 : 1 }

  /// Reads from `chroma_format_idc` to the scaling lists; 8-bit 4:2:0 when the profile has none of it.
  init(from reader: inout PayloadBitReader, isPresent: Bool) throws(SequenceParameterSet.Malformed) {
    guard isPresent else { return }
    idc = try reader.unsigned("chroma_format_idc", in: 0...3)
    if idc == 3 { hasSeparatePlanes = try reader.flag() }
    bitDepthLuma = try reader.unsigned("bit_depth_luma_minus8", in: 0...6) + 8
    bitDepthChroma = try reader.unsigned("bit_depth_chroma_minus8", in: 0...6) + 8
    _ = try reader.flag()  // qpprime_y_zero_transform_bypass_flag
    guard try reader.flag() else { return }
    for index in 0..<(idc == 3 ? 12 : 8) where try reader.flag() {
      try Self.skipScalingList(&reader, size: index < 6 ? 16 : 64)
    }
  }

  private static func skipScalingList(
    _ reader: inout PayloadBitReader, size: Int
  ) throws(SequenceParameterSet.Malformed) {
    var last = 8
    for _ in 0..<size {
      let next = (last + (try reader.signed("delta_scale", in: -128...127)) + 256) % 256
      // Zero ends the list: the last value counts for the rest.
      if next == 0 { return }
      last = next
    }
  }
}
