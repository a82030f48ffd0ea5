/// The points of a GPX file: those of its tracks, else of its routes, else its way points.
package struct GPXTrack: Equatable, Sendable {
  package struct Point: Equatable, Sendable {
    /// In degrees, -90…90 and -180…180.
    package var latitude: Double
    package var longitude: Double
    /// In metres.
    package var elevation: Double?
    /// In seconds since 1970 (UTC).
    package var time: Double?
    /// In metres per second.
    package var speed: Double?
    /// In degrees from north, 0…360.
    package var course: Double?
    /// In seconds since the first point, never less than that of the point before: by the times of the file, and a
    /// second for each point without one.
    package fileprivate(set) var offset = 0.0
  }

  package static let maximumByteCount = 64 << 20
  package static let maximumPointCount = 1_000_000

  /// In the order of the file; at least one.
  package let points: [Point]

  /// Reads a file in UTF-8. Numbers and times are read as they stand: entities and CDATA in them are errors, and so is
  /// a document type.
  package init(_ bytes: [UInt8]) throws(MalformedLine) { try self.init(bytes, atMost: Self.maximumPointCount) }

  init(_ bytes: [UInt8], atMost maximumPointCount: Int) throws(MalformedLine) {
    guard bytes.count <= Self.maximumByteCount else {
      throw MalformedLine(line: 1, text: "a track has at most \(Self.maximumByteCount >> 20) MiB")
    }
    var scanner = GPXScanner(bytes, maximumPointCount: maximumPointCount)
    var points = try scanner.points()
    var base: Double?
    for index in points.indices {
      let before = index == 0 ? 0 : points[index - 1].offset
      let next = index == 0 ? 0 : before + 1
      if let time = points[index].time {
        if base == nil { base = time - next }
        points[index].offset = max(time - (base ?? time), before)
      } else {
        points[index].offset = next
      }
    }
    self.points = points
  }
}

/// Reads as much XML as GPX files have.
private struct GPXScanner {
  private enum Kind: Int {
    case trackPoint
    case routePoint
    case wayPoint
  }

  private static let kinds: [String: Kind] = ["trkpt": .trackPoint, "rtept": .routePoint, "wpt": .wayPoint]
  /// Of elements in each other.
  private static let maximumDepth = 64
  /// Of a number or a time, in bytes.
  private static let longestValue = 64

  private let bytes: [UInt8]
  private let maximumPointCount: Int
  private var position = 0
  /// The names of the elements that are open.
  private var open: [Range<Int>] = []
  private var hasRoot = false
  private var found: [[GPXTrack.Point]] = [[], [], []]
  private var kind: Kind?
  private var point = GPXTrack.Point(latitude: 0, longitude: 0)
  /// Where the text of the innermost element begins.
  private var textStart = 0
  private var latestTimes: [Double?] = [nil, nil, nil]

  init(_ bytes: [UInt8], maximumPointCount: Int) {
    (self.bytes, self.maximumPointCount) = (bytes, maximumPointCount)
    // Some programs begin a file with it.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  mutating func points() throws(MalformedLine) -> [GPXTrack.Point] {
    while try skipText() {
      switch (byte(at: position + 1), byte(at: position + 2)) {
      case (UInt8(ascii: "?"), _): try skip(past: "?>", "a declaration")
      case (UInt8(ascii: "!"), UInt8(ascii: "-")): try skip(past: "-->", "a comment")
      case (UInt8(ascii: "!"), UInt8(ascii: "[")): try skip(past: "]]>", "a CDATA section")
      case (UInt8(ascii: "!"), _): throw malformed("a document type is not read")
      case (UInt8(ascii: "/"), _): try closeElement()
      default: try openElement()
      }
    }
    if let name = open.last { throw malformed("the file ends within <\(text(name))>") }
    guard let points = found.first(where: { !$0.isEmpty }) else {
      throw malformed(hasRoot ? "there are no points (trkpt, rtept, wpt)" : "this is no GPX file")
    }
    // There is one copy, which the caller changes.
    found = []
    return points
  }

  private func malformed(_ text: String, at place: Int? = nil) -> MalformedLine {
    let line = bytes.prefix(min(place ?? position, bytes.count)).count { $0 == UInt8(ascii: "\n") } + 1
    return MalformedLine(line: line, text: text)
  }

