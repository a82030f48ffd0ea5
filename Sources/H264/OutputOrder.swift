/// The place of each picture of a stream in output order (H.264, 8.2.1).
///
/// Pass every access unit to ``observe(_:)``, in the order in which they come.
package struct OutputOrder: Sendable {
  package enum Place: Equatable, Sendable {
    /// The stream shows its pictures in the order in which they come.
    case inOrder
    /// The first picture of a sequence (IDR); all before it are shown before it.
    /// - `count`: its picture order count.
    /// - `reordering`: how many pictures may come before another and be shown after it; nil when the stream does not
    ///   say.
    case first(count: Int, reordering: Int?)
    /// A further picture of the sequence, with its picture order count: pictures are shown in the order of these.
    case further(count: Int)
    /// Fields, order counts of type 1, missing parameter sets, …: the place is unknown up to the next key frame.
    case unknown
  }

  /// Enough for the part of a slice header that is read.
  private static let maximumHeaderByteCount = 64

  /// `PicOrderCntMsb` and `pic_order_cnt_lsb` of the last reference picture.
  private struct Reference: Sendable {
    var high: Int
    var low: Int
  }

  private var sequences = ParameterSetStore<SequenceParameterSet>()
  private var pictures = ParameterSetStore<PictureParameterSet>()
  private var reader = PayloadBitReader()
  /// Nil before the first key frame, and after anything that is not supported.
  private var reference: Reference?

  package init() {}

  /// Reads an access unit in Annex B form up to the first slice's header.
  package mutating func observe(_ accessUnit: UnsafeRawBufferPointer) -> Place {
    var unitStart = StartCode.end(ofNextIn: accessUnit, from: 0)
    while let start = unitStart, start < accessUnit.count {
      let type = NALUnitType(header: accessUnit[start])
      if type.startsSlice {
        do throws(SequenceParameterSet.Malformed) {
          return try place(UnsafeRawBufferPointer(rebasing: accessUnit[start...]), isIDR: type == .idrSlice)
        } catch {
          reference = nil
          return .unknown
        }
      }
      unitStart = StartCode.end(ofNextIn: accessUnit, from: start)
      let range = StartCode.unitRange(in: accessUnit, from: start, nextStart: unitStart)
      if !range.isEmpty { keep(type, UnsafeRawBufferPointer(rebasing: accessUnit[range])) }
    }
    return .unknown
  }

  private mutating func keep(_ type: NALUnitType, _ nalUnit: UnsafeRawBufferPointer) {
    switch type {
    case .sequenceParameterSet:
      _ = sequences.update(nalUnit, id: \.id) { bytes throws(SequenceParameterSet.Malformed) in
        try SequenceParameterSet(nalUnit: bytes)
      }
    case .pictureParameterSet:
      _ = pictures.update(nalUnit, id: \.id) { bytes throws(SequenceParameterSet.Malformed) in
        try PictureParameterSet(nalUnit: bytes)
      }
    default: break
    }
  }

  private mutating func place(
    _ slice: UnsafeRawBufferPointer, isIDR: Bool
  ) throws(SequenceParameterSet.Malformed) -> Place {
    let header = slice[0]
    reader.restart(
      payload: UnsafeRawBufferPointer(rebasing: slice.dropFirst()), maximumByteCount: Self.maximumHeaderByteCount)
    _ = try reader.unsigned("first_mb_in_slice", in: 0...0)
    _ = try SliceType(from: &reader)
    let pictureID = try reader.unsigned("pic_parameter_set_id", in: 0...255)
    guard let picture = pictures[pictureID], let sequence = sequences[picture.sequenceParameterSetID] else {
      throw .outOfRange("pic_parameter_set_id")
    }
    if sequence.showsInDecodingOrder { return .inOrder }
    guard case .explicit(let bitCount) = sequence.numbering.orderCount, sequence.frameMBSOnly else {
      throw .outOfRange("pic_order_cnt_type")
    }
    if sequence.hasSeparatePlanes { _ = try reader.bits(2) }  // colour_plane_id
    _ = try reader.bits(sequence.numbering.frameNumberBitCount)
    if isIDR { _ = try reader.unsigned("idr_pic_id", in: 0...65535) }
    let low = Int(try reader.bits(bitCount))
    let former = isIDR ? Reference(high: 0, low: 0) : reference
    guard let former else { return .unknown }
    let high = Self.high(of: low, after: former, modulus: 1 << bitCount)
    let isReference = header & 0x60 != 0
    if isReference { reference = Reference(high: high, low: low) }
    return isIDR ? .first(count: low, reordering: sequence.numReorderFrames) : .further(count: high + low)
  }

  /// 8-3: that of the count that is nearest to the last reference picture's.
  private static func high(of low: Int, after former: Reference, modulus: Int) -> Int {
    if low < former.low, former.low - low >= modulus / 2 { return former.high + modulus }
    if low > former.low, low - former.low > modulus / 2 { return former.high - modulus }
    return former.high
  }
}

extension SequenceParameterSet {
  /// Whether no picture is shown before one that comes earlier. Baseline has no B slices.
  fileprivate var showsInDecodingOrder: Bool {
    numbering.orderCount == .implicit || numReorderFrames == 0 || profileIDC == 66
  }
}
