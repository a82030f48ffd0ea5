import CSoup
import SDLLink
import Synchronization

/// A request to an ``HTTPServer``, whose sender has the token.
package struct HTTPRequest: Sendable {
  package let method: String
  package let path: String
  /// Decoded by nobody: the values are words and numbers.
  package let query: [String: String]
  package let body: [UInt8]
}

/// The whole answer to a request.
package struct HTTPAnswer: Sendable {
  package var status: UInt32
  package var contentType: String
  package var body: [UInt8]
  /// Further headers, by their names.
  package var headers: [String: String]

  package init(
    _ status: UInt32, _ body: [UInt8], contentType: String = "application/json", headers: [String: String] = [:]
  ) {
    self.status = status
    self.contentType = contentType
    self.body = body
    self.headers = headers
  }
}

extension HTTPAnswer {
  /// Of a request that was successful.
  package init(_ body: [UInt8], contentType: String = "application/json") {
    self.init(200, body, contentType: contentType)
  }
}

/// Why there is no server, in a form that can follow a colon.
package struct HTTPServerFailure: Error, CustomStringConvertible {
  package let description: String
}

/// A small HTTP server by libsoup 3, for programs on this machine that know a token. It has a thread with a main context
/// of its own; libsoup is loaded when the first one is made.
///
/// Refused are requests without `Authorization: Bearer TOKEN`, those of pages from elsewhere (`Origin`), and bodies of
/// more than ``longestBody``, of which nothing is kept. Only its own pages need no token.
package final class HTTPServer: Sendable {
  /// In bytes.
  package static let longestBody: Int64 = 64 << 10

  /// How long clients may take to read the last answers.
  private static let longestEnd = Duration.seconds(1)
  /// Connections that wait to be accepted.
  private static let backlog: Int32 = 1024
  /// G_PRIORITY_LOW
  private static let lowPriority: Int32 = 300

  package typealias Handler = @Sendable (HTTPRequest, HTTPResponder) -> Void

  private struct State: @unchecked Sendable {
    // The pointers are used by the thread of the server; the context may be used by any.
    var context: OpaquePointer?
    var loop: OpaquePointer?
    var port: UInt16?
    var failure: HTTPServerFailure?
  }

  nonisolated(unsafe) private static let functions = csoup_load()

  let soup: CSoupFunctions
  private let address: String
  private let token: [UInt8]
  private let pages: [String: HTTPAnswer]
  private let handler: Handler
  private let state = Monitor(State())

  /// Listens at a numeric address; port 0 takes any that is free.
  /// - Parameters:
  ///   - pages: answers to GET without a token, by their paths: they may hold no secret.
  ///   - handler: is called on the server's thread, and must not block; the responder may be used later, on any thread.
  package init(
    address: String, port: UInt16, token: String, pages: [String: HTTPAnswer] = [:], handler: @escaping Handler
  ) throws(HTTPServerFailure) {
    guard let soup = Self.functions?.pointee else {
      throw HTTPServerFailure(description: "libsoup 3 is missing: install libsoup-3.0-0")
    }
    self.soup = soup
    self.address = address
    self.token = Array("Bearer \(token)".utf8)
    self.pages = pages
    self.handler = handler
    do throws(LinkError) {
      try WorkerThread.detach(name: "http") { self.run(port) }
    } catch {
      throw HTTPServerFailure(description: "\(error)")
    }
    state.wait(until: nil) { $0.failure == nil && $0.port == nil ? nil : () }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  package var port: UInt16 { state.withLock { $0.port ?? 0 } }

  /// Sends the answers that are there, and closes all connections. Handlers are not called any more.
  package func stop() {
    // When nothing else is to be done.
    invoke(priority: Self.lowPriority) { server in
      if let loop = server.state.withLock({ $0.loop }) { server.soup.g_main_loop_quit(loop) }
    }
    state.wait(until: MonotonicClock.now + Self.longestEnd) { $0.context == nil ? () : nil }
  }

  // MARK: The thread

  private func run(_ port: UInt16) {
    let context = soup.g_main_context_new()
    soup.g_main_context_push_thread_default(context)
    defer {
      soup.g_main_context_pop_thread_default(context)
      soup.g_main_context_unref(context)
    }
    guard let object = soup.g_object_new_with_properties(soup.soup_server_get_type(), 0, nil, nil) else {
      return state.change { $0.failure = HTTPServerFailure(description: "libsoup is out of memory") }
    }
    let server = OpaquePointer(object)
    defer { soup.g_object_unref(UnsafeMutableRawPointer(server)) }
    do throws(HTTPServerFailure) {
      try listen(server, port)
    } catch {
      return state.change { $0.failure = error }
    }
    addHandlers(server)
    let loop = soup.g_main_loop_new(context, 0)
    let chosen = chosenPort(of: server)
    state.change { state in
      state.context = context
      state.loop = loop
      state.port = chosen
    }
    soup.g_main_loop_run(loop)
    state.change { $0.context = nil }
    soup.soup_server_disconnect(server)
    soup.g_main_loop_unref(loop)
  }

  private func listen(_ server: OpaquePointer, _ port: UInt16) throws(HTTPServerFailure) {
    guard let place = soup.g_inet_socket_address_new_from_string(address, UInt32(port)) else {
      throw HTTPServerFailure(description: "\(address) is no numeric address")
    }
    defer { soup.g_object_unref(place) }
    var error: UnsafeMutablePointer<GError>?
    let family = soup.g_socket_address_get_family(place)
    if let socket = soup.g_socket_new(family, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, &error) {
      defer { soup.g_object_unref(socket) }
      // GIO's own is 10: clients that come all at once would wait for seconds.
      soup.g_socket_set_listen_backlog(socket, Self.backlog)
      guard
        soup.g_socket_bind(socket, place, 1, &error) == 0 || soup.g_socket_listen(socket, &error) == 0
          || soup.soup_server_listen_socket(server, socket, 0, &error) == 0
      else { return }
    }
    let reason = error?.pointee.message.map { String(cString: $0) } ?? "unknown"
    if let error { soup.g_error_free(error) }
    throw HTTPServerFailure(description: "\(address), port \(port): \(reason)")
  }

  private func chosenPort(of server: OpaquePointer) -> UInt16 {
    guard let list = soup.soup_server_get_uris(server) else { return 0 }
    defer { soup.g_slist_free(list) }
    guard let data = list.pointee.data else { return 0 }
    let uri = OpaquePointer(data)
    defer { soup.g_uri_unref(uri) }
    return UInt16(clamping: soup.g_uri_get_port(uri))
  }

  private func addHandlers(_ server: OpaquePointer) {
    let early: SoupServerCallback = { _, message, _, _, data in
      guard let message, let data else { return }
      let server = Unmanaged<HTTPServer>.fromOpaque(data).takeUnretainedValue()
      // Otherwise a body of any length would be kept.
      if server.isTooLong(message) {
        server.soup.soup_message_body_set_accumulate(server.soup.soup_server_message_get_request_body(message), 0)
      }
    }
    let handle: SoupServerCallback = { soupServer, message, _, _, data in
      guard let soupServer, let message, let data else { return }
      Unmanaged<HTTPServer>.fromOpaque(data).takeUnretainedValue().handle(message, soupServer)
    }
    // The server lives as long as its thread.
    let data = Unmanaged.passUnretained(self).toOpaque()
    soup.soup_server_add_early_handler(server, nil, early, data, nil)
    soup.soup_server_add_handler(server, nil, handle, data, nil)
  }

  /// Calls `body` on the server's thread; not at all once that has ended.
  func invoke(priority: Int32 = 0, _ body: @escaping (HTTPServer) -> Void) {
    final class Call {
      let body: () -> Void

      init(_ body: @escaping () -> Void) {
        self.body = body
      }
    }
    state.withLock { state in
      guard let context = state.context else { return }
      let call = Unmanaged.passRetained(Call { body(self) })
      soup.g_main_context_invoke_full(
        context, priority,
        { data in
          if let data { Unmanaged<Call>.fromOpaque(data).takeUnretainedValue().body() }
          return 0
        }, call.toOpaque(), { data in if let data { Unmanaged<Call>.fromOpaque(data).release() } })
    }
  }

  // MARK: Requests

  private func isTooLong(_ message: OpaquePointer) -> Bool {
    let headers = soup.soup_server_message_get_request_headers(message)
    if soup.soup_message_headers_get_encoding(headers) == CSOUP_CHUNKED { return true }
    // Negative ones are those that libsoup can't count.
    return !(0...Self.longestBody).contains(Int64(soup.soup_message_headers_get_content_length(headers)))
  }

  private func header(_ name: String, of message: OpaquePointer) -> String? {
    soup.soup_message_headers_get_one(soup.soup_server_message_get_request_headers(message), name)
      .map { String(cString: $0) }
  }

  private func method(of message: OpaquePointer) -> String {
    soup.soup_server_message_get_method(message).map { String(cString: $0) } ?? ""
  }

  /// Why a request is refused, or the page that it asks for; nil for one with the token.
  private func earlyAnswer(to message: OpaquePointer, _ path: String) -> HTTPAnswer? {
    func answer(_ status: UInt32, _ text: String) -> HTTPAnswer {
      HTTPAnswer(status, Array("\(text)\n".utf8), contentType: "text/plain")
    }
    if let origin = header("Origin", of: message) {
      let host = origin.firstRange(of: "://").map { String(origin[$0.upperBound...]) }
      guard let host, host == header("Host", of: message) else {
        return answer(403, "pages from elsewhere have no business here")
      }
    }
    if method(of: message) == "GET", let page = pages[path] { return page }
    guard let given = header("Authorization", of: message), isToken(given) else {
      return answer(401, "the token is missing or wrong: Authorization: Bearer TOKEN")
    }
    return isTooLong(message) ? answer(413, "a body has at most \(Self.longestBody) bytes, and a Content-Length") : nil
  }

  /// In a time that does not depend on where it differs.
  private func isToken(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == token.count && zip(bytes, token).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private func handle(_ message: OpaquePointer, _ server: OpaquePointer) {
    let uri = soup.soup_server_message_get_uri(message)
    let path = soup.g_uri_get_path(uri).map { String(cString: $0) } ?? "/"
    if let answer = earlyAnswer(to: message, path) { return HTTPResponder.set(answer, message, soup) }
    let query = soup.g_uri_get_query(uri).map { String(cString: $0) } ?? ""
    let pairs = query.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      return (parts[0], parts.count > 1 ? parts[1] : "")
    }
    let request = HTTPRequest(
      method: method(of: message), path: path,
      query: Dictionary(pairs) { $1 }, body: body(of: message))
    handler(request, HTTPResponder(message, of: server, self))
  }

  private func body(of message: OpaquePointer) -> [UInt8] {
    guard let bytes = soup.soup_message_body_flatten(soup.soup_server_message_get_request_body(message)) else {
      return []
    }
    defer { soup.g_bytes_unref(bytes) }
    var count: gsize = 0
    guard let data = soup.g_bytes_get_data(bytes, &count) else { return [] }
    return Array(UnsafeRawBufferPointer(start: data, count: Int(count)))
  }
}
