import Glibc
import SDLLink
import SDLWire

/// The standard output, written on a thread of its own: no thread that prints waits for a slow reader.
/// What such a reader keeps waiting is bounded.
final class OutputLines: Sendable {
  private struct State: Sendable {
    var waiting: [UInt8] = []
    /// Lines that were left out since the last one that waits.
    var omittedCount = 0
    var isWriting = false
    var writtenCount = 0
  }

  private static let maximumByteCount = 1 << 20
  /// What a pipe takes at once.
  private static let pieceByteCount = 4096
  /// How long the end of the program waits for a reader that reads nothing.
  private static let longestStandstill = Duration.seconds(1)

  static let standard = OutputLines()

  private let state = Monitor(State())

  /// Begins to write.
  func start() throws(LinkError) {
    try WorkerThread.detach(name: "output") {
      while true { self.writeWaiting() }
    }
  }

  /// Adds a line, which is written as it is.
  func append(_ line: String) {
    state.withLock { state in
      guard state.waiting.count < Self.maximumByteCount else { return state.omittedCount += 1 }
      if state.omittedCount > 0 { state.waiting += Array("… \(state.omittedCount) lines left out\n".utf8) }
      state.omittedCount = 0
      state.waiting += Array("\(line)\n".utf8)
    }
    state.broadcast()
  }

  /// Waits until everything is written, or nothing more is read.
  func finish() {
    while true {
      let before = state.withLock { $0.writtenCount }
      let isDone = state.wait(until: MonotonicClock.now + Self.longestStandstill) { state in
        state.waiting.isEmpty && !state.isWriting ? true : nil
      }
      if isDone != nil || state.withLock({ $0.writtenCount == before }) { return }
    }
  }

  private func writeWaiting() {
    let bytes = state.wait(until: nil) { state -> [UInt8]? in
      guard !state.waiting.isEmpty else { return nil }
      defer { state.waiting = [] }
      state.isWriting = true
      return state.waiting
    }
    var rest = bytes.map { $0[...] } ?? []
    while !rest.isEmpty {
      let piece = rest.prefix(Self.pieceByteCount)
      let count = piece.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      // Without an output nothing can be told.
      guard count > 0 else { break }
      rest = rest.dropFirst(count)
      state.withLock { $0.writtenCount &+= count }
    }
    state.withLock { $0.isWriting = false }
    state.broadcast()
  }
}

/// Prints a line, in which nothing that an app has chosen looks like another or reaches the terminal.
func printLine(_ line: String) {
  OutputLines.standard.append(line.printable(limit: 4000))
}
