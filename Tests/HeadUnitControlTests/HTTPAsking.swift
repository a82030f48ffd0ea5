import Glibc
import Testing

/// What a server has answered.
struct HTTPReply {
  var status: String
  /// With their names in lower case.
  var headers: [String: String]
  var body: String
}

/// Tests with clients that know no more of HTTP than they have to.
protocol HTTPAsking {}

extension HTTPAsking {
  static var token: String { "letmein" }

  /// Connects, and sends `request`; the caller closes the descriptor.
  func connect(_ port: UInt16, _ request: String) throws -> Int32 {
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let result = withUnsafeBytes(of: &address) { bytes in
      Glibc.connect(
        client, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    try #require(result == 0, "\(errno)")
    var rest = Array(request.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { break }
      rest = rest.dropFirst(count)
    }
    return client
  }

  func head(_ method: String, _ path: String, _ fields: [String], token: String? = Self.token) -> String {
    let all =
      ["\(method) \(path) HTTP/1.1", "Host: x"] + (token.map { ["Authorization: Bearer \($0)"] } ?? []) + fields
    return all.joined(separator: "\r\n") + "\r\n\r\n"
  }

  func answer(_ client: Int32) throws -> HTTPReply {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    // It closes the connection after each.
    var count = read(client, &buffer, buffer.count)
    while count > 0 {
      bytes += buffer[..<count]
      count = read(client, &buffer, buffer.count)
    }
    try #require(count == 0, "it does not close the connection")
    let text = String(decoding: bytes, as: UTF8.self)
    let end = try #require(text.firstRange(of: "\r\n\r\n"), "\(text)")
    let lines = text[..<end.lowerBound].split(separator: "\r\n")
    let headers = lines.dropFirst().compactMap { line -> (String, String)? in
      guard let colon = line.firstRange(of: ": ") else { return nil }
      return (line[..<colon.lowerBound].lowercased(), String(line[colon.upperBound...]))
    }
    return HTTPReply(
      status: String(lines.first?.split(separator: " ").dropFirst().first ?? ""),
      headers: Dictionary(headers) { first, _ in first }, body: String(text[end.upperBound...]))
  }
}
