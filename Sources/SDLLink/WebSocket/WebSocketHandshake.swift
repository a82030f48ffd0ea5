import TLSEngine

/// What both ends of the opening handshake (RFC 6455, section 4) compute.
enum WebSocketHandshake {
  /// `Sec-WebSocket-Accept` for a key.
  /// - Throws: where OpenSSL is not installed.
  static func accept(_ key: String) throws(TransportFailure) -> String {
    guard let digest = Checksum.sha1(Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)) else {
      throw TransportFailure(
        .serviceMissing, "WebSocket needs OpenSSL, which can't be loaded", advice: "Install libssl3 (Debian).")
    }
    return base64(digest)
  }

  static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = (group + [0, 0]).prefix(3).reduce(0) { $0 << 8 | Int($1) }
      for index in 0..<4 { text.append(index > group.count ? "=" : digits[bits >> (18 - index * 6) & 63]) }
    }
    return text
  }
}

/// The client's side: a request, and the check of its answer. No extension is offered, so that none compresses.
package struct WebSocketRequest: Sendable {
  let bytes: [UInt8]
  private let target: String
  private let accept: String

  /// - Parameters:
  ///   - host: as in the URI, with the port.
  ///   - target: path and query; begins with a slash.
  package init(host: String, target: String) throws(TransportFailure) {
    try self.init(host: host, target: target, nonce: (0..<16).map { _ in .random(in: 0...255) })
  }

  init(host: String, target: String, nonce: [UInt8]) throws(TransportFailure) {
    let key = WebSocketHandshake.base64(nonce)
    self.target = target
    accept = try WebSocketHandshake.accept(key)
    let lines = [
      "GET \(target) HTTP/1.1", "Host: \(host)", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13", "", "",
    ]
    bytes = Array(lines.joined(separator: "\r\n").utf8)
  }

  /// - Throws: why the answer is no WebSocket.
  func check(_ head: HTTPHead) throws(TransportFailure) {
    let words = head.firstLine.split(separator: " ", maxSplits: 2).map(String.init)
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { throw .notHTTP }
    let name = "\(status)\(words.count > 2 ? " \(words[2])" : "")".printable(limit: 60)
    switch status {
    case 101: break
    case 404:
      throw TransportFailure(
        .unreachable, "it has no WebSocket at \(target) (\(name))".printable(), advice: "Check the path in the URI.")
    case 300..<400:
      let place = head.value("location").map { " to \($0)" } ?? ""
      throw TransportFailure(
        .unreachable, "it leads elsewhere\(place) (\(name))".printable(),
        advice: "Write the URI of the head unit itself.")
    case 401, 403:
      throw TransportFailure(
        .notAuthorized, "it refuses the WebSocket (\(name))", advice: "Its log may say why it wants no connection.")
    case 503:
      throw TransportFailure(
        .unreachable, "it has no place for a WebSocket now (\(name))", advice: "End the connection that it has.")
    default:
      throw TransportFailure(
        .unreachable, "it opens no WebSocket, but answers \(name)", advice: "Check host, port and path in the URI.")
    }
    guard head.lists("websocket", in: "upgrade"), head.lists("upgrade", in: "connection"),
      head.value("sec-websocket-accept") == accept
    else {
      throw TransportFailure(
        .unreachable, "its answer does not belong to the request for a WebSocket", advice: "A proxy may be in between.")
    }
    guard !head.has("sec-websocket-extensions"), !head.has("sec-websocket-protocol") else {
      throw TransportFailure(
        .unreachable, "it uses a WebSocket extension or protocol that was not asked for",
        advice: "A proxy may be in between.")
    }
  }
}

extension TransportFailure {
  static var notHTTP: TransportFailure {
    TransportFailure(
      .unreachable, "it does not answer with HTTP, so that it is no WebSocket",
      advice: adviceWithoutWebSocket(isSecure: false))
  }

  /// For a server that may be one of something else.
  /// - Parameter isSecure: whether TLS was tried.
  static func adviceWithoutWebSocket(isSecure: Bool) -> String {
    let other = isSecure ? "in clear, sdl+ws" : "with TLS, sdl+wss"
    return "If it takes SmartDeviceLink over TCP there, write sdl://HOST:PORT; if WebSocket \(other)://HOST:PORT."
  }
}

