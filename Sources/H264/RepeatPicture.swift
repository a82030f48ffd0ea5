/// Makes an access unit of a few bytes that shows the last picture of a stream again, without an encoder.
///
/// Pass every access unit that is sent to ``observe(_:)``, in order, but not the repeats. When the stream pauses,
/// ``accessUnit()`` is a P picture in which all macroblocks are skipped. It is not a reference, so that `frame_num` and
/// picture order count of the pictures after it remain valid, and it may be sent any number of times.
///
/// Several repeats in a row violate the standard in three points that decoders accept: all have the same picture order
/// count (8.2.1), since only one fits between two pictures; with order count type 2, no two consecutive pictures may be
/// non-reference pictures (7.4.2.1.1); and the timing messages that the stream may have announced are missing.
package struct RepeatPicture: Sendable {
  /// Enough for a slice header with weights for 32 references.
  private static let maximumHeaderByteCount = 256
  /// Baseline, Main and High: frames of 8-bit 4:2:0 or monochrome.
  private static let profiles: Set<UInt8> = [66, 77, 100]

  private var sequences = ParameterSetStore<SequenceParameterSet>()
  private var pictures = ParameterSetStore<PictureParameterSet>()
  private var reader = PayloadBitReader()
  /// Nil before the first key frame, and after anything that is not supported.
  private var position: StreamPosition?
  /// Nil when the last picture can't be repeated.
  private var skipped: SkippedPicture?

  package init() {}

  /// Reads an access unit up to the first slice's header. Allocates nothing unless a parameter set is new.
  ///
  /// An access unit in several blocks is observed block by block, until the result is true: the first slice was found.
  @discardableResult
  package mutating func observe(
    _ accessUnit: UnsafeRawBufferPointer, framing: NALUnitFraming = .startCodes
  ) -> Bool {
    var units = NALUnitCursor(accessUnit, framing: framing)
    while let type = units.advance() {
      if type.startsSlice {
        let slice = units.rest
        observeSlice(slice, endsSequence: framing == .startCodes ? Self.endsSequence(slice) : Self.endsSequence(&units))
        return true
      }
      let range = units.range()
      if !range.isEmpty { observe(type, UnsafeRawBufferPointer(rebasing: accessUnit[range])) }
    }
    return false
  }

  /// An access unit that shows the last picture again; nil when none can be made.
  ///
  /// Nil for interlaced streams, for those whose decoding order is or may be different from the output order, while the
  /// last picture is not a reference, and after anything that is not supported up to the next key frame.
  package func accessUnit() -> [UInt8]? {
    skipped?.accessUnit
  }

  private mutating func observe(_ type: NALUnitType, _ nalUnit: UnsafeRawBufferPointer) {
    switch type {
    case .sequenceParameterSet:
      let isNew = sequences.update(nalUnit, id: \.id) { bytes throws(SequenceParameterSet.Malformed) in
        try SequenceParameterSet(nalUnit: bytes)
      }
      if isNew { forget() }
    case .pictureParameterSet:
      _ = pictures.update(nalUnit, id: \.id) { bytes throws(SequenceParameterSet.Malformed) in
        try PictureParameterSet(nalUnit: bytes)
      }
    case .accessUnitDelimiter, .supplementalEnhancementInformation, .fillerData: break
    // Ends of sequences, and layers and views, whose pictures refer to each other in other ways.
    default: forget()
    }
  }

  private mutating func forget() {
    position = nil
    skipped = nil
  }

  /// `rest` is the slice and the rest of the access unit.
  private mutating func observeSlice(_ rest: UnsafeRawBufferPointer, endsSequence: Bool) {
    skipped = nil
    do throws(SequenceParameterSet.Malformed) {
      try place(rest)
    } catch {
      forget()
    }
    if endsSequence { forget() }
  }

  private mutating func place(_ rest: UnsafeRawBufferPointer) throws(SequenceParameterSet.Malformed) {
    let header = rest[0]
    let type = NALUnitType(header: header)
    guard header & 0x80 == 0, type != .dataPartitionA else { throw .outOfRange("nal_unit_type") }
    let payload = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
    reader.restart(payload: payload, maximumByteCount: Self.maximumHeaderByteCount)
    _ = try reader.unsigned("first_mb_in_slice", in: 0...0)
    let sliceType = try SliceType(from: &reader)
    let pictureID = try reader.unsigned("pic_parameter_set_id", in: 0...255)
    guard let picture = pictures[pictureID], let sequence = sequences[picture.sequenceParameterSetID] else {
      throw .outOfRange("pic_parameter_set_id")
    }
    guard Self.isSupported(sequence, picture) else { throw .outOfRange("profile_idc") }
    let slice = try SliceHeader(
      from: &reader, sequence: sequence, picture: picture, type: sliceType, header: header)
    if type == .idrSlice {
      position = StreamPosition(keyFrame: slice, of: sequence, after: position)
    } else {
      guard position?.sequenceID == sequence.id else { throw .outOfRange("seq_parameter_set_id") }
      try position?.advance(to: slice, isReference: header & 0x60 != 0)
    }
    guard let position, position.hasRoomForRepeat, slice.isShortTermReference else { return }
    skipped = SkippedPicture(
      sequence: sequence, picture: picture, frameNumber: position.nextFrameNumber,
      orderCountLSB: position.nextOrderCountLSB)
  }

  private static func isSupported(_ sequence: SequenceParameterSet, _ picture: PictureParameterSet) -> Bool {
    guard
      profiles.contains(sequence.profileIDC), sequence.frameMBSOnly, !sequence.hasSeparatePlanes,
      sequence.bitDepthLuma == 8, sequence.bitDepthChroma == 8, sequence.maximumReferenceFrames > 0
    else { return false }
    switch sequence.numbering.orderCount {
    case .implicit: return true
    case .cyclic: return false
    case .explicit: break
    }
    // A stream that does not say may reorder as it likes, but in Baseline there are no B slices to do it for.
    let baseline: UInt8 = 66
    return sequence.numReorderFrames.map { $0 == 0 } ?? (sequence.profileIDC == baseline)
  }

  /// Whether an end of sequence or stream follows the present NAL unit, which is cheap to see where there are
  /// lengths.
  private static func endsSequence(_ units: inout NALUnitCursor) -> Bool {
    while let type = units.advance() {
      if type == .endOfSequence || type == .endOfStream { return true }
    }
    return false
  }

  /// Whether an end of sequence or stream is the last NAL unit: only a key frame may follow.
  private static func endsSequence(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var end = bytes.count
    while end > 0, bytes[end - 1] == 0 { end -= 1 }
    guard end >= 4, bytes[end - 4] == 0, bytes[end - 3] == 0, bytes[end - 2] == 1 else { return false }
    let type = NALUnitType(header: bytes[end - 1])
    return type == .endOfSequence || type == .endOfStream
  }
}

