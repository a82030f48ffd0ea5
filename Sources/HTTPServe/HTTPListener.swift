import CSoup
import Glibc
import SDLLink
import Synchronization

/// The port of an ``HTTPServer``. It accepts the connections and hands them to libsoup, whose own listener ends for good
/// when one can't be accepted, as for want of descriptors, and takes any number.
///
/// Its functions are called on the server's thread.
final class HTTPListener {
  /// `@unchecked Sendable`: the pointers are used on the server's thread, and elsewhere only compared.
  private struct Connection: @unchecked Sendable {
    /// Of the client, by which libsoup's message is known.
    let address: UnsafeMutablePointer<GSocketAddress>
    let stream: UnsafeMutablePointer<GSocketConnection>
    /// Whether its request is complete. Until then only the server's thread holds it.
    var hasRequest = false
    /// It has given way, and is about to go.
    var isEnding = false
  }

  /// At once; the oldest one without a request gives way, for which no token is needed. If there is none, further ones
  /// wait in the kernel.
  private static let mostConnections = 64
  /// Before the next look, in milliseconds.
  private static let retryPause: guint = 100

  private let soup: CSoupFunctions
  private let server: OpaquePointer
  private let context: OpaquePointer
  private let socket: UnsafeMutablePointer<GSocket>
  private let longestSilence: guint
  /// Waits for a connection, or for the end of a pause.
  private var source: UnsafeMutablePointer<GSource>?
  /// In the order in which they have come. One with a request may go on any thread.
  private let connections = Mutex<[Connection]>([])

  /// Listens with a descriptor, which belongs to it from now on.
  ///
  /// - Parameter longestSilence: in seconds, after which a connection ends.
  init(
    _ soup: CSoupFunctions, _ server: OpaquePointer, in context: OpaquePointer, descriptor: Int32, longestSilence: guint
  ) throws(HTTPServerFailure) {
    var error: UnsafeMutablePointer<GError>?
    guard let socket = soup.g_socket_new_from_fd(descriptor, &error) else {
      close(descriptor)
      let reason = error?.pointee.message.map { String(cString: $0) } ?? "unknown"
      if let error { soup.g_error_free(error) }
      throw .other("port: \(reason)")
    }
    (self.soup, self.server, self.context, self.socket) = (soup, server, context, socket)
    self.longestSilence = longestSilence
    soup.g_socket_set_blocking(socket, 0)
    noteRequests()
    watch()
  }

  deinit {
    soup.g_object_unref(socket)
  }

  /// Frees the port.
  func stop() {
    unwatch()
    _ = soup.g_socket_close(socket, nil)
  }

  private func noteRequests() {
    let read: @convention(c) (OpaquePointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> Void = { _, message, data in
      guard let message, let data else { return }
      let listener = Unmanaged<HTTPListener>.fromOpaque(data).takeUnretainedValue()
      let address = listener.soup.soup_server_message_get_remote_address(message)
      listener.connections.withLock { connections in
        guard let index = connections.firstIndex(where: { $0.address == address }) else { return }
        connections[index].hasRequest = true
      }
    }
    _ = soup.g_signal_connect_data(
      UnsafeMutableRawPointer(server), "request-read", unsafeBitCast(read, to: GCallback.self),
      Unmanaged.passUnretained(self).toOpaque(), nil, GConnectFlags(rawValue: 0))
  }

  // MARK: Waiting

  private func watch() {
    let accept: GSocketSourceFunc = { _, _, data in
      if let data { Unmanaged<HTTPListener>.fromOpaque(data).takeUnretainedValue().accept() }
      return 1
    }
    guard let source = soup.g_socket_create_source(socket, G_IO_IN, nil) else { return }
    attach(source, unsafeBitCast(accept, to: GSourceFunc.self))
  }

  private func pause() {
    let resume: GSourceFunc = { data in
      if let data { Unmanaged<HTTPListener>.fromOpaque(data).takeUnretainedValue().watch() }
      return 0
    }
    if let source = soup.g_timeout_source_new(Self.retryPause) { attach(source, resume) }
  }

  private func attach(_ source: UnsafeMutablePointer<GSource>, _ function: @escaping GSourceFunc) {
    unwatch()
    soup.g_source_set_callback(source, function, Unmanaged.passUnretained(self).toOpaque(), nil)
    _ = soup.g_source_attach(source, context)
    self.source = source
  }

  private func unwatch() {
    guard let source = source.take() else { return }
    soup.g_source_destroy(source)
    soup.g_source_unref(source)
  }

  // MARK: Connections

  private func accept() {
    guard makeRoom(), let socket = soup.g_socket_accept(socket, nil, nil) else { return pause() }
    defer { soup.g_object_unref(socket) }
    soup.g_socket_set_timeout(socket, longestSilence)
    // Without addresses libsoup takes no connection; one that is gone already has none.
    guard let local = soup.g_socket_get_local_address(socket, nil) else { return }
    defer { soup.g_object_unref(local) }
    guard let address = soup.g_socket_get_remote_address(socket, nil) else { return }
    defer { soup.g_object_unref(address) }
    guard let stream = soup.g_socket_connection_factory_create_connection(socket) else { return }
    defer { soup.g_object_unref(stream) }
    connections.withLock { $0.append(Connection(address: address, stream: stream)) }
    soup.g_object_weak_ref(
      UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GObject.self),
      { data, stream in
        guard let data else { return }
        let listener = Unmanaged<HTTPListener>.fromOpaque(data).takeRetainedValue()
        listener.connections.withLock { connections in
          connections.removeAll { UnsafeMutableRawPointer($0.stream) == stream.map(UnsafeMutableRawPointer.init) }
        }
      }, Unmanaged.passRetained(self).toOpaque())
    _ = soup.soup_server_accept_iostream(server, UnsafeMutableRawPointer(stream), local, address, nil)
  }

  /// Whether there is room for another connection.
  private func makeRoom() -> Bool {
    connections.withLock { connections in
      guard connections.count(where: { !$0.isEnding }) >= Self.mostConnections else { return true }
      guard let index = connections.firstIndex(where: { !$0.hasRequest && !$0.isEnding }) else { return false }
      connections[index].isEnding = true
      // libsoup finds the end.
      _ = soup.g_socket_shutdown(soup.g_socket_connection_get_socket(connections[index].stream), 1, 1, nil)
      return true
    }
  }
}