  private func byte(at index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range].prefix(Self.longestValue), as: UTF8.self)
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  // MARK: Elements

  /// Goes to the next `<`; false at the end.
  private mutating func skipText() throws(MalformedLine) -> Bool {
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "<") { position += 1 }
    guard !open.isEmpty || bytes[start..<position].allSatisfy(isSpace) else {
      throw malformed("there is text outside of <gpx>; this is no GPX file", at: start)
    }
    return position < bytes.count
  }

  private mutating func skip(past end: StaticString, _ what: String) throws(MalformedLine) {
    let start = position
    let length = end.utf8CodeUnitCount
    while position + length <= bytes.count {
      if (0..<length).allSatisfy({ bytes[position + $0] == end.utf8Start[$0] }) {
        position += length
        return
      }
      position += 1
    }
    throw malformed("\(what) does not end", at: start)
  }

  private mutating func name() throws(MalformedLine) -> Range<Int> {
    let start = position
    while position < bytes.count, !isSpace(bytes[position]), !#"<>/="'&"#.utf8.contains(bytes[position]) {
      position += 1
    }
    guard position > start else { throw malformed("a name is missing") }
    return start..<position
  }

  /// Without its namespace, of which GPX files have one for what matters.
  private func localName(_ name: Range<Int>) -> Range<Int> {
    let colon = bytes[name].lastIndex(of: UInt8(ascii: ":"))
    return (colon.map { $0 + 1 } ?? name.lowerBound)..<name.upperBound
  }

  private mutating func skipSpace() {
    while isSpace(byte(at: position)) { position += 1 }
  }

  private mutating func openElement() throws(MalformedLine) {
    let start = position
    position += 1
    let name = try name()
    let local = text(localName(name))
    guard !open.isEmpty || !hasRoot && local == "gpx" else { throw malformed("this is no GPX file", at: start) }
    hasRoot = true
    guard open.count < Self.maximumDepth else {
      throw malformed("there are more than \(Self.maximumDepth) elements in each other", at: start)
    }
    let newKind = Self.kinds[local]
    if newKind != nil, kind != nil { throw malformed("a point is in a point", at: start) }
    let place = try attributes(areCoordinates: newKind != nil)
    if let newKind {
      guard let latitude = place.latitude, let longitude = place.longitude else {
        throw malformed("a point needs lat and lon", at: start)
      }
      kind = newKind
      point = GPXTrack.Point(latitude: latitude, longitude: longitude)
    }
    open.append(name)
    let isEmpty = byte(at: position) == UInt8(ascii: "/")
    if isEmpty { position += 1 }
    guard byte(at: position) == UInt8(ascii: ">") else { throw malformed("> is missing after /") }
    position += 1
    textStart = position
    if isEmpty { try end(name, text: position..<position) }
  }

  /// Reads up to the `>` or `/` of an element.
  private mutating func attributes(
    areCoordinates: Bool
  ) throws(MalformedLine) -> (latitude: Double?, longitude: Double?) {
    var place: (latitude: Double?, longitude: Double?)
    while true {
      skipSpace()
      if byte(at: position) == UInt8(ascii: ">") || byte(at: position) == UInt8(ascii: "/") { return place }
      guard position < bytes.count else { throw malformed("the file ends within an element") }
      let name = try name()
      skipSpace()
      guard byte(at: position) == UInt8(ascii: "=") else { throw malformed("= is missing after \(text(name))") }
      position += 1
      skipSpace()
      let quote = byte(at: position)
      guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
        throw malformed("the value of \(text(name)) is not in quotation marks")
      }
      position += 1
      let start = position
      while position < bytes.count, bytes[position] != quote, bytes[position] != UInt8(ascii: "<") { position += 1 }
      guard byte(at: position) == quote else {
        throw malformed("the value of \(text(name)) does not end", at: start)
      }
      let value = start..<position
      position += 1
      guard areCoordinates else { continue }
      switch text(name) {
      case "lat": place.latitude = try number(value, in: -90...90, "latitude")
      case "lon": place.longitude = try number(value, in: -180...180, "longitude")
      default: break
      }
    }
  }

  private mutating func closeElement() throws(MalformedLine) {
    let end = position
    position += 2
    let name = try name()
    skipSpace()
    guard byte(at: position) == UInt8(ascii: ">") else { throw malformed("> is missing after </\(text(name))") }
    position += 1
    guard let last = open.last, bytes[last] == bytes[name] else {
      throw malformed(
        "</\(text(name))> ends nothing" + (open.last.map { "; <\(text($0))> is open" } ?? ""), at: end)
    }
    try self.end(name, text: min(textStart, end)..<end)
    textStart = position
  }

  /// An element is over.
  /// - Parameter content: its text, if it has no elements.
  private mutating func end(_ name: Range<Int>, text content: Range<Int>) throws(MalformedLine) {
    open.removeLast()
    guard let kind else { return }
    let local = text(localName(name))
    switch local {
    case "ele": if point.elevation == nil { point.elevation = try number(content, in: -100_000...100_000, "elevation") }
    case "speed": if point.speed == nil { point.speed = try number(content, in: 0...10_000, "speed") }
    case "course": if point.course == nil { point.course = try number(content, in: 0...360, "course") }
    case "time": if point.time == nil { point.time = try time(content, kind) }
    default:
      guard Self.kinds[local] != nil else { return }
      guard found.reduce(0, { $0 + $1.count }) < maximumPointCount else {
        throw malformed("a track has at most \(maximumPointCount) points")
      }
      found[kind.rawValue].append(point)
      self.kind = nil
    }
  }

  // MARK: Values

  private func trimmed(_ range: Range<Int>) -> ArraySlice<UInt8> {
    var value = bytes[range].drop(while: isSpace)
    while let last = value.last, isSpace(last) { value.removeLast() }
    return value
  }

  private func number(
    _ range: Range<Int>, in limits: ClosedRange<Double>, _ what: String
  ) throws(MalformedLine) -> Double {
    let value = trimmed(range)
    guard value.count <= Self.longestValue, value.allSatisfy("+-.0123456789eE".utf8.contains),
      let number = Double(String(decoding: value, as: UTF8.self)), limits.contains(number)
    else {
      throw malformed("\"\(text(range))\" is no \(what) from \(Int(limits.lowerBound)) to \(Int(limits.upperBound))")
    }
    return number
  }

  private mutating func time(_ range: Range<Int>, _ kind: Kind) throws(MalformedLine) -> Double {
    let value = trimmed(range)
    guard value.count <= Self.longestValue, let time = UTCTime(value)?.seconds else {
      throw malformed("\"\(text(range))\" is no time such as 2024-05-01T12:00:00Z")
    }
    if let latest = latestTimes[kind.rawValue], time < latest {
      throw malformed("the time is before that of the point before")
    }
    latestTimes[kind.rawValue] = time
    return time
  }
}

