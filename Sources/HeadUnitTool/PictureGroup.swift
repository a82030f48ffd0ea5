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

  /// More is no group of pictures of an app that wants to be tested.
  private static let maximumByteCount = 64 << 20

  /// Empty until there is a key frame with its parameter sets, and after a group that is too large.
  private(set) var units: [Unit] = []
  private var byteCount = 0
  private var assembler = AccessUnitAssembler()
  /// The latest parameter sets, by their type, with start codes.
  private var parameterSets: [NALUnitType: [UInt8]] = [:]
  private var size: (width: Int, height: Int)?

  /// Adds a message of the app, whose access units get the numbers after `number`.
  mutating func append(_ message: [UInt8], countingOn number: inout Int) {
    assembler.append(message)
    while let unit = assembler.next() { add(unit, &number) }
  }

  /// Ends the first picture, which otherwise waits for the next one.
  mutating func flush(countingOn number: inout Int) {
    if let unit = assembler.flush() { add(unit, &number) }
  }

  /// The units behind the one of this number, at least one if there is any; all if that is not among them.
  /// - Parameter byteCount: after so many bytes no further unit is added.
  func units(after number: Int, atMost byteCount: Int) -> ArraySlice<Unit> {
    let first = units.lastIndex { $0.number <= number }.map { $0 + 1 } ?? 0
    var rest = byteCount
    return units[first...].prefix { unit in
      defer { rest -= unit.bytes.count }
      return rest > 0
    }
  }

  private mutating func add(_ bytes: [UInt8], _ number: inout Int) {
    var hasKeyFrame = false
    var hasSets = false
    bytes.withUnsafeBytes { buffer in
      for unit in AnnexB(buffer) {
        switch unit.type {
        case .sequenceParameterSet, .pictureParameterSet:
          let nalUnit = Array(buffer[unit.range])
          parameterSets[unit.type] = [0, 0, 0, 1] + nalUnit
          guard unit.type == .sequenceParameterSet, let set = try? SequenceParameterSet(nalUnit: nalUnit) else { break }
          hasSets = true
          size = (set.width, set.height)
        case .idrSlice: hasKeyFrame = true
        default: break
        }
      }
    }
    if hasKeyFrame {
      units = []
      byteCount = 0
    } else if units.isEmpty {
      return
    }
    guard let size else { return }
    byteCount += bytes.count
    guard byteCount < Self.maximumByteCount else {
      units = []
      return
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
