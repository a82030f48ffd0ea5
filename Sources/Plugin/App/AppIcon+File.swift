import GStreamerKit
import Glibc
import SDLApp

extension AppIcon {
  /// In bytes. Head units give an app little space, and show icons small.
  private static let longestFile = 1 << 20
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Reads a PNG file. Pipes and devices are never waited for.
  init(path: String) throws(ElementError) {
    let bytes = Self.read(path)
    guard let bytes else {
      throw .resource(
        GST_RESOURCE_ERROR_OPEN_READ,
        "The icon \(path) can't be read: \(String(cString: strerror(errno))). The app has none.")
    }
    guard bytes.starts(with: Self.signature), bytes.count <= Self.longestFile else {
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "The icon \(path) is no PNG file of at most \(Self.longestFile) bytes. The app has none.")
    }
    self.init(png: bytes)
  }

  /// At most one byte more than allowed; nil with errno if it can't be read.
  private static func read(_ path: String) -> [UInt8]? {
    // Without O_NONBLOCK, opening a pipe waits for its other end.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= longestFile {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count >= 0 else { return nil }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return bytes
  }
}
