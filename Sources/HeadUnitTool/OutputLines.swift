import Glibc
import SDLLink

/// The standard output.
enum OutputLines {
  private static let file = BackgroundFile(STDOUT_FILENO, name: "output", maximumByteCount: 1 << 20)

  static func start() throws(LinkError) {
    try file.start()
  }

  /// Adds a line, which is written as it is. If the output is gone, there is no way to report that.
  static func append(_ line: String) {
    _ = file.append(Array("\(line)\n".utf8)) { Array("… \($0) lines left out\n".utf8) }
  }

  /// Waits until everything is written, or nothing more is read.
  static func finish() {
    file.finish()
  }
}

/// Prints a line in which an app's texts can neither fake another line nor control the terminal.
func printLine(_ line: String) {
  OutputLines.append(line.printable(limit: 4000))
}
