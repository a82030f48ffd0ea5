import Glibc
import SDLMessages

/// A file for the property `conversation-log`; it is removed with the object.
final class ConversationFile {
  let path = "/tmp/sdl-conversation-\(getpid())-\(UInt64.random(in: 0...(.max))).jsonl"

  deinit {
    unlink(path)
  }

  /// Its bytes so far.
  var bytes: [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 4 << 20)
    let count = fread(&buffer, 1, buffer.count, file)
    return Array(buffer.prefix(count))
  }

  /// Its lines, which have to be JSON and whole.
  var lines: [JSONObject] {
    get throws {
      guard bytes.last == UInt8(ascii: "\n") else { throw TestFailure("the file does not end with a line") }
      return try bytes.split(separator: UInt8(ascii: "\n")).map { try JSONObject(parsing: $0) }
    }
  }

  /// The directions and types of an RPC's messages, in order.
  func messages(_ function: String) throws -> [String] {
    try lines.filter { $0["function"] == .string(function) }
      .map { "\($0["dir"]?.string ?? "") \($0["type"]?.string ?? "")" }
  }
}
