/// The AVCDecoderConfigurationRecord of an H.264 stream, in MP4 files and `codec_data` (ISO/IEC 14496-15, 5.3.3.1).
package struct DecoderConfiguration: Equatable, Sendable {
  package enum Malformed: Error, Equatable, Sendable {
    case truncated
    /// `configurationVersion` is this, not 1.
    case unsupportedVersion(UInt8)
    /// Among the sequence or picture parameter sets is a NAL unit of another type.
    case unexpectedNALUnit(NALUnitType)
  }

  /// How many bytes the length in front of each NAL unit of the stream has, 1…4.
  package let lengthByteCount: Int
  /// NAL units without start codes, at most 31; none when the stream carries them itself (`avc3`).
  package let sequenceParameterSets: [[UInt8]]
  /// NAL units without start codes, at most 255.
  package let pictureParameterSets: [[UInt8]]

  /// Reads a record. The bytes after the parameter sets are ignored: they repeat fields of the high profiles' sets.
  ///
  /// The result is no larger than the record itself.
  package init(_ record: UnsafeRawBufferPointer) throws(Malformed) {
    guard record.count >= Self.headerByteCount else { throw .truncated }
    guard record[0] == 1 else { throw .unsupportedVersion(record[0]) }
    lengthByteCount = Int(record[4] & 3) + 1
    var offset = Self.headerByteCount
    sequenceParameterSets = try Self.units(
      Int(record[5] & 0x1F), of: .sequenceParameterSet, in: record, at: &offset)
    guard offset < record.count else { throw .truncated }
    let count = Int(record[offset])
    offset += 1
    pictureParameterSets = try Self.units(count, of: .pictureParameterSet, in: record, at: &offset)
  }

  /// The parameter sets as a byte stream, each after a start code.
  package var byteStream: [UInt8] {
    (sequenceParameterSets + pictureParameterSets).flatMap { [0, 0, 0, 1] + $0 }
  }

  /// Up to the number of sequence parameter sets.
  private static let headerByteCount = 6

  private static func units(
    _ count: Int, of type: NALUnitType, in record: UnsafeRawBufferPointer, at offset: inout Int
  ) throws(Malformed) -> [[UInt8]] {
    var units: [[UInt8]] = []
    for _ in 0..<count {
      guard let range = LengthPrefix.unitRange(in: record, at: offset, byteCount: 2), !range.isEmpty else {
        throw .truncated
      }
      let found = NALUnitType(header: record[range.lowerBound])
      guard found == type else { throw .unexpectedNALUnit(found) }
      units.append(Array(record[range]))
      offset = range.upperBound
    }
    return units
  }
}
