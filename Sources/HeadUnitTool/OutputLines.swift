import Glibc
import SDLLink
import Synchronization

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

extension OutputLines {
  /// Whether the log has the standard output for itself: what else has to be said goes to the standard error.
  static let isTaken = Atomic(false)
}

/// Prints a line in which an app's texts can neither fake another line nor control the terminal.
func printLine(_ line: String) {
  let line = line.printable(limit: 4000)
  guard OutputLines.isTaken.load(ordering: .relaxed) else { return OutputLines.append(line) }
  let bytes = Array("\(line)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
