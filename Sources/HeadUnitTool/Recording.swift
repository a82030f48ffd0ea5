import Glibc
import SDLLink
import Synchronization

/// A file, or a pipe, that grows while an app streams. Bytes that a pipe's reader does not take in time are left out.
final class Recording: Sendable {
  /// A minute of video.
  private static let maximumByteCount = 64 << 20

  private let file: BackgroundFile
  private let isFailureReported = Atomic(false)

  /// Creates the file. Waits for the reader of a pipe.
  init(path: String) throws(LinkError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .system(operation: "open \(path)", errno: errno) }
    file = BackgroundFile(descriptor, name: "recording", maximumByteCount: Self.maximumByteCount)
  }

  func start() throws(LinkError) {
    try file.start()
  }

  /// Adds to the end of the file.
  func append(_ bytes: [UInt8]) {
    switch file.append(bytes) {
    case .added(after: 0), .omitted(isFirst: false): break
    case .added(after: let omitted): printLine("recording continues after \(omitted) dropped messages")
    case .omitted(isFirst: true): printLine("recording interrupted: the reader is too slow")
    case .failed(let code):
      guard !isFailureReported.exchange(true, ordering: .relaxed) else { return }
      printLine("recording failed: \(LinkError.system(operation: "write", errno: code))")
    }
  }

  /// Replaces as many bytes at the beginning of the file. Without effect on a pipe, which has no beginning.
  func replaceBeginning(_ bytes: [UInt8]) {
    file.replaceBeginning(bytes)
  }

  /// Waits until everything is written, or nothing more is read.
  func finish() {
    file.finish()
  }
}
