import Glibc
import SDLLink
import Synchronization

/// A file that grows while an app streams.
final class Recording: Sendable {
  /// Negative after a failure.
  private let descriptor: Atomic<Int32>

  /// Creates the file.
  init(path: String) throws(LinkError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .system(operation: "open \(path)", errno: errno) }
    self.descriptor = Atomic(descriptor)
  }

  /// Adds to the end of the file.
  func append(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let descriptor = descriptor.load(ordering: .relaxed)
      guard descriptor >= 0 else { return }
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        self.descriptor.store(-1, ordering: .relaxed)
        return printLine("recording failed: \(LinkError.system(operation: "write", errno: errno))")
      }
      rest = rest.dropFirst(count)
    }
  }

  /// Replaces as many bytes at the beginning of the file. Without effect on a pipe, which has no beginning.
  func replaceBeginning(_ bytes: [UInt8]) {
    let descriptor = descriptor.load(ordering: .relaxed)
    if descriptor >= 0 { _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } }
  }
}
