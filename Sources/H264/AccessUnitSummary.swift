/// The properties of an access unit on which senders and receivers base decisions.
///
/// The scan stops at the first slice: parameter sets stand in front of the picture that they begin, and when one
/// slice of a picture is an IDR slice all are (H.264, 7.4.1.2.3 and 7.4.1.2.4). Of a large picture only the first
/// bytes are read.
public struct AccessUnitSummary: Equatable, Sendable {
  /// Nil when there is no NAL unit at all.
  public private(set) var firstNALUnit: NALUnitType?
  public private(set) var hasPictureParameterSet = false
  /// The picture is an IDR picture: decoding can start here.
  public private(set) var isKeyFrame = false
  /// There is a slice.
  public private(set) var hasPicture = false
  /// The first sequence parameter set, as offsets into the scanned bytes.
  public private(set) var sequenceParameterSet: Range<Int>?

  public var hasSequenceParameterSet: Bool { sequenceParameterSet != nil }

  /// Parameter sets of both kinds stand in front of the picture.
  public var hasParameterSets: Bool { hasSequenceParameterSet && hasPictureParameterSet }

  /// Scans one access unit up to its first slice.
  public init(scanning bytes: UnsafeRawBufferPointer, framing: NALUnitFraming = .startCodes) {
    var units = NALUnitCursor(bytes, framing: framing)
    while let type = units.advance() {
      if type.startsSlice {
        firstNALUnit = firstNALUnit ?? type
        hasPicture = true
        isKeyFrame = type == .idrSlice
        return
      }
      let range = units.range()
      if range.isEmpty { continue }
      firstNALUnit = firstNALUnit ?? type
      switch type {
      case .sequenceParameterSet: sequenceParameterSet = sequenceParameterSet ?? range
      case .pictureParameterSet: hasPictureParameterSet = true
      default: break
      }
    }
  }
}
