/// The properties of an access unit on which senders and receivers base decisions.
///
/// The scan stops at the first slice: parameter sets stand in front of the picture that they begin, and when one
/// slice of a picture is an IDR slice all are (H.264, 7.4.1.2.3 and 7.4.1.2.4). Encoders make all slices of a picture I
/// slices, or none. Of a large picture only the first bytes are read.
package struct AccessUnitSummary: Equatable, Sendable {
  /// Nil when there is no NAL unit at all.
  package private(set) var firstNALUnit: NALUnitType?
  package private(set) var hasPictureParameterSet = false
  /// How decoding can begin here; nil if it can't.
  package private(set) var randomAccess: RandomAccess?
  package private(set) var hasPicture = false
  /// The first sequence parameter set, as offsets into the scanned bytes.
  package private(set) var sequenceParameterSet: Range<Int>?

  /// Decoding can begin here.
  package var isKeyFrame: Bool { randomAccess != nil }

  package var hasSequenceParameterSet: Bool { sequenceParameterSet != nil }

  /// Parameter sets of both kinds stand in front of the picture.
  package var hasParameterSets: Bool { hasSequenceParameterSet && hasPictureParameterSet }

  /// Scans one access unit up to its first slice.
  package init(scanning bytes: UnsafeRawBufferPointer, framing: NALUnitFraming = .startCodes) {
    var units = NALUnitCursor(bytes, framing: framing)
    while let type = units.advance() {
      if type.startsSlice {
        firstNALUnit = firstNALUnit ?? type
        hasPicture = true
        if type == .idrSlice {
          randomAccess = .instantaneousRefresh
        } else if randomAccess == nil, hasParameterSets,
          units.rest.dropFirst().first.map(RandomAccess.beginsIntraPicture) ?? false
        {
          randomAccess = .intraPicture
        }
        return
      }
      let range = units.range()
      if range.isEmpty { continue }
      firstNALUnit = firstNALUnit ?? type
      switch type {
      case .sequenceParameterSet: sequenceParameterSet = sequenceParameterSet ?? range
      case .pictureParameterSet: hasPictureParameterSet = true
      case .supplementalEnhancementInformation:
        randomAccess = randomAccess ?? RandomAccess(recoveryPointIn: bytes[range])
      default: break
      }
    }
  }
}
