import CSoup
import Glibc
import SDLLink

/// Checks the address of each connection before anything is sent on it: a URL may spell an address in many ways, and a
/// name service may change its answer after a check of the name.
final class ServerCheck: @unchecked Sendable {
  // libsoup emits the event on the thread that sends, where ``failure`` is read afterwards; GCancellable may be used by
  // any thread.

  enum Servers {
    /// Those that everybody can reach.
    case distant
    case thisMachine
    case all
  }

  private let servers: Servers
  private let soup: CSoupFunctions
  private let cancellable: UnsafeMutablePointer<GCancellable>
  /// Why the request was cancelled.
  private(set) var failure: HTTPFailure?

  init(_ servers: Servers, _ soup: CSoupFunctions, _ cancellable: UnsafeMutablePointer<GCancellable>) {
    self.servers = servers
    self.soup = soup
    self.cancellable = cancellable
  }

  /// Checks the connections of `message`, which keeps this object.
  func watch(_ message: OpaquePointer) {
    // Until the TLS handshake, the connection is a GSocketConnection.
    let handler:
      @convention(c) (
        OpaquePointer?, GSocketClientEvent, UnsafeMutablePointer<GSocketConnection>?, UnsafeMutableRawPointer?
      ) -> Void = { _, event, connection, data in
        guard event == G_SOCKET_CLIENT_CONNECTING || event == G_SOCKET_CLIENT_CONNECTED, let connection, let data
        else { return }
        Unmanaged<ServerCheck>.fromOpaque(data).takeUnretainedValue().check(connection)
      }
    _ = soup.g_signal_connect_data(
      UnsafeMutableRawPointer(message), "network-event", unsafeBitCast(handler, to: GCallback.self),
      Unmanaged.passRetained(self).toOpaque(),
      { data, _ in
        if let data { Unmanaged<ServerCheck>.fromOpaque(data).release() }
      }, GConnectFlags(rawValue: 0))
  }

  /// A connection is about to be made, or stands.
  private func check(_ connection: UnsafeMutablePointer<GSocketConnection>) {
    guard servers != .all else { return }
    let server = address(soup.g_socket_connection_get_remote_address(connection, nil))
    let own = address(soup.g_socket_connection_get_local_address(connection, nil))
    let isOnThisMachine = server.map { $0.reach == .thisMachine || $0.host == own?.host } ?? false
    let isAllowed = servers == .thisMachine ? isOnThisMachine : server?.reach == .everywhere && !isOnThisMachine
    guard !isAllowed else { return }
    let name = server?.host ?? "unknown"
    failure = HTTPFailure(
      servers == .thisMachine
        ? "its address, \(name), is not on this machine, and only https goes to others"
        : "its address, \(name), is on this machine or in a network around it, where a head unit on another machine has "
          + "no business")
    // Before it is connected, too.
    if let socket = soup.g_socket_connection_get_socket(connection) { _ = soup.g_socket_close(socket, nil) }
    soup.g_cancellable_cancel(cancellable)
  }

  /// Takes `address` over.
  private func address(_ address: UnsafeMutablePointer<GSocketAddress>?) -> SocketAddress? {
    guard let address else { return nil }
    defer { soup.g_object_unref(address) }
    let size = soup.g_socket_address_get_native_size(address)
    var storage = sockaddr_storage()
    guard size > 0, size <= MemoryLayout<sockaddr_storage>.size else { return nil }
    return withUnsafeMutablePointer(to: &storage) { storage in
      guard soup.g_socket_address_to_native(address, storage, gsize(size), nil) != 0 else { return nil }
      return storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        SocketAddress(copying: $0, length: socklen_t(size))
      }
    }
  }
}
