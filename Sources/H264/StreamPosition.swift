/// The numbers of the last picture of a stream, in decoding order and in output order (H.264, 7.4.3 and 8.2.1).
struct StreamPosition: Sendable {
  let sequenceID: Int
  private let numbering: PictureNumbering
  /// `PrevRefFrameNum`.
  private var frameNumber = 0
  /// The picture order count of the last picture and of the last reference picture.
  private var orderCount: Int
  private var referenceOrderCount: Int
  /// So far there was an unused order count between any two pictures, and no picture is shown before an earlier one.
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
