/// The part of a picture parameter set that slice headers depend on (H.264, 7.3.2.2).
struct PictureParameterSet: Equatable, Sendable {
  let id: Int
  let sequenceParameterSetID: Int
  /// CABAC; else CAVLC.
  let hasArithmeticCoding: Bool
  /// `bottom_field_pic_order_in_frame_present_flag`.
  let hasBottomFieldOrder: Bool
  /// `num_ref_idx_l0_default_active_minus1` + 1.
  let defaultReferenceCount: Int
  /// P slices have a table of prediction weights.
  let hasWeightedPrediction: Bool
  /// The luma quantiser that slice headers give a difference to.
  let initialQuantiser: Int
  let hasDeblockingControl: Bool
  let hasRedundantPictures: Bool

  /// Reads a NAL unit, from its header byte, as far as slice headers depend on it. Slice groups are out of range.
  init(nalUnit: some Collection<UInt8>) throws(SequenceParameterSet.Malformed) {
    // The part that is read is shorter.
    var reader = PayloadBitReader(payload: nalUnit.dropFirst(), maximumByteCount: 64)
    id = try reader.unsigned("pic_parameter_set_id", in: 0...255)
    sequenceParameterSetID = try reader.unsigned("seq_parameter_set_id", in: 0...31)
    hasArithmeticCoding = try reader.flag()
    hasBottomFieldOrder = try reader.flag()
    _ = try reader.unsigned("num_slice_groups_minus1", in: 0...0)
    defaultReferenceCount = try reader.unsigned("num_ref_idx_l0_default_active_minus1", in: 0...31) + 1
    _ = try reader.unsigned("num_ref_idx_l1_default_active_minus1", in: 0...31)
    hasWeightedPrediction = try reader.flag()
    _ = try reader.bits(2)  // weighted_bipred_idc
    initialQuantiser = try reader.signed("pic_init_qp_minus26", in: -26...25) + 26
    _ = try reader.signed("pic_init_qs_minus26", in: -26...25)
    _ = try reader.signed("chroma_qp_index_offset", in: -12...12)
    hasDeblockingControl = try reader.flag()
    _ = try reader.flag()  // constrained_intra_pred_flag
    hasRedundantPictures = try reader.flag()
  }
}

/// The parameter sets of one kind that a stream has sent, by their identifiers.
///
/// Repeated sets, as in every key frame, are compared and not parsed.
struct ParameterSetStore<ParameterSet: Sendable>: Sendable {
  private struct Entry: Sendable {
    let id: Int
    let bytes: [UInt8]
    let parameterSet: ParameterSet
  }

  /// Longer ones are not kept, which bounds the memory that a hostile stream can take.
  private let maximumByteCount = 1024
  private var entries: [Entry] = []

  subscript(id: Int) -> ParameterSet? {
    entries.first { $0.id == id }?.parameterSet
  }

  /// Adds a NAL unit; one that can't be read removes all parameter sets.
  /// - Returns: Whether the parameter sets have changed.
  mutating func update(
    _ nalUnit: UnsafeRawBufferPointer, id: (ParameterSet) -> Int,
    parse: (UnsafeRawBufferPointer) throws(SequenceParameterSet.Malformed) -> ParameterSet
  ) -> Bool {
    if entries.contains(where: { $0.bytes.elementsEqual(nalUnit) }) { return false }
    guard nalUnit.count <= maximumByteCount, let parameterSet = try? parse(nalUnit) else {
      entries.removeAll()
      return true
    }
    entries.removeAll { $0.id == id(parameterSet) }
    entries.append(Entry(id: id(parameterSet), bytes: Array(nalUnit), parameterSet: parameterSet))
    return true
  }
}
