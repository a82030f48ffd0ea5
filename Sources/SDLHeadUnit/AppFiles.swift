/// The files that an app has uploaded: names and sizes alone, since nothing is shown of them.
struct AppFiles: Sendable {
  /// In bytes (AppDirectoryQuota of SDL Core's smartDeviceLink.ini).
  static let quota = 104_857_600
  /// ListFiles can name no more (`filenames` of the RPC specification).
  static let maximumCount = 1000
  /// In Unicode scalars; the RPC specification counts characters.
  static let longestName = 255
  /// What a file takes at least.
  private static let blockSize = 4096

  private var sizes: [String: Int] = [:]
  /// In bytes.
  private(set) var spaceAvailable = AppFiles.quota

  var names: [String] { sizes.keys.sorted() }

  func contains(_ name: String) -> Bool { sizes[name] != nil }

  /// Adds a file, or a part of one that comes in parts; false, and nothing changes, if it does not fit.
  /// - Parameter offset: where the bytes belong; 0 begins the file anew.
  mutating func put(_ name: String, offset: Int, count: Int) -> Bool {
    guard sizes.count < Self.maximumCount || contains(name) else { return false }
    let (end, isTooLarge) = offset.addingReportingOverflow(count)
    guard offset >= 0, count >= 0, !isTooLarge, end <= Self.quota else { return false }
    let size = offset == 0 ? end : max(end, sizes[name] ?? 0)
    let space = spaceAvailable + (sizes[name].map(Self.space) ?? 0) - Self.space(size)
    guard space >= 0 else { return false }
    sizes[name] = size
    spaceAvailable = space
    return true
  }

  /// False if there is no such file.
  mutating func delete(_ name: String) -> Bool {
    guard let size = sizes.removeValue(forKey: name) else { return false }
    spaceAvailable += Self.space(size)
    return true
  }

  /// At most the quota for sizes that passed.
  private static func space(_ size: Int) -> Int {
    max(1, (size + blockSize - 1) / blockSize) * blockSize
  }
}
