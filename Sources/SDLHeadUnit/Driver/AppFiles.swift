import SDLMessages

/// The files that an app has uploaded (PutFile). Only names and sizes are kept, because only the page shows the files, which keeps them itself.
struct AppFiles: Sendable {
  /// In bytes (AppDirectoryQuota of SDL Core's smartDeviceLink.ini).
  static let quota = 104_857_600
  /// The most files that ListFiles can name (`filenames` of the RPC specification).
  static let maximumCount = 1000
  /// In bytes; the space of a file is a multiple of it.
  private static let blockSize = 4096

  private var sizes: [String: Int] = [:]
  /// In bytes.
  private(set) var spaceAvailable = AppFiles.quota

  var names: [String] { sizes.keys.sorted() }

  func contains(_ name: String) -> Bool { sizes[name] != nil }

  /// In bytes; nil if there is no such file.
  func size(of name: String) -> Int? { sizes[name] }

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

/// Images in a request that the app has not uploaded. SDL Core carries the request out all the same.
enum MissingImages {
  /// Names one of them; nil if all images are there.
  static func warning(of parameters: JSONObject, files: AppFiles) -> String? {
    name(in: .object(parameters), files).map { "There is no image \($0.quoted)" }
  }

  /// No deeper than the schemas of requests.
  private static func name(in value: JSONValue, _ files: AppFiles) -> String? {
    switch value {
    case .array(let values): return values.lazy.compactMap { name(in: $0, files) }.first
    case .object(let object):
      guard object["imageType"] == nil else {
        guard object["imageType"]?.string == "DYNAMIC", let name = object["value"]?.string else { return nil }
        return name.isEmpty || files.contains(name) ? nil : name
      }
      return object.sorted { $0.key < $1.key }.lazy.compactMap { name(in: $0.value, files) }.first
    default: return nil
    }
  }
}

/// The checksum of zlib and Ethernet (IEEE 802.3), which SDL Core compares files with.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
  }

  static func checksum(of bytes: [UInt8]) -> UInt32 {
    ~table.withUnsafeBufferPointer { table in
      bytes.reduce(~UInt32(0)) { sum, byte in table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ sum >> 8 }
    }
  }
}
