/// The text of a background notice.
public enum NoticeText {
  /// The most Unicode scalars of a text that are drawn, which bounds the work. A notice that is to be read at a glance is
  /// much shorter.
  public static let lengthLimit = 1000

  /// The default text.
  ///
  /// - Parameter appName: as the head unit lists the app; may be empty.
  public static func standard(appName: String) -> String {
    let name = drawable(appName)
    return "To see \(name.isEmpty ? "the app" : name) again, open it where it runs, once that is safe."
  }

  /// The part of `text` that is laid out: control characters other than line ends become spaces, and white space at both
  /// ends, which would move the text off the centre, is removed.
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
