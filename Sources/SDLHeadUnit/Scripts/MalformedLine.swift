/// The error in the text of a file, and how to correct it.
package struct MalformedLine: Error, Equatable, CustomStringConvertible {
  /// From 1 on.
  package var line: Int
  package var text: String

  package init(line: Int, text: String) {
    (self.line, self.text) = (line, text)
  }

  /// "line 7: …".
  package var description: String { "line \(line): \(text)" }
}
