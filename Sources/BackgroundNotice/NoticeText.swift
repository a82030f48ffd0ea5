/// What a background notice says.
public enum NoticeText {
  /// Unicode scalars of a text that are drawn; what follows is left out, so that the work is bounded.
  ///
  /// A notice is read at a glance: a text of this length is already far too long.
  public static let lengthLimit = 1000

  /// The wording when the user gives none.
  ///
  /// - Parameter appName: as the head unit lists the app; may be empty.
  public static func standard(appName: String) -> String {
    let name = drawable(appName)
    return "To see \(name.isEmpty ? "the app" : name) again, open it where it runs, once that is safe."
  }

  /// The part of `text` that is laid out: control characters but line ends become spaces, and white space at the ends,
  /// which would push the rest out of the middle, is gone.
  static func drawable(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(lengthLimit) {
      let isSpace = scalar != "\n" && scalar.properties.generalCategory == .control
      scalars.append(isSpace ? " " : scalar)
    }
    guard
      let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }
}
