import CSoup
import Glibc
import SDLLink
import Synchronization

/// The port of an ``HTTPServer``. It accepts the connections and hands them to libsoup, whose own listener ends for good
/// when one can't be accepted, as for want of descriptors, and takes any number.
///
/// Its functions are called on the server's thread.
final class HTTPListener {
  /// Others wait in the kernel until one of these ends.
  private static let mostConnections = 64
  /// In milliseconds: when there are so many, or after one could not be accepted.
  private static let retryPause: guint = 100

  private let soup: CSoupFunctions
  private let server: OpaquePointer
  private let context: OpaquePointer
  private let socket: UnsafeMutablePointer<GSocket>
  private let longestSilence: guint
  /// Waits for a connection, or for the end of a pause.
  private var source: UnsafeMutablePointer<GSource>?
  /// A connection may end on any thread.
  private let connectionCount = Atomic(0)

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

  private func watch() {
    guard connectionCount.load(ordering: .relaxed) < Self.mostConnections else { return pause() }
    let accept: GSocketSourceFunc = { _, _, data in
      if let data { Unmanaged<HTTPListener>.fromOpaque(data).takeUnretainedValue().accept() }
      return 1
    }
    guard let source = soup.g_socket_create_source(socket, G_IO_IN, nil) else { return }
    attach(source, unsafeBitCast(accept, to: GSourceFunc.self))
  }

  private func pause() {
    let resume: GSourceFunc = { data in
      if let data {
        Unmanaged<HTTPListener>.fromOpaque(data).takeUnretainedValue().watch()
      }
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

  private func accept() {
    guard let socket = soup.g_socket_accept(socket, nil, nil) else { return pause() }
    defer { soup.g_object_unref(socket) }
    // Without them libsoup does not take it. A client that has gone has none.
    let addresses = [soup.g_socket_get_local_address(socket, nil), soup.g_socket_get_remote_address(socket, nil)]
    defer { for address in addresses.compactMap(\.self) { soup.g_object_unref(address) } }
    guard addresses.allSatisfy({ $0 != nil }) else { return }
    soup.g_socket_set_timeout(socket, longestSilence)
    guard let connection = soup.g_socket_connection_factory_create_connection(socket) else { return }
    defer { soup.g_object_unref(connection) }
    let count = connectionCount.add(1, ordering: .relaxed).newValue
    if count >= Self.mostConnections { pause() }
    soup.g_object_weak_ref(
      UnsafeMutableRawPointer(connection).assumingMemoryBound(to: GObject.self),
      { data, _ in
        guard let data else { return }
        let listener = Unmanaged<HTTPListener>.fromOpaque(data).takeRetainedValue()
        listener.connectionCount.subtract(1, ordering: .relaxed)
      }, Unmanaged.passRetained(self).toOpaque())
    _ = soup.soup_server_accept_iostream(
      server, UnsafeMutableRawPointer(connection), addresses[0], addresses[1], nil)
  }
}
