import GStreamerKit

/// Where `sdlheadunitsrc` listens: `sdl+headunit://[ADDRESS][:PORT]`, with the defaults of the properties for what is
/// missing.
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
    let form = "write sdl+headunit://ADDRESS:PORT"
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
    func refuse(_ code: GstURIError, _ reason: String) -> Bool {
      g_set_error_literal(error, gst_uri_error_quark(), gint(code.rawValue), reason)
      return false
    }
    guard !isRunning else { return refuse(GST_URI_ERROR_BAD_STATE, "the URI can only be set in NULL or READY") }
    do {
      let uri = try HeadUnitSourceURI(text)
      settings.withLock { settings in
        settings.headUnit.address = uri.address
        settings.headUnit.port = uri.port
      }
    } catch {
      return refuse(GST_URI_ERROR_BAD_URI, error.description)
    }
    notify("address")
    notify("port")
    return true
  }
}
