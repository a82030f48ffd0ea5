/// Divides a byte stream (Annex B) that comes in messages into access units.
///
/// SDL carries a byte stream, and does not say where messages end. Most apps send an access unit per message, some a
/// message per NAL unit, others pieces of a file. The end of an access unit is certain only when the next one begins
/// (H.264, 7.4.1.2.3), and waiting for that would delay every picture by one frame. So only the first access unit waits,
/// or is ended by ``flush()`` when nothing more comes. Once a message has begun with an access unit, the ends of messages
/// count as ends of access units, until a message contradicts that.
public struct AccessUnitAssembler: Sendable {
  private enum Alignment: Sendable {
    case unknown
    /// Messages end where access units do.
    case aligned
    case anywhere
  }

  /// Larger ones are dropped, in bytes.
  public let maximumSize: Int
  private var alignment = Alignment.unknown
  /// The bytes since the beginning of the current access unit.
  private var pending: [UInt8] = []
  /// The bytes of ``pending`` before this have been searched for start codes.
  private var scanned = 0
  /// Whether ``pending`` has a slice.
  private var hasPicture = false
  /// The number of access units that were dropped because of their size.
  public private(set) var oversizedCount = 0

  /// Creates an assembler at the start of a stream.
  public init(maximumSize: Int = 16 << 20) {
    self.maximumSize = maximumSize
  }

  /// Whether ``flush()`` would return something.
  public var hasPendingPicture: Bool { hasPicture }

  /// Adds the next message; returns the access units that are complete. A message that is exactly one of them is returned
  /// without copying.
  public mutating func append(_ message: [UInt8]) -> [[UInt8]] {
    let beginning = Beginning(of: message)
    if pending.isEmpty, alignment == .aligned, beginning == .accessUnit, Self.isSinglePicture(message) {
      return [message]
    }
    if hasPicture || (pending.isEmpty && alignment == .aligned) { learn(from: beginning) }
    guard pending.count + message.count <= maximumSize else {
      oversizedCount += 1
      startOver()
      return []
    }
    // Avoids copying an access unit that comes as a whole.
    if pending.isEmpty { pending = message } else { pending += message }
    var units = cutPending()
    if alignment == .aligned, let unit = flush() { units.append(unit) }
    return units
  }

  /// The picture that waits for its end; nil when there is none.
  public mutating func flush() -> [UInt8]? {
    guard hasPicture else { return nil }
    defer { startOver() }
    return pending
  }

  private mutating func startOver() {
    pending = []
    scanned = 0
    hasPicture = false
  }

  private mutating func learn(from beginning: Beginning) {
    switch (alignment, beginning) {
    case (.unknown, .accessUnit): alignment = .aligned
    case (_, .middle): alignment = .anywhere
    case (_, .accessUnit): break
    }
  }

  /// Removes the complete access units from ``pending``.
  private mutating func cutPending() -> [[UInt8]] {
    var units: [[UInt8]] = []
    var unitStart = 0
    let stream = pending
    stream.withUnsafeBytes { bytes in
      while let start = StartCode.end(ofNextIn: bytes, from: scanned) {
        // The byte after the header shows whether it is the first slice of a picture.
        guard start + 1 < bytes.count else { return }
        let type = NALUnitType(header: bytes[start])
        let startsPicture = type.startsSlice && bytes[start + 1] & 0x80 != 0
        if hasPicture, startsPicture || type.precedesPicture {
          let cut = start >= 4 && bytes[start - 4] == 0 ? start - 4 : start - 3
          units.append(Array(bytes[unitStart..<cut]))
          unitStart = cut
          hasPicture = false
        }
        if type.startsSlice { hasPicture = true }
        scanned = start
      }
      // A start code may be cut in two.
      scanned = max(scanned, bytes.count - 3, 0)
    }
    pending.removeSubrange(..<unitStart)
    scanned -= unitStart
    return units
  }
}

extension AccessUnitAssembler {
  /// What a message begins with.
  private enum Beginning {
    case accessUnit
    /// The rest of a NAL unit, or another slice of a picture.
    case middle

    init(of message: [UInt8]) {
      let zeros = message.prefix { $0 == 0 }.count
      guard zeros >= 2, zeros + 2 < message.count, message[zeros] == 1 else {
        self = .middle
        return
      }
      let type = NALUnitType(header: message[zeros + 1])
      let isFirstSlice = type.startsSlice && message[zeros + 2] & 0x80 != 0
      self = isFirstSlice || type.precedesPicture ? .accessUnit : .middle
    }
  }

  /// Whether a message that begins with an access unit is exactly one.
  private static func isSinglePicture(_ message: [UInt8]) -> Bool {
    message.withUnsafeBytes { bytes in
      var hasPicture = false
      var offset = 0
      while let start = StartCode.end(ofNextIn: bytes, from: offset), start + 1 < bytes.count {
        let type = NALUnitType(header: bytes[start])
        let startsPicture = type.startsSlice && bytes[start + 1] & 0x80 != 0
        if hasPicture, startsPicture || type.precedesPicture { return false }
        if type.startsSlice { hasPicture = true }
        offset = start
      }
      return hasPicture
    }
  }
}

extension NALUnitType {
  /// Whether such a unit, behind a slice, belongs to the next access unit (H.264, 7.4.1.2.3).
  fileprivate var precedesPicture: Bool {
    switch rawValue {
    case 6...9, 14...18: true
    default: false
    }
  }
}
