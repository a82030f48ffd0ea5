import GStreamerKit

/// Where `sdlheadunitsrc` listens: `sdl+headunit://[ADDRESS][:PORT]`, with the properties' defaults for missing parts.
struct HeadUnitSourceURI: Equatable {
  static let scheme = "sdl+headunit"

  /// As the property `address`.
  var address = HeadUnitSettings().address
  /// As the property `port`.
  var port = HeadUnitSettings().port

  /// Why a text is no such URI; the description says what to write instead.
  struct Malformed: Error, CustomStringConvertible {
    var description: String
  }

  init(address: String, port: UInt16) {
    self.address = address
    self.port = port
  }

  init(_ text: String) throws(Malformed) {
    let form = "write sdl+headunit://ADDRESS:PORT, with an IPv6 address in brackets"
    // Schemes are case-insensitive (RFC 3986, 3.1).
    let otherScheme = Malformed(description: "'\(text)' is no URI with the scheme \(Self.scheme); \(form)")
    guard let uri = gst_uri_from_string(text) else { throw otherScheme }
    defer { gst_mini_object_unref(UnsafeMutablePointer(uri)) }
    guard let scheme = gst_uri_get_scheme(uri), String(cString: scheme).lowercased() == Self.scheme else {
      throw otherScheme
    }
    guard text.dropFirst(Self.scheme.count).hasPrefix("://") else {
      throw Malformed(description: "'\(text)' has no slashes after the scheme; \(form)")
    }
    let authority = URIAuthority(of: text, scheme: Self.scheme)
    guard ["", "/"].contains(authority.rest), !authority.text.contains("@") else {
      throw Malformed(description: "'\(text)' has more than an address and a port; \(form)")
    }
    if let host = gst_uri_get_host(uri).map({ String(cString: $0) }), !host.isEmpty { address = host }
    guard let port = authority.port(or: port) else {
      throw Malformed(description: "'\(text)' has a port outside 0…65535")
    }
    self.port = port
  }

  /// The URI with all its parts.
  var text: String {
    "\(Self.scheme)://\(address.contains(":") ? "[\(address)]" : address):\(port)"
  }
}

/// GstURIHandler.
extension HeadUnitSource {
  /// Where the element listens, or is going to.
  var uri: HeadUnitSourceURI {
    let settings = settings.current.headUnit
    return HeadUnitSourceURI(address: settings.listeningAddress ?? "*", port: settings.port)
  }

  /// Sets `address` and `port`.
  ///
  /// - Parameter error: gets `GST_URI_ERROR_BAD_STATE` while the element runs, or `GST_URI_ERROR_BAD_URI`.
  /// - Returns: false, without a change, after an error.
  func takeURI(_ text: String, _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?) -> Bool {
    guard !isRunning else {
      return URIHandler.refuse(GST_URI_ERROR_BAD_STATE, "the URI can only be set in NULL or READY", error)
    }
    do throws(HeadUnitSourceURI.Malformed) {
      let uri = try HeadUnitSourceURI(text)
      settings.withLock { ($0.headUnit.address, $0.headUnit.port) = (uri.address, uri.port) }
    } catch let malformed {
      return URIHandler.refuse(GST_URI_ERROR_BAD_URI, malformed.description, error)
    }
    notify("address")
    notify("port")
    return true
  }
}