/// The server's side: the answer to a request. Any path will do, and no subprotocol or extension is taken, as in SDL
/// Core.
enum WebSocketAnswer {
  case accepted([UInt8])
  /// An HTTP error, and the reason in a form that can follow a colon.
  case refused([UInt8], reason: String)

  /// - Parameters:
  ///   - address: the server's end of the connection.
  ///   - obstacle: why no WebSocket can be opened now, in a form that can follow a colon.
  init(
    to head: HTTPHead, origins: AllowedOrigins, at address: SocketAddress?, obstacle: String? = nil
  ) throws(TransportFailure) {
    let words = head.firstLine.split(separator: " ")
    guard words.count == 3, words[0] == "GET", words[2] == "HTTP/1.1", head.has("host") else {
      self = Self.refusal("400 Bad Request", "it is no GET request of HTTP/1.1")
      return
    }
    guard head.lists("websocket", in: "upgrade"), head.lists("upgrade", in: "connection") else {
      self = Self.refusal("426 Upgrade Required", "it asks for no WebSocket", ["Upgrade: websocket"])
      return
    }
    guard head.value("sec-websocket-version") == "13" else {
      self = Self.refusal("426 Upgrade Required", "it is not version 13 of WebSocket", ["Sec-WebSocket-Version: 13"])
      return
    }
    if head.has("origin"), !origins.allows(head.value("origin") ?? "", at: address) {
      let origin = (head.value("origin") ?? "").printable(limit: 200)
      self = Self.refusal("403 Forbidden", "pages of the origin \(origin) may not connect\(origins.advice)")
      return
    }
    guard let key = head.value("sec-websocket-key"), key.utf8.count == 24 else {
      self = Self.refusal("400 Bad Request", "it has no valid Sec-WebSocket-Key")
      return
    }
    if let obstacle {
      self = Self.refusal("503 Service Unavailable", obstacle)
      return
    }
    let accept = try WebSocketHandshake.accept(key)
    self = .accepted(
      Self.head(
        "101 Switching Protocols", ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: \(accept)"])
    )
  }

  static func refusal(_ status: String, _ reason: String, _ fields: [String] = []) -> WebSocketAnswer {
    let body = "\(reason)\n"
    let fields = fields + ["Connection: close", "Content-Type: text/plain", "Content-Length: \(body.utf8.count)"]
    return .refused(head(status, fields) + Array(body.utf8), reason: reason)
  }

  private static func head(_ status: String, _ fields: [String]) -> [UInt8] {
    Array((["HTTP/1.1 \(status)"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
  }
}

/// The web pages that may connect to a server. Programs name no origin, and may always; browsers name that of each page.
///
/// Any page of the Internet can reach a head unit on loopback, so only pages of this machine may: those that it serves,
/// and files. `null` may not, which any page can be by a sandboxed frame.
package struct AllowedOrigins: Equatable, Sendable {
  /// No pages at all: only programs are head units.
  package static let none = AllowedOrigins(named: [], ownMachine: false, advice: "")

  /// `*` is any.
  private let named: Set<String>
  private let ownMachine: Bool
  /// What is said to the page.
  let advice: String

  /// Pages of this machine, and those of these origins, such as `https://apps.example` or `null`; `*` for all.
  package init(named: [String]) {
    self.init(named: named, ownMachine: true, advice: " (--websocket-origin allows others)")
  }

  private init(named: [String], ownMachine: Bool, advice: String) {
    self.named = Set(named)
    self.ownMachine = ownMachine
    self.advice = advice
  }

  /// - Parameter address: of this machine, where the page has connected.
  func allows(_ origin: String, at address: SocketAddress?) -> Bool {
    if named.contains("*") || named.contains(origin) { return true }
    guard ownMachine else { return false }
    if origin == "file://" { return true }
    guard let scheme = origin.firstRange(of: "://"), ["http", "https"].contains(origin[..<scheme.lowerBound]) else {
      return false
    }
    let authority = origin[scheme.upperBound...]
    let bracket = authority.lastIndex(of: "]")
    let colon = authority.lastIndex(of: ":").flatMap { colon in bracket.map { $0 < colon } ?? true ? colon : nil }
    if let colon, UInt16(authority[authority.index(after: colon)...]) == nil { return false }
    let host = authority[..<(colon ?? authority.endIndex)]
    let own = address.map { $0.host.contains(":") ? "[\($0.host)]" : $0.host }
    return ["localhost", "127.0.0.1", "[::1]"].contains(host) || own == String(host)
  }
}
