import SDLWire

/// OnSystemRequest: a request to fetch something, or to send something somewhere, for the head unit: above all, policy
/// updates.
package struct OnSystemRequest: Equatable, Sendable {
  private static let mostHeaders = 100

  /// `RequestType`, such as PROPRIETARY, HTTP or LOCK_SCREEN_ICON_URL.
  package var type: String
  package var subtype: String?
  package var url: String?
  /// How long the answer may take; nil if the head unit does not say.
  package var timeout: Duration?
  /// `FileType` of the bytes.
  package var fileType: String?
  /// The HTTP headers for the bytes.
  package var headers: [String: String] = [:]
  package var body: [UInt8]

  /// Of PROPRIETARY and HTTP, the bytes may be JSON that has headers and body (`HTTPRequest`); otherwise they are the
  /// body.
  package init(_ message: RPCMessage) {
    let json = message.parameters
    type = json["requestType"]?.string?.printable(limit: 100) ?? ""
    subtype = json["requestSubType"]?.string?.printable(limit: 255)
    url = json["url"]?.string?.printable()
    timeout = json.integer("timeout", in: 0...2_000_000_000).map { .seconds($0) }
    fileType = json["fileType"]?.string?.printable(limit: 100)
    body = message.bulk
    guard let request = try? JSONObject(parsing: message.bulk)["HTTPRequest"]?.object else { return }
    body = Array((request["body"]?.string ?? "").utf8)
    for (name, value) in (request["headers"]?.object ?? [:]).prefix(Self.mostHeaders) {
      headers[name.printable(limit: 100)] = Self.text(value)
    }
  }

  private static func text(_ value: JSONValue) -> String {
    value.string?.printable() ?? value.bool.map { "\($0)" } ?? value.integer.map { "\($0)" } ?? ""
  }
}
