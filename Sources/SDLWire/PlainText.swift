// Texts for users and for tools that read line by line.

extension String {
  /// The most Unicode scalars of a name.
  private static let longestName = 100

  /// A text of any origin, safe to print: on one line, with control and formatting characters escaped
  /// as "\u{1B}", and cut at `limit` Unicode scalars with an ellipsis.
  package func printable(limit: Int = 1000) -> String {
    // A scalar takes four bytes at most; counting them all would be work without a bound.
    if utf8.count <= limit, utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    var text = ""
    for scalar in unicodeScalars.prefix(limit) {
      if scalar.isPrintable {
        text.unicodeScalars.append(scalar)
      } else {
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return unicodeScalars.dropFirst(limit).isEmpty ? text : text + "…"
  }

  /// A peer's name, printable and in quotation marks; it contains none itself.
  package var quoted: String {
    var name = ""
    for scalar in unicodeScalars.prefix(Self.longestName) {
      if scalar == "\"" || scalar == "\\" { name += "\\" }
      name.unicodeScalars.append(scalar)
    }
    if !unicodeScalars.dropFirst(Self.longestName).isEmpty { name += "…" }
    return "\"\(name.printable(limit: name.unicodeScalars.count))\""
  }
}

extension Unicode.Scalar {
  /// Whether it is neither a control character nor changes the order of text beside it.
  fileprivate var isPrintable: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    // Joiners, which belong to the letters of some languages, are of this category as well.
    case .format: self == "\u{200C}" || self == "\u{200D}"
    default: true
    }
  }
}

extension Duration {
  /// "5 s" or "1.25 s", to the millisecond.
  package var inSeconds: String { inSeconds(parts: 1000) }

  /// The same, to the tenth of a second.
  package var inTenthsOfSeconds: String { inSeconds(parts: 10) }

  private func inSeconds(parts: Int) -> String {
    let seconds = (self / (.seconds(1) / parts)).rounded() / Double(parts)
    return "\(Int(exactly: seconds).map { "\($0)" } ?? "\(seconds)") s"
  }
}

extension FrameHeader.InvalidHeader: CustomStringConvertible {
  package var description: String {
    switch self {
    case .version(let version): "there is no protocol version \(version)"
    case .service(let number): "there is no service \(number)"
    case .frameType(let number): "there is no frame type \(number)"
    case .frameInfo(let number): "there is no such frame info, \(number)"
    case .dataSize(let size): "the frame can't have \(size) bytes of data"
    case .oversized(let size, let limit): "\(size) bytes of data, where at most \(limit) are allowed"
    }
  }
}

extension MessageAssembler.Failure: CustomStringConvertible {
  /// How its parts contradict each other.
  package var description: String {
    switch self {
    case .notAnnounced: "a part without a first frame"
    case .outOfSequence(let expected, let got): "part \(got) where \(expected) was next"
    case .sizeMismatch(let announced, let got): "\(got) bytes where \(announced) were announced"
    case .incomplete(let message, let announced): "\(message.payload.count) bytes where \(announced) were announced"
    case .oversized(let size): "\(size) bytes were announced, which is too many"
    case .empty: "no bytes were announced"
    case .mixedEncryption: "a part is encrypted, and another is not"
    case .noRoom: "too much data of unfinished messages"
    }
  }
}

extension RPCHeader.Malformed: CustomStringConvertible {
  package var description: String {
    switch self {
    case .truncated: "too short for a header"
    case .type(let number): "there is no RPC type \(number)"
    case .jsonSize(let size): "\(size) bytes of JSON were announced, but are missing"
    }
  }
}

extension ControlFrame {
  /// The name in the protocol specification, such as "StartService".
  package var name: String {
    let name = "\(self)"
    return name.prefix(1).uppercased() + name.dropFirst()
  }
}
