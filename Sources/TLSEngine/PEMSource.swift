import COpenSSL
import Glibc

/// Where certificates or a key come from, in PEM.
package enum PEMSource: Equatable, Sendable {
  /// Path of a regular file.
  case file(String)
  /// The PEM itself.
  case text(String)

  /// PEM text, even a part of it, is taken as the content: a key that was taken for a path would be quoted in an error.
  /// Anything else is a path.
  package init(_ value: String) {
    let isText = value.contains("-----") || value.contains { $0.isNewline } || Self.isBase64(value)
    self = isText ? .text(value) : .file(value)
  }

  /// Whether it looks like a line of PEM or more: relative paths are shorter, or have a dot.
  private static func isBase64(_ value: String) -> Bool {
    value.utf8.count >= 64 && !value.hasPrefix("/")
      && value.unicodeScalars.allSatisfy { scalar in
        scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789+/= ".unicodeScalars.contains(scalar))
      }
  }

  /// The largest file that is read, in bytes.
  static let maximumByteCount = 1 << 20

  /// For error messages.
  var name: String {
    switch self {
    case .file(let path): "\"\(path)\""
    case .text: "the text"
    }
  }

  /// Calls `body` with a BIO that reads the source. The bytes of a file are seen by OpenSSL only.
  ///
  /// - Throws: if it is no regular file, can't be read, or is too large. Pipes and devices are never waited for.
  func withBIO<Result>(
    _ ssl: UnsafePointer<COpenSSLFunctions>, _ body: (OpaquePointer) throws(TLSError) -> Result
  ) throws(TLSError) -> Result {
    switch self {
    case .file(let path):
      let descriptor = try Self.open(path)
      guard let bio = ssl.pointee.BIO_new_fd(descriptor, BIO_CLOSE) else {
        close(descriptor)
        throw TLSError(.credentials, "OpenSSL is out of memory")
      }
      defer { _ = ssl.pointee.BIO_free(bio) }
      return try body(bio)
    case .text(let text):
      guard text.utf8.count <= Self.maximumByteCount else {
        throw TLSError(.credentials, "the text has more than \(Self.maximumByteCount) bytes")
      }
      var text = text
      var outcome: Swift.Result<Result, TLSError>?
      text.withUTF8 { bytes in
        guard let bio = ssl.pointee.BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return }
        defer { _ = ssl.pointee.BIO_free(bio) }
        do throws(TLSError) { outcome = .success(try body(bio)) } catch { outcome = .failure(error) }
      }
      guard let outcome else { throw TLSError(.credentials, "the text is empty") }
      return try outcome.get()
    }
  }

  private static func open(_ path: String) throws(TLSError) -> Int32 {
    // Without O_NONBLOCK, opening a pipe waits for its other end.
    let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw TLSError(.credentials, "\"\(path)\" can't be opened: \(text(errno))") }
    var status = stat()
    var fault: String?
    if fstat(descriptor, &status) != 0 {
      fault = "can't be examined: \(text(errno))"
    } else if status.st_mode & S_IFMT == S_IFDIR {
      fault = "is a directory"
    } else if status.st_mode & S_IFMT != S_IFREG {
      fault = "is no regular file"
    } else if status.st_size > maximumByteCount {
      fault = "has more than \(maximumByteCount) bytes"
    }
    guard let fault else { return descriptor }
    close(descriptor)
    throw TLSError(.credentials, "\"\(path)\" \(fault)")
  }

  private static func text(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}
