/// What a decoder must support to show a stream, as its sequence parameter set says (H.264, Annex A).
extension SequenceParameterSet {
  /// The profile by the name that GStreamer's caps have for it.
  public var profileName: String {
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
  public var isCommonProfile: Bool {
    let profiles: [UInt8] = [66, 77, 100]
    return profiles.contains(profileIDC) && chromaFormatIDC <= 1 && bitDepthLuma == 8 && bitDepthChroma == 8
  }
}
