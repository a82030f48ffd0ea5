import H264
import SDLLink

/// The pictures of an app since its last key frame, from which the present one can be decoded.
struct PictureGroup: Sendable {
  /// An access unit as a byte stream (Annex B). A key frame has its parameter sets.
  struct Unit: Sendable {
    /// Counts the access units of all apps.
    let number: Int
    let bytes: [UInt8]
    let isKeyFrame: Bool
    /// In pixels.
    let size: (width: Int, height: Int)
    /// When it has come, by the monotonic clock.
    let time: Duration
  }

  /// Of a group with more, only the latest pictures are kept, for pages that show it already.
  private let maximumByteCount: Int
  private static let maximumCount = 10_000
  private static let maximumUnitsPerMessage = 300

  /// Those since the last key frame, or the latest of them; empty until there is a key frame with its parameter sets.
  private var units: [Unit] = []
  private var byteCount = 0
  private var assembler = AccessUnitAssembler()
  /// The latest parameter sets, by their type, with start codes.
  private var parameterSets: [NALUnitType: [UInt8]] = [:]
  private var size: (width: Int, height: Int)?

  init(maximumByteCount: Int = 64 << 20) {
    self.maximumByteCount = maximumByteCount
  }

  var isEmpty: Bool { units.isEmpty }

  /// The pictures from the last key frame on; empty if that is no longer kept.
  var decodable: [Unit] { units.first?.isKeyFrame == true ? units : [] }

  /// Adds a message of the app, whose access units get the numbers after `number`. Apps send one in a message: the rest
  /// of a message with very many is left out, with what depends on it, so that its work is bounded.
  mutating func append(_ message: [UInt8], countingOn number: inout Int) {
    assembler.append(message)
    var count = 0
    while let unit = assembler.next() {
      count += 1
      guard count <= Self.maximumUnitsPerMessage else {
        assembler.beginStream()
        return startOver()
      }
      add(unit, &number)
    }
  }

  private mutating func startOver() {
    units = []
    byteCount = 0
  }

  /// Ends the first picture, which otherwise waits for the next one.
  mutating func flush(countingOn number: inout Int) {
    if let unit = assembler.flush() { add(unit, &number) }
  }

  /// The units behind the one of this number, at least one if there is any; if that is not among them, those from the key
  /// frame on.
  /// - Parameter byteCount: after so many bytes no further unit is added.
  func units(after number: Int, atMost byteCount: Int) -> ArraySlice<Unit> {
    let next = units.lastIndex { $0.number <= number }.map { $0 + 1 }
    var rest = byteCount
    return (next.map { units[$0...] } ?? decodable[...]).prefix { unit in
      defer { rest -= unit.bytes.count }
      return rest > 0
    }
  }

  private mutating func add(_ bytes: [UInt8], _ number: inout Int) {
    var hasKeyFrame = false
    var hasSets = false
    bytes.withUnsafeBytes { buffer in
      // Only the last ones count: an access unit may be full of them.
      var (sequence, picture): (Range<Int>?, Range<Int>?)
      for unit in AnnexB(buffer) {
        switch unit.type {
        case .sequenceParameterSet: sequence = unit.range
        case .pictureParameterSet: picture = unit.range
        case .idrSlice: hasKeyFrame = true
        default: break
        }
      }
      if let picture { parameterSets[.pictureParameterSet] = [0, 0, 0, 1] + buffer[picture] }
      guard let sequence else { return }
      let nalUnit = Array(buffer[sequence])
      parameterSets[.sequenceParameterSet] = [0, 0, 0, 1] + nalUnit
      guard let set = try? SequenceParameterSet(nalUnit: nalUnit) else { return }
      hasSets = true
      size = (set.width, set.height)
    }
    if hasKeyFrame {
      startOver()
    } else if units.isEmpty {
      return
    }
    guard let size else { return }
    byteCount += bytes.count
    if byteCount > maximumByteCount || units.count >= Self.maximumCount {
      let count = (units.count + 1) / 2
      byteCount -= units[..<count].reduce(0) { $0 + $1.bytes.count }
      units.removeFirst(count)
    }
    let sets =
      hasKeyFrame && !hasSets
      ? [.sequenceParameterSet, .pictureParameterSet].flatMap { parameterSets[$0] ?? [] } : []
    number += 1
    units.append(
      Unit(
        number: number, bytes: sets.isEmpty ? bytes : sets + bytes, isKeyFrame: hasKeyFrame, size: size,
        time: MonotonicClock.now))
  }
}
