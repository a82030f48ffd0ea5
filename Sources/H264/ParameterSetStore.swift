/// The parameter sets of one kind that a stream has sent, by their identifiers.
///
/// Those that come again, as they do with every key frame, are compared and not parsed.
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
