import Bluetooth
import GStreamerKit
import SDLHeadUnit
import SDLLink

/// The address of a head unit: `sdl://HOST[:PORT]` over TCP, `sdl+bluetooth:[ADDRESS]` for a car that connects over
/// Bluetooth, `sdl+ws[s]://HOST[:PORT]` over WebSocket, `sdl+ws[s]-listen://[ADDRESS]:PORT` for a car that connects
/// over WebSocket, `sdl+builtin:PRESET` in this process, or `sdl+fd:NUMBER` at the other end of a connected descriptor.
enum HeadUnitURI: Equatable {
  case tcp(host: String, port: UInt16)
  /// - Parameter target: path and query, empty for none.
  case webSocket(host: String, port: UInt16, target: String, isSecure: Bool)
  /// Nil for all addresses of this machine.
  case webSocketListener(address: String?, port: UInt16, isSecure: Bool)
  case builtIn(HeadUnitPreset)
  case descriptor(Int32, isLocal: Bool)
  /// Nil for any car.
  case bluetooth(BluetoothAddress?)

  /// The port that SDL Core listens on.
  static let defaultPort: UInt16 = 12345
  private static let advice =
    "write sdl://HOST:PORT, sdl+ws://HOST:PORT, sdl+bluetooth:, sdl+builtin:PRESET or sdl+fd:NUMBER"

  /// Why a text is no such URI; the description says what to write instead.
  struct Malformed: Error, CustomStringConvertible {
    var description: String
  }

  init(_ text: String) throws(Malformed) {
    let form = text.prefix { $0 != ":" }.lowercased()
    let authority = URIAuthority(of: text, scheme: form)
    if ["sdl+ws-listen", "sdl+wss-listen"].contains(form) {
      self = try Self.listener(text, authority, scheme: form)
      return
    }
    if ["sdl", "sdl+ws", "sdl+wss"].contains(form), let address = authority.unbracketedIPv6 {
      throw Malformed(
        description: "'\(text)' is not a URI: an IPv6 address needs brackets; write \(form)://[\(address)] or "
          + "\(form)://[\(address)]:PORT")
    }
    guard let uri = gst_uri_from_string(text), let scheme = gst_uri_get_scheme(uri).map({ String(cString: $0) }) else {
      throw Malformed(description: "'\(text)' is not a URI; \(Self.advice)")
    }
    defer { gst_mini_object_unref(UnsafeMutablePointer(uri)) }
    // Schemes are case-insensitive (RFC 3986, 3.1).
    switch scheme.lowercased() {
    case "sdl": self = try Self.tcp(uri, text, authority)
    case "sdl+ws", "sdl+wss":
      let (host, port) = try Self.server(uri, text, authority, scheme: form, port: WebSocketServer.defaultPort)
      let target = String(authority.rest.prefix { $0 != "#" })
      self = .webSocket(host: host, port: port, target: target, isSecure: form == "sdl+wss")
    case "sdl+builtin": self = try Self.builtIn(uri, text)
    case "sdl+bluetooth": self = try Self.bluetooth(uri, text)
    case "sdl+fd": self = try Self.descriptor(uri, text)
    default:
      throw Malformed(description: "'\(text)' has scheme \(scheme); \(Self.advice)")
    }
  }

  private static func tcp(
    _ uri: OpaquePointer, _ text: String, _ authority: URIAuthority
  ) throws(Malformed) -> HeadUnitURI {
    let (host, port) = try server(uri, text, authority, scheme: "sdl", port: defaultPort)
    guard ["", "/"].contains(path(of: uri)) else {
      throw Malformed(description: "'\(text)' has a path, which a head unit does not know; write sdl://HOST:PORT")
    }
    return .tcp(host: host, port: port)
  }

  private static func server(
    _ uri: OpaquePointer, _ text: String, _ authority: URIAuthority, scheme: String, port: UInt16
  ) throws(Malformed) -> (host: String, port: UInt16) {
    guard !authority.hasBareZone else {
      throw Malformed(
        description:
          "'\(text)' has a % that a URI writes as %25; write \(scheme)://[ADDRESS%25INTERFACE]:PORT, such as "
          + "\(scheme)://[fe80::1%25eth0]:\(port)")
    }
    guard let host = gst_uri_get_host(uri).map({ String(cString: $0) }), !host.isEmpty else {
      throw Malformed(description: "'\(text)' names no host; write \(scheme)://HOST:PORT")
    }
    guard let port = authority.port(or: port), port > 0 else {
      throw Malformed(description: "'\(text)' has a port outside 1…65535")
    }
    return (host, port)
  }

