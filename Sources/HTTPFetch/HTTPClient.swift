import CSoup
import SDLLink

/// Sends bytes to a server, and returns its answer. Blocks for ``totalTimeout`` at most, so nothing may wait for its
/// thread.
package enum HTTPClient {
  /// Without any byte from the server.
  package static let timeout = Duration.seconds(20)
  /// From the beginning to the last byte.
  package static let totalTimeout = Duration.seconds(60)
  /// Of an answer, in bytes.
  package static let longestAnswer = 1 << 20

  nonisolated(unsafe) private static let functions = csoup_load()

  /// Sends `body` by POST. Redirections are not followed, since they could lead anywhere.
  ///
  /// - Parameter allowsThisMachine: whether the server may be on this machine, or in a network around it. Otherwise
  ///   nothing is sent to such an address, whatever the URL says and the name service answers, and no proxy is used,
  ///   which could reach it.
  /// - Throws: for a URL that is not ``isAllowed(_:allowsThisMachine:)``, for a server at such an address, without libsoup
  ///   3, for all answers but 2xx, and for one that is not complete within `time`.
  package static func post(
    _ body: [UInt8], to url: String, contentType: String, allowsThisMachine: Bool, within time: Duration = totalTimeout
  ) throws(HTTPFailure) -> [UInt8] {
    guard isAllowed(url, allowsThisMachine: allowsThisMachine) else { throw HTTPFailure("it is no https URL") }
    guard let soup = functions?.pointee else { throw HTTPFailure("libsoup 3 is missing: install libsoup-3.0-0") }
    guard let message = soup.soup_message_new("POST", url) else { throw HTTPFailure("it is no URL") }
    defer { soup.g_object_unref(UnsafeMutableRawPointer(message)) }
    guard let session = soup.soup_session_new() else { throw HTTPFailure("libsoup is out of memory") }
    defer { soup.g_object_unref(UnsafeMutableRawPointer(session)) }
    soup.soup_session_set_timeout(session, UInt32(timeout.components.seconds))
    soup.soup_message_set_flags(message, CSOUP_NO_REDIRECT)
    if !allowsThisMachine { soup.soup_session_set_proxy_resolver(session, nil) }
    let bytes = soup.g_bytes_new(body, gsize(body.count))
    soup.soup_message_set_request_body_from_bytes(message, contentType, bytes)
    soup.g_bytes_unref(bytes)
    guard let cancellable = soup.g_cancellable_new() else { throw HTTPFailure("libsoup is out of memory") }
    defer { soup.g_object_unref(cancellable) }
    let isOver = try cancel(cancellable, after: time, soup)
    defer {
      isOver.change { $0 = true }
    }
    let servers: ServerCheck.Servers =
      allowsThisMachine ? (url.lowercased().hasPrefix("http:") ? .thisMachine : .all) : .distant
    let check = ServerCheck(servers, soup, cancellable)
    check.watch(message)
    var error: UnsafeMutablePointer<GError>?
    guard let stream = soup.soup_session_send(session, message, cancellable, &error) else {
      let failure = HTTPFailure(error, soup)
      throw check.failure ?? failure
    }
    defer { soup.g_object_unref(stream) }
    if let failure = check.failure { throw failure }
    let status = soup.soup_message_get_status(message)
    guard (200..<300).contains(status) else { throw HTTPFailure("the server answered \(status)") }
    return try read(stream, soup, cancellable)
  }

  /// The session's own time-out restarts with each byte of the server, so a thread enforces the total time.
  ///
  /// - Returns: the caller sets it when there is nothing to cancel any more.
  private static func cancel(
    _ cancellable: UnsafeMutablePointer<GCancellable>, after time: Duration, _ soup: CSoupFunctions
  ) throws(HTTPFailure) -> Monitor<Bool> {
    let isOver = Monitor(false)
    let end = MonotonicClock.now + time
    // GCancellable may be used by several threads.
    nonisolated(unsafe) let cancellable = cancellable
    _ = soup.g_object_ref(cancellable)
    do throws(LinkError) {
      try WorkerThread.detach(name: "sdl-policy-end") {
        if !isOver.wait(atLatest: end, until: { $0 }) { soup.g_cancellable_cancel(cancellable) }
        soup.g_object_unref(cancellable)
      }
    } catch {
      soup.g_object_unref(cancellable)
      throw HTTPFailure("\(error)")
    }
    return isOver
  }

  private static func read(
    _ stream: UnsafeMutablePointer<GInputStream>, _ soup: CSoupFunctions,
    _ cancellable: UnsafeMutablePointer<GCancellable>
  ) throws(HTTPFailure) -> [UInt8] {
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      var error: UnsafeMutablePointer<GError>?
      let count = soup.g_input_stream_read(stream, &buffer, gsize(buffer.count), cancellable, &error)
      guard count >= 0 else { throw HTTPFailure(error, soup) }
      guard count > 0 else { return answer }
      answer += buffer[..<count]
      guard answer.count <= longestAnswer else { throw HTTPFailure("the answer has more than \(longestAnswer) bytes") }
    }
  }

  /// Whether something may be sent to `url`: encrypted, or to this machine.
  /// - Parameter allowsThisMachine: its services expect nothing from other machines. This is only about how `url` is
  ///   written; the address of the connection is checked as well.
  package static func isAllowed(_ url: String, allowsThisMachine: Bool) -> Bool {
    guard let colon = url.firstRange(of: "://") else { return false }
    let authority = url[colon.upperBound...].prefix { !"/?#".contains($0) }
    // The apparent host may be a user name before an @, to which a combining mark after it makes no difference.
    guard !authority.isEmpty, !authority.utf8.contains(where: "@\\".utf8.contains) else { return false }
    switch url[..<colon.lowerBound].lowercased() {
    case "https": return true
    case "http":
      let host = authority.lowercased()
      return allowsThisMachine
        && ["localhost", "127.0.0.1", "[::1]"].contains { host == $0 || host.hasPrefix($0 + ":") }
    default: return false
    }
  }
}

/// Why nothing was fetched, in a form that can follow a colon.
package struct HTTPFailure: Error, Equatable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Takes `error` over.
  init(_ error: UnsafeMutablePointer<GError>?, _ soup: CSoupFunctions) {
    description = error?.pointee.message.map { String(cString: $0) } ?? "no answer"
    if let error { soup.g_error_free(error) }
  }
}
