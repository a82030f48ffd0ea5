/// A sequence parameter set: the size of the pictures, and what a decoder must support (H.264, 7.3.2.1.1).
public struct SequenceParameterSet: Equatable, Sendable {
  /// Why bytes are not a sequence parameter set.
  public enum Malformed: Error, Equatable, Sendable {
    case notSequenceParameterSet
    case truncated
    /// The syntax element of this name has a value that the standard forbids or that no decoder takes.
    case outOfRange(String)
  }

  public let profileIDC: UInt8
  /// `constraint_set0_flag` in the most significant bit, and so on; the low two bits are 0.
  public let constraintFlags: UInt8
  /// Ten times the level: 31 is level 3.1.
  public let levelIDC: UInt8
  /// `seq_parameter_set_id`, 0…31.
  public let id: Int
  /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
  public let chromaFormatIDC: Int
  /// Bits per luma sample, 8…14.
  public let bitDepthLuma: Int
  /// Bits per chroma sample, 8…14.
  public let bitDepthChroma: Int
  /// `max_num_ref_frames`, 0…16.
  public let maximumReferenceFrames: Int
  /// No fields, no interlaced frames.
  public let frameMBSOnly: Bool
  /// Displayed width in pixels, after cropping.
  public let width: Int
  /// Displayed height in pixels, after cropping.
  public let height: Int
  /// Macroblocks of a whole frame.
  let macroblockCount: Int
  /// Each colour component is coded like a picture of its own.
  let hasSeparatePlanes: Bool
  let numbering: PictureNumbering
  let usability: VideoUsability?

  /// The most pictures that precede another in decoding and follow it in output (0 when there are no B frames); nil
  /// when the stream does not say.
  public var numReorderFrames: Int? { usability?.numReorderFrames }
  /// Nil when the stream has none, or an impossible one.
  public var frameRate: FrameRate? { usability?.frameRate }
  /// Samples use 0…255 rather than 16…235; nil when the stream does not say, which means false.
  public var videoFullRange: Bool? { usability?.videoFullRange }
  /// A code point of ITU-T H.273 (1 BT.709, 5 and 6 BT.601); nil when the stream does not say.
  public var colourPrimaries: UInt8? { usability?.colourPrimaries }
  /// A code point of ITU-T H.273; nil when the stream does not say.
  public var transferCharacteristics: UInt8? { usability?.transferCharacteristics }
  /// A code point of ITU-T H.273; nil when the stream does not say.
  public var matrixCoefficients: UInt8? { usability?.matrixCoefficients }

  /// Larger than any valid parameter set; bounds the work for a hostile one.
  private static let maximumByteCount = 8192
  /// Enough for 16384 pixels, more than level 6.2 allows.
  private static let maximumMacroblocks = 1024
  private static let profilesWithChromaFormat: Set<UInt8> = [
    44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244,
  ]

  /// Reads a NAL unit, from its header byte, without start code; emulation prevention bytes are still in.
  public init(nalUnit: some Collection<UInt8>) throws(Malformed) {
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