/// A moment in the calendar (`xsd:dateTime`), in UTC.
struct UTCTime: Equatable {
  private static let secondsPerDay = 86_400

  /// Since 1970.
  let seconds: Double

  init(seconds: Double) {
    self.seconds = min(max(seconds, 0), 253_402_300_799)
  }

  /// Parses such as `2024-05-01T12:00:00.5+02:00`; without a zone it is UTC.
  init?(_ text: ArraySlice<UInt8>) {
    var rest = text
    func digits(_ count: Int, _ limits: ClosedRange<Int>) -> Int? {
      let part = rest.prefix(count)
      guard part.count == count, part.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else { return nil }
      rest.removeFirst(count)
      let value = part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      return limits.contains(value) ? value : nil
    }
    func mark(_ mark: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: mark) else { return false }
      rest.removeFirst()
      return true
    }
    guard let year = digits(4, 1970...9999), mark("-"), let month = digits(2, 1...12), mark("-"),
      let day = digits(2, 1...31), mark("T"), let hour = digits(2, 0...23), mark(":"), let minute = digits(2, 0...59),
      mark(":"), let second = digits(2, 0...60)
    else { return nil }
    var fraction = 0.0
    if mark(".") {
      var scale = 0.1
      var hasDigits = false
      while let digit = digits(1, 0...9) {
        fraction += Double(digit) * scale
        scale /= 10
        hasDigits = true
      }
      guard hasDigits else { return nil }
    }
    var offset = 0
    if !mark("Z"), let sign = rest.first {
      guard mark("+") || mark("-"), let hours = digits(2, 0...14), mark(":"), let minutes = digits(2, 0...59) else {
        return nil
      }
      offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
    }
    guard rest.isEmpty else { return nil }
    let whole = Self.days(year, month, day) * Self.secondsPerDay + hour * 3600 + minute * 60 + second - offset
    self.init(seconds: Double(whole) + fraction)
  }

  /// Days from 1970-01-01 to a date of the Gregorian calendar, whose years are counted from March on here.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }

  var date: (year: Int, month: Int, day: Int) {
    let days = Int(seconds) / Self.secondsPerDay
    var year = 1970 + days / 366
    while Self.days(year + 1, 1, 1) <= days { year += 1 }
    var month = 1
    while month < 12, Self.days(year, month + 1, 1) <= days { month += 1 }
    return (year, month, days - Self.days(year, month, 1) + 1)
  }

  var clock: (hours: Int, minutes: Int, seconds: Int) {
    let second = Int(seconds) % Self.secondsPerDay
    return (second / 3600, second / 60 % 60, second % 60)
  }
}
