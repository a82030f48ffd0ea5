/// A sequence parameter set: the size of the pictures, and what a decoder must support (H.264, 7.3.2.1.1).
package struct SequenceParameterSet: Equatable, Sendable {
  package enum Malformed: Error, Equatable, Sendable {
    case notSequenceParameterSet
    case truncated
    /// The syntax element of this name has a value that the standard forbids or that no decoder takes.
    case outOfRange(String)
  }

  package let profileIDC: UInt8
  /// `constraint_set0_flag` in the most significant bit, and so on; the low two bits are 0.
  package let constraintFlags: UInt8
  /// Ten times the level: 31 is level 3.1.
  package let levelIDC: UInt8
  /// `seq_parameter_set_id`, 0…31.
  package let id: Int
  /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
  package let chromaFormatIDC: Int
  /// Bits per luma sample, 8…14.
  package let bitDepthLuma: Int
  /// Bits per chroma sample, 8…14.
  package let bitDepthChroma: Int
  /// `max_num_ref_frames`, 0…16.
  package let maximumReferenceFrames: Int
  /// No fields, no interlaced frames.
  package let frameMBSOnly: Bool
  /// Displayed width in pixels, after cropping.
  package let width: Int
  /// Displayed height in pixels, after cropping.
  package let height: Int
  /// Macroblocks of a whole frame.
  let macroblockCount: Int
  /// Each colour component is coded like a picture of its own.
  let hasSeparatePlanes: Bool
  let numbering: PictureNumbering
  let usability: VideoUsability?

  /// The most pictures that precede another in decoding and follow it in output (0 when there are no B frames); nil
  /// when the stream does not say.
  package var numReorderFrames: Int? { usability?.numReorderFrames }
  /// Nil when the stream has none, or an impossible one.
  package var frameRate: FrameRate? { usability?.frameRate }
  /// Nil when the stream does not say.
  package var sampleAspectRatio: SampleAspectRatio? { usability?.sampleAspectRatio }
  /// Samples use 0…255 rather than 16…235; nil when the stream does not say, which means false.
  package var videoFullRange: Bool? { usability?.videoFullRange }
  /// A code point of ITU-T H.273 (1 BT.709, 5 and 6 BT.601); nil when the stream does not say.
  package var colourPrimaries: UInt8? { usability?.colourPrimaries }
  /// A code point of ITU-T H.273; nil when the stream does not say.
  package var transferCharacteristics: UInt8? { usability?.transferCharacteristics }
  /// A code point of ITU-T H.273; nil when the stream does not say.
  package var matrixCoefficients: UInt8? { usability?.matrixCoefficients }

  /// Larger than any valid parameter set; bounds the work for a hostile one.
  private static let maximumByteCount = 8192
  /// Enough for a side of 16384 pixels, more than level 6.2 allows.
  private static let maximumMacroblocks = 1024
  private static let profilesWithChromaFormat: Set<UInt8> = [
    44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244,
  ]

  /// Reads a NAL unit, from its header byte, without start code; emulation prevention bytes are still in.
  package init(nalUnit: some Collection<UInt8>) throws(Malformed) {
    guard let header = nalUnit.first else { throw .truncated }
    guard header & 0x80 == 0, NALUnitType(header: header) == .sequenceParameterSet else {
      throw .notSequenceParameterSet
    }
    var reader = PayloadBitReader(payload: nalUnit.dropFirst(), maximumByteCount: Self.maximumByteCount)
    profileIDC = try reader.byte()
    constraintFlags = try reader.byte() & 0xFC
    levelIDC = try reader.byte()
    id = try reader.unsigned("seq_parameter_set_id", in: 0...31)
    let format = try ChromaFormat(from: &reader, isPresent: Self.profilesWithChromaFormat.contains(profileIDC))
    chromaFormatIDC = format.idc
    bitDepthLuma = format.bitDepthLuma
    bitDepthChroma = format.bitDepthChroma
    hasSeparatePlanes = format.hasSeparatePlanes
    numbering = try PictureNumbering(from: &reader)
    maximumReferenceFrames = try reader.unsigned("max_num_ref_frames", in: 0...16)
    _ = try reader.flag()  // gaps_in_frame_num_value_allowed_flag
    let widthInMBs = try reader.unsigned("pic_width_in_mbs_minus1", in: 0...Self.maximumMacroblocks - 1) + 1
    let heightInMapUnits =
      try reader.unsigned("pic_height_in_map_units_minus1", in: 0...Self.maximumMacroblocks - 1) + 1
    frameMBSOnly = try reader.flag()
    if !frameMBSOnly { _ = try reader.flag() }  // mb_adaptive_frame_field_flag
    _ = try reader.flag()  // direct_8x8_inference_flag

    // A map unit is a macroblock of a frame, or a pair of them when there are fields.
    let fieldFactor = frameMBSOnly ? 1 : 2
    macroblockCount = widthInMBs * heightInMapUnits * fieldFactor
    let codedWidth = widthInMBs * 16
    let codedHeight = heightInMapUnits * 16 * fieldFactor
    var (croppedWidth, croppedHeight) = (0, 0)
    if try reader.flag() {
      let unitX = format.horizontalSubsampling
      let unitY = format.verticalSubsampling * fieldFactor
      for name in ["frame_crop_left_offset", "frame_crop_right_offset"] {
        croppedWidth += try reader.unsigned(name, in: 0...codedWidth) * unitX
      }
      for name in ["frame_crop_top_offset", "frame_crop_bottom_offset"] {
        croppedHeight += try reader.unsigned(name, in: 0...codedHeight) * unitY
      }
    }
    guard croppedWidth < codedWidth else { throw .outOfRange("frame_crop_right_offset") }
    guard croppedHeight < codedHeight else { throw .outOfRange("frame_crop_bottom_offset") }
    width = codedWidth - croppedWidth
    height = codedHeight - croppedHeight
    usability = try reader.flag() ? try VideoUsability(from: &reader) : nil
  }
}

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

/// What a decoder must support to show a stream, as its sequence parameter set says (H.264, Annex A).
extension SequenceParameterSet {
  /// The profile by the name that GStreamer's caps have for it.
  package var profileName: String {
    let isIntra = constraintFlags & 0x10 != 0
    switch profileIDC {
    case 44: return "cavlc-4:4:4-intra"
    case 66: return constraintFlags & 0x40 != 0 ? "constrained-baseline" : "baseline"
    case 77: return "main"
    case 83: return "scalable-baseline"
    case 86: return "scalable-high"
    case 88: return "extended"
    case 100:
      // constraint_set4_flag and constraint_set5_flag.
      return constraintFlags & 0x08 == 0
        ? "high" : constraintFlags & 0x04 == 0 ? "progressive-high" : "constrained-high"
    case 110: return isIntra ? "high-10-intra" : "high-10"
    case 118: return "multiview-high"
    case 122: return isIntra ? "high-4:2:2-intra" : "high-4:2:2"
    case 128: return "stereo-high"
    case 244: return isIntra ? "high-4:4:4-intra" : "high-4:4:4"
    default: return "\(profileIDC)"
    }
  }

  /// Whether it is Baseline, Main or High: 8 bits, 4:2:0. Decoders of head units support no other profiles.
  package var isCommonProfile: Bool {
    let profiles: [UInt8] = [66, 77, 100]
    return profiles.contains(profileIDC) && chromaFormatIDC <= 1 && bitDepthLuma == 8 && bitDepthChroma == 8
  }
}
