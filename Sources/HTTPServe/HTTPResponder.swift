import CSoup
import Synchronization

/// Answers one request of an ``HTTPServer``, at once or later, on any thread.
///
/// `@unchecked Sendable`: the message and `source` are used on the server's thread only, where ``HTTPServer/invoke(_:)``
/// calls.
package final class HTTPResponder: @unchecked Sendable {
  /// The next part of an answer without a known end.
  package enum Part: Sendable {
    case bytes([UInt8])
    /// There is none yet: ``wake()`` has to follow.
    case wait
    case end
  }

  private let message: OpaquePointer
  private let soupServer: OpaquePointer
  private let server: HTTPServer
  private var source: (@Sendable () -> Part)?
  private var isPaused = true
  /// The answer is complete, or the client has gone.
  private let isOver = Atomic(false)
  /// A ``wake()`` is on its way, which others need not follow.
  private let isWoken = Atomic(false)

  private var soup: CSoupFunctions { server.soup }

  /// On the server's thread: the request waits for its answer.
  init(_ message: OpaquePointer, of soupServer: OpaquePointer, _ server: HTTPServer) {
    (self.message, self.soupServer, self.server) = (message, soupServer, server)
    _ = soup.g_object_ref(UnsafeMutableRawPointer(message))
    soup.soup_server_pause_message(soupServer, message)
    connect("finished") { $0.finish() }
    connect("wrote-chunk") { $0.writeNext() }
    server.add(self)
  }

  /// The message keeps this object until it has gone.
  private func connect(_ signal: String, _ body: @escaping (HTTPResponder) -> Void) {
    final class Handler {
      let responder: HTTPResponder
      let body: (HTTPResponder) -> Void

      init(_ responder: HTTPResponder, _ body: @escaping (HTTPResponder) -> Void) {
        (self.responder, self.body) = (responder, body)
      }
    }
    let handler: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void = { _, data in
      guard let data else { return }
      let handler = Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue()
      handler.body(handler.responder)
    }
    _ = soup.g_signal_connect_data(
      UnsafeMutableRawPointer(message), signal, unsafeBitCast(handler, to: GCallback.self),
      Unmanaged.passRetained(Handler(self, body)).toOpaque(),
      { data, _ in
        if let data { Unmanaged<Handler>.fromOpaque(data).release() }
      }, GConnectFlags(rawValue: 0))
  }

  /// On the server's thread, when the answer is complete, or nobody is there to take it.
  func finish() {
    guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
    server.remove(self)
    source = nil
    // It keeps this object, too.
    soup.g_object_unref(UnsafeMutableRawPointer(message))
  }

  /// Whether nobody waits for the answer any more.
  package var isClosed: Bool { isOver.load(ordering: .acquiring) }

  /// The whole answer.
  package func answer(_ answer: HTTPAnswer) {
    server.invoke { _ in
      guard !self.isClosed else { return }
      Self.set(answer, self.message, self.soup)
      self.resume()
    }
  }

  /// An answer in parts, which are asked for one after the other, as fast as the client reads.
  package func stream(contentType: String, _ source: @escaping @Sendable () -> Part) {
    server.invoke { _ in
      guard !self.isClosed else { return }
      self.source = source
      let headers = self.soup.soup_server_message_get_response_headers(self.message)
      self.soup.soup_message_headers_replace(headers, "Content-Type", contentType)
      self.soup.soup_message_headers_replace(headers, "Connection", "close")
      self.soup.soup_message_headers_set_encoding(headers, CSOUP_CHUNKED)
      // What has been sent is not kept.
      self.soup.soup_message_body_set_accumulate(self.soup.soup_server_message_get_response_body(self.message), 0)
      self.soup.soup_server_message_set_status(self.message, 200, nil)
      self.writeNext()
    }
  }

  /// There may be another part.
  package func wake() {
    guard !isWoken.exchange(true, ordering: .acquiringAndReleasing) else { return }
    server.invoke { _ in
      _ = self.isWoken.exchange(false, ordering: .acquiringAndReleasing)
      if self.isPaused, self.source != nil { self.writeNext() }
    }
  }

  private func writeNext() {
    guard !isClosed, let source else { return }
    let body = soup.soup_server_message_get_response_body(message)
    switch source() {
    case .wait: return pause()
    case .end:
      self.source = nil
      soup.soup_message_body_complete(body)
    case .bytes(let bytes):
      let data = soup.g_bytes_new(bytes, gsize(bytes.count))
      soup.soup_message_body_append_bytes(body, data)
      soup.g_bytes_unref(data)
    }
    resume()
  }

  private func pause() {
    guard !isPaused else { return }
    isPaused = true
    soup.soup_server_pause_message(soupServer, message)
  }

  private func resume() {
    guard isPaused else { return }
    isPaused = false
    soup.soup_server_unpause_message(soupServer, message)
  }

  static func set(_ answer: HTTPAnswer, _ message: OpaquePointer, _ soup: CSoupFunctions) {
    soup.soup_server_message_set_status(message, answer.status, nil)
    let headers = soup.soup_server_message_get_response_headers(message)
    for (name, value) in answer.headers { soup.soup_message_headers_replace(headers, name, value) }
    soup.soup_message_headers_replace(headers, "X-Content-Type-Options", "nosniff")
    soup.soup_message_headers_replace(headers, "Cache-Control", "no-store")
    // libsoup 3.2 never closes a connection that the client closes after an answer.
    soup.soup_message_headers_replace(headers, "Connection", "close")
    answer.body.withUnsafeBytes { bytes in
      let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      soup.soup_server_message_set_response(message, answer.contentType, CSOUP_COPY, text, gsize(bytes.count))
    }
  }
}
