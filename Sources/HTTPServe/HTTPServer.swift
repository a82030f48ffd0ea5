import CSoup
import Glibc
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

/// Why there is no server.
package enum HTTPServerFailure: Error, CustomStringConvertible {
  /// There is no libsoup 3 that this process can use.
  case noLibrary
  case link(LinkError)
  /// In the words of a library.
  case other(String)

  /// In a form that can follow a colon.
  package var description: String {
    switch self {
    case .noLibrary: "libsoup 3 is missing: install libsoup-3.0-0"
    case .link(let error): "\(error)"
    case .other(let text): text
    }
  }
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
  /// G_PRIORITY_LOW
  private static let lowPriority: Int32 = 300
  /// G_PRIORITY_HIGH
  private static let highPriority: Int32 = -100

  package typealias Handler = @Sendable (HTTPRequest, HTTPResponder) -> Void

  private struct State: @unchecked Sendable {
    // The pointers are used by the thread of the server; the context may be used by any.
    var context: OpaquePointer?
    var loop: OpaquePointer?
    var failure: HTTPServerFailure?
    var hasEnded = false
    /// Whose requests are not over.
    var responders: [ObjectIdentifier: HTTPResponder] = [:]
  }

  nonisolated(unsafe) private static let functions = csoup_load()

  let soup: CSoupFunctions
  package let port: UInt16
  private let token: [UInt8]
  private let pages: [String: HTTPAnswer]
  private let longestSilence: guint
  private let handler: Handler
  private let state = Monitor(State())
  private let thread = WorkerThread(name: "http")

  /// Listens at a host name or numeric address, nil for all of this machine's; port 0 takes any that is free.
  /// - Parameters:
  ///   - pages: answers to GET without a token, by their paths: they may hold no secret.
  ///   - longestSilence: in seconds: how long a connection may be silent before and in a request, or not read the
  ///     answer.
  ///   - handler: is called on the server's thread, and must not block; the responder may be used later, on any thread.
  package init(
    address: String?, port: UInt16, token: String, pages: [String: HTTPAnswer] = [:], longestSilence: guint = 60,
    handler: @escaping Handler
  ) throws(HTTPServerFailure) {
    guard let soup = Self.functions?.pointee else { throw .noLibrary }
    let listening = try Self.listening(address, port)
    self.soup = soup
    self.port = listening.port
    self.token = Array("Bearer \(token)".utf8)
    self.pages = pages
    self.longestSilence = longestSilence
    self.handler = handler
    do throws(LinkError) {
      try thread.start { self.run(listening.descriptor) }
    } catch {
      close(listening.descriptor)
      throw .link(error)
    }
    state.wait { $0.failure != nil || $0.context != nil }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// A descriptor that belongs to the caller, and its port.
  private static func listening(
    _ address: String?, _ port: UInt16
  ) throws(HTTPServerFailure) -> (descriptor: Int32, port: UInt16) {
    do throws(LinkError) {
      let (socket, bound) = try Socket.listening(address: address, port: port)
      // For the connections, which inherit it: no part of an answer waits until the one before is acknowledged.
      socket.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
      let descriptor = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
      guard descriptor >= 0 else { throw .system(operation: "dup", errno: errno) }
      return (descriptor, bound.port)
    } catch {
      throw .link(error)
    }
  }

  /// Sends the answers that are there, and closes all connections; the port is free then. Handlers are not called any
  /// more. Not for the server's own thread.
  package func stop() {
    // When nothing else is to be done; clients that always have something to do are not waited for.
    quit(priority: Self.lowPriority)
    let hasEnded = state.wait(atLatest: MonotonicClock.now + Self.longestEnd) { $0.hasEnded }
    if !hasEnded { quit(priority: Self.highPriority) }
    thread.join()
  }

  private func quit(priority: Int32) {
    invoke(priority: priority) { server in
      if let loop = server.state.withLock({ $0.loop }) { server.soup.g_main_loop_quit(loop) }
    }
  }

  // MARK: The thread

  /// - Parameter descriptor: listens, and belongs to this thread.
  private func run(_ descriptor: Int32) {
    let context = soup.g_main_context_new()
    soup.g_main_context_push_thread_default(context)
    defer {
      soup.g_main_context_pop_thread_default(context)
      soup.g_main_context_unref(context)
    }
    guard let context, let object = soup.g_object_new_with_properties(soup.soup_server_get_type(), 0, nil, nil) else {
      close(descriptor)
      return state.change { $0.failure = .other("libsoup is out of memory") }
    }
    let server = OpaquePointer(object)
    defer { soup.g_object_unref(UnsafeMutableRawPointer(server)) }
    let listener: HTTPListener
    do throws(HTTPServerFailure) {
      listener = try HTTPListener(
        soup, server, in: context, descriptor: descriptor, longestSilence: longestSilence)
    } catch {
      return state.change { $0.failure = error }
    }
    addHandlers(server)
    let loop = soup.g_main_loop_new(context, 0)
    state.change { state in
      state.context = context
      state.loop = loop
    }
    soup.g_main_loop_run(loop)
    state.withLock { ($0.context, $0.loop) = (nil, nil) }
    listener.stop()
    soup.soup_server_disconnect(server)
    // libsoup does not tell of the requests that waited for their answers.
    for responder in state.withLock({ Array($0.responders.values) }) { responder.finish() }
    soup.g_main_loop_unref(loop)
    state.change { $0.hasEnded = true }
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

  /// Calls `body` on the server's thread, after what that is doing; not at all once it has ended.
  func invoke(priority: Int32 = 0, _ body: @escaping (HTTPServer) -> Void) {
    final class Call {
      let body: () -> Void

      init(_ body: @escaping () -> Void) {
        self.body = body
      }
    }
    let call = Unmanaged.passRetained(Call { body(self) })
    let source = soup.g_idle_source_new()
    soup.g_source_set_priority(source, priority)
    soup.g_source_set_callback(
      source,
      { data in
        if let data { Unmanaged<Call>.fromOpaque(data).takeUnretainedValue().body() }
        return 0
      }, call.toOpaque(), { data in if let data { Unmanaged<Call>.fromOpaque(data).release() } })
    let isAttached = state.withLock { state in
      guard let context = state.context else { return false }
      _ = soup.g_source_attach(source, context)
      // With the lock, for which the thread waits before it gives the context up: this locks the context.
      soup.g_source_unref(source)
      return true
    }
    if !isAttached { soup.g_source_unref(source) }
  }

  // MARK: Requests

  func add(_ responder: HTTPResponder) { state.withLock { $0.responders[ObjectIdentifier(responder)] = responder } }

  func remove(_ responder: HTTPResponder) { state.withLock { $0.responders[ObjectIdentifier(responder)] = nil } }

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
