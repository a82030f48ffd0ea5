/// Divides a byte stream (Annex B) that comes in messages into access units.
///
/// SDL carries a byte stream, and does not say where messages end. Most apps send an access unit per message, some a
/// message per NAL unit, others pieces of a file. The end of an access unit is certain only when the next one begins
/// (H.264, 7.4.1.2.3), and waiting for that would delay every picture by one frame. So only the first access unit
/// waits, or is ended by ``flush()`` when nothing more comes. Once a message has begun with an access unit, or a pause has
/// followed one, the ends of messages count as ends of access units, until a message contradicts that.
package struct AccessUnitAssembler: Sendable {
  private enum Alignment: Sendable {
    case unknown
    /// Ends of messages are ends of access units.
    case aligned
    case anywhere
  }

  /// Larger ones are dropped, in bytes.
  package let maximumSize: Int
  private var alignment = Alignment.unknown
  /// A message that is exactly one access unit.
  private var whole: [UInt8]?
  /// The bytes since the beginning of the current access unit, from ``start`` on.
  private var pending: [UInt8] = []
  private var start = 0
  /// The bytes of ``pending`` before this have been searched for start codes.
  private var scanned = 0
  /// Whether the current access unit has a slice.
  private var hasPicture = false
  /// The number of access units that were dropped because of their size.
  package private(set) var oversizedCount = 0

  package init(maximumSize: Int = 16 << 20) {
    self.maximumSize = maximumSize
  }

  /// Whether ``flush()`` would return something.
  package var hasPendingPicture: Bool { hasPicture }

  /// Adds the next message. Call ``next()`` until it returns nil before adding more.
  package mutating func append(_ message: [UInt8]) {
    let beginning = Beginning(of: message)
    if pending.isEmpty, alignment == .aligned, beginning == .accessUnit, Self.isSinglePicture(message) {
      whole = message
      return
    }
    if hasPicture || (pending.isEmpty && alignment == .aligned) { learn(from: beginning) }
    guard pending.count + message.count <= maximumSize else {
      oversizedCount += 1
      startOver()
      return
    }
    // Avoids copying an access unit that comes as a whole.
    if pending.isEmpty { pending = message } else { pending += message }
  }

  /// The next access unit that is complete; nil when there is none. A message that is exactly one of them is returned
  /// without copying.
  package mutating func next() -> [UInt8]? {
    if let message = whole.take() { return message }
    if let end = findEnd() {
      defer { start = end }
      return Array(pending[start..<end])
    }
    if start > 0 {
      pending.removeSubrange(..<start)
      scanned -= start
      start = 0
    }
    return alignment == .aligned ? flush() : nil
  }

  /// The picture that waits for its end; it ends as if a message ended there. Nil when there is none.
  package mutating func flush() -> [UInt8]? {
    guard hasPicture else { return nil }
    if alignment == .unknown { alignment = .aligned }
    defer { startOver() }
    return start == 0 ? pending : Array(pending[start...])
  }

  /// The same sender begins another stream.
  package mutating func beginStream() {
    whole = nil
    startOver()
  }

  private mutating func startOver() {
    pending = []
    start = 0
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

  /// Where the current access unit ends and the next one begins; nil if the next one is not there yet. Every byte is
  /// searched once.
  private mutating func findEnd() -> Int? {
    var (scanned, hasPicture) = (scanned, hasPicture)
    defer { (self.scanned, self.hasPicture) = (scanned, hasPicture) }
    return pending.withUnsafeBytes { bytes in
      while let header = StartCode.end(ofNextIn: bytes, from: scanned) {
        // The byte after the header shows whether it is the first slice of a picture.
        guard header + 1 < bytes.count else {
          scanned = header - 3
          return nil
        }
        let type = NALUnitType(header: bytes[header])
        let endsUnit = hasPicture && (type.startsSlice && bytes[header + 1] & 0x80 != 0 || type.precedesPicture)
        hasPicture = type.startsSlice || hasPicture && !endsUnit
        scanned = header
        if endsUnit { return header >= 4 && bytes[header - 4] == 0 ? header - 4 : header - 3 }
      }
      // A start code may be cut in two.
      scanned = max(scanned, bytes.count - 3, 0)
      return nil
    }
  }
}

extension AccessUnitAssembler {
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
  /// Whether such a unit, after a slice, belongs to the next access unit (H.264, 7.4.1.2.3).
  fileprivate var precedesPicture: Bool {
    switch rawValue {
    case 6...9, 14...18: true
    default: false
    }
  }
}