  /// GStreamer takes no URI without a host.
  private static func listener(
    _ text: String, _ authority: URIAuthority, scheme: String
  ) throws(Malformed) -> HeadUnitURI {
    guard authority.isMarked, ["", "/"].contains(authority.rest), let colon = authority.text.lastIndex(of: ":"),
      let port = authority.port(or: 0), port > 0, authority.unbracketedIPv6 == nil
    else {
      throw Malformed(
        description: "'\(text)' names no port to listen on; write \(scheme)://:PORT, or "
          + "\(scheme)://ADDRESS:PORT for one address of this machine")
    }
    let host = authority.text[..<colon]
    let address = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host
    return .webSocketListener(
      address: address.isEmpty ? nil : String(address), port: port, isSecure: scheme == "sdl+wss-listen")
  }

  private static func path(of uri: OpaquePointer) -> String {
    String(freeing: gst_uri_get_path(uri)) ?? ""
  }

  private static func descriptor(_ uri: OpaquePointer, _ text: String) throws(Malformed) -> HeadUnitURI {
    guard let number = Int32(path(of: uri)), number >= 0 else {
      throw Malformed(description: "'\(text)' names no descriptor; write sdl+fd:NUMBER, of a connected stream socket")
    }
    switch String(freeing: gst_uri_get_query_string(uri)) {
    case nil, "local=false": return .descriptor(number, isLocal: false)
    case "local=true": return .descriptor(number, isLocal: true)
    case let query?:
      throw Malformed(
        description: "'\(text)' has '?\(query)'; write sdl+fd:\(number), or sdl+fd:\(number)?local=true for a head "
          + "unit that is a program on this machine")
    }
  }

  private static func bluetooth(_ uri: OpaquePointer, _ text: String) throws(Malformed) -> HeadUnitURI {
    let path = path(of: uri)
    guard !path.isEmpty else { return .bluetooth(nil) }
    guard let address = BluetoothAddress(path) else {
      throw Malformed(
        description:
          "'\(text)' names no Bluetooth device; write sdl+bluetooth: for any car, or sdl+bluetooth:AA:BB:CC:DD:EE:FF for one"
      )
    }
    return .bluetooth(address)
  }

  private static func builtIn(_ uri: OpaquePointer, _ text: String) throws(Malformed) -> HeadUnitURI {
    let name = path(of: uri)
    guard let preset = name.isEmpty ? .standard : HeadUnitPreset(rawValue: name) else {
      let names = HeadUnitPreset.allCases.map(\.rawValue).joined(separator: ", ")
      throw Malformed(description: "'\(text)' names no built-in head unit; there are: \(names)")
    }
    return .builtIn(preset)
  }
}

/// The authority of a URI (RFC 3986, 3.2), as it is written.
struct URIAuthority {
  let text: Substring
  /// From the path on.
  let rest: Substring
  /// Whether there are two slashes after the scheme.
  let isMarked: Bool

  /// - Parameter scheme: followed by two slashes.
  init(of uri: String, scheme: String) {
    isMarked = uri.dropFirst(scheme.count).hasPrefix("://")
    let authority = uri.dropFirst(scheme.count + "://".count)
    text = authority.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    rest = authority.dropFirst(text.count)
  }

  /// The address in front of the path, if it is one of IPv6 without brackets.
  var unbracketedIPv6: Substring? { !text.contains("[") && text.count { $0 == ":" } > 1 ? text : nil }

  /// Whether the zone of an IPv6 address follows a % that is not escaped (RFC 6874).
  var hasBareZone: Bool {
    guard let percent = text.firstIndex(of: "%"), text.contains("[") else { return false }
    return !text[percent...].hasPrefix("%25")
  }

  /// The port, or `other` if there is none; nil if it is no port. As written, because GStreamer accepts any digits and
  /// does not distinguish a missing port from 0.
  func port(or other: UInt16) -> UInt16? {
    guard let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") else { return other }
    return UInt16(text[text.index(after: colon)...])
  }
}
