import SDLMessages

/// The files that an app has uploaded (PutFile). Only names and sizes are kept, because nothing shows the files.
struct AppFiles: Sendable {
  /// In bytes (AppDirectoryQuota of SDL Core's smartDeviceLink.ini).
  static let quota = 104_857_600
  /// ListFiles can name no more (`filenames` of the RPC specification).
  static let maximumCount = 1000
  /// In bytes; the space of a file is a multiple of it.
  private static let blockSize = 4096

  private var sizes: [String: Int] = [:]
  /// In bytes.
  private(set) var spaceAvailable = AppFiles.quota

  var names: [String] { sizes.keys.sorted() }

  func contains(_ name: String) -> Bool { sizes[name] != nil }

  /// Adds a file, or a part of one.
  /// - Parameter offset: of the part in the file, in bytes; 0 replaces the file, and others are its present size.
  /// - Returns: SUCCESS, or why nothing has changed.
  mutating func put(_ name: String, offset: Int, count: Int) -> ResultCode {
    guard offset == 0 || offset == sizes[name] ?? 0 else { return .invalidData }
    guard sizes.count < Self.maximumCount || contains(name) else { return .outOfMemory }
    let (size, isTooLarge) = offset.addingReportingOverflow(count)
    guard count >= 0, !isTooLarge, size <= Self.quota else { return .outOfMemory }
    let space = spaceAvailable + (sizes[name].map(Self.space) ?? 0) - Self.space(size)
    guard space >= 0 else { return .outOfMemory }
    sizes[name] = size
    spaceAvailable = space
    return .success
  }

  /// - Returns: false if there is no such file.
  mutating func delete(_ name: String) -> Bool {
    guard let size = sizes.removeValue(forKey: name) else { return false }
    spaceAvailable += Self.space(size)
    return true
  }

  /// In bytes; does not overflow, because sizes are within the quota.
  private static func space(_ size: Int) -> Int {
    max(1, (size + blockSize - 1) / blockSize) * blockSize
  }
}
