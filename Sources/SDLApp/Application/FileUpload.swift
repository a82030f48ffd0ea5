import SDLMessages

/// A file on its way to the head unit (PutFile), part by part: RPCs go before video, which a large RPC would hold up.
struct FileUpload: Equatable, Sendable {
  /// In bytes.
  static let partSize = 64 << 10

  /// The parameters of the first part, except for its size.
  private let parameters: JSONObject
  private let bytes: [UInt8]
  private var offset = 0

  /// A file of at least one byte.
  init(_ parameters: JSONObject, _ bytes: [UInt8]) {
    self.parameters = parameters
    self.bytes = bytes
  }

  /// Whether the last part was taken.
  var isComplete: Bool { offset == bytes.count }

  /// The upload from its beginning.
  var restarted: FileUpload { FileUpload(parameters, bytes) }

  /// The next part; nil after the last.
  mutating func nextPart() -> (parameters: JSONObject, bulk: [UInt8])? {
    guard offset < bytes.count else { return nil }
    let part = bytes[offset..<min(offset + Self.partSize, bytes.count)]
    var parameters = parameters
    // SDL Core takes the length in the first part as that of the file.
    if bytes.count > Self.partSize {
      parameters["offset"] = .integer(offset)
      parameters["length"] = .integer(offset == 0 ? bytes.count : part.count)
    }
    offset = part.endIndex
    return (parameters, Array(part))
  }
}