/// The numbers of the last picture of a stream, in decoding order and in output order (H.264, 7.4.3 and 8.2.1).
struct StreamPosition: Sendable {
  let sequenceID: Int
  private let numbering: PictureNumbering
  /// `PrevRefFrameNum`.
  private var frameNumber = 0
  /// The picture order count of the last picture and of the last reference picture.
  private var orderCount: Int
  private var referenceOrderCount: Int
  /// So far there was an unused order count between any two pictures, and output order was decoding order.
  private(set) var hasRoomForRepeat: Bool

  /// Creates the position of an IDR picture. `hasRoomForRepeat` is kept if the sequence is the same as before.
  init(keyFrame slice: SliceHeader, of sequence: SequenceParameterSet, after previous: StreamPosition?) {
    sequenceID = sequence.id
    numbering = sequence.numbering
    orderCount = slice.orderCountLSB
    if case .explicit(let bitCount) = numbering.orderCount, orderCount > 1 << (bitCount - 1) {
      orderCount -= 1 << bitCount
    }
    referenceOrderCount = orderCount
    hasRoomForRepeat = previous?.sequenceID == sequenceID ? previous?.hasRoomForRepeat ?? true : true
  }

  /// `frame_num` of the picture after the last reference picture.
  var nextFrameNumber: Int {
    (frameNumber + 1) % (1 << numbering.frameNumberBitCount)
  }

  /// The `pic_order_cnt_lsb` that follows the last picture's. It is usually unused, since frames count two fields.
  var nextOrderCountLSB: Int {
    guard case .explicit(let bitCount) = numbering.orderCount else { return 0 }
    return (orderCount + 1) & ((1 << bitCount) - 1)
  }

  /// Advances to a picture that is not an IDR picture.
  /// - Throws: When pictures before it are missing.
  mutating func advance(to slice: SliceHeader, isReference: Bool) throws(SequenceParameterSet.Malformed) {
    guard slice.frameNumber == nextFrameNumber else { throw .outOfRange("frame_num") }
    if isReference { frameNumber = slice.frameNumber }
    guard case .explicit(let bitCount) = numbering.orderCount else { return }
    let modulus = 1 << bitCount
    // The value with these low bits that is nearest to the last reference picture's; of two, the upper (8-3).
    var next = referenceOrderCount - (referenceOrderCount & (modulus - 1)) + slice.orderCountLSB
    if next <= referenceOrderCount - modulus / 2 {
      next += modulus
    } else if next > referenceOrderCount + modulus / 2 {
      next -= modulus
    }
    if next - orderCount < 2 || slice.isBidirectional { hasRoomForRepeat = false }
    orderCount = next
    if isReference { referenceOrderCount = next }
  }
}
