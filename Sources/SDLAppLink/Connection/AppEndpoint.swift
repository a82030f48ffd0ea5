import SDLLink
import SDLWire

extension AppConnection {
  /// How to get a connected descriptor for the head unit.
  package enum Endpoint: Sendable {
    /// A host name or numeric address, IPv6 without brackets.
    case tcp(host: String, port: UInt16)
    case webSocket(WebSocketServer)
    /// An established connection. It can't be made again, so there should be no ``Configuration/reconnection``.
    case descriptor(ConnectedDescriptor)
    /// Any other way, such as connections that come by themselves. It is started by the connection, and stopped at its
    /// end.
    case transport(any Transport)

    /// The kind of its connections. Nothing is known about a descriptor.
    package var transportClass: TransportClass {
      switch self {
      case .tcp, .webSocket, .descriptor: .tcpWiFi
      case .transport(let transport): transport.transportClass
      }
    }

    /// Whether the head unit at the other end of `socket` is on this machine.
    func isOnThisMachine(_ socket: Socket) -> Bool {
      switch self {
      case .tcp, .webSocket: socket.isPeerOnThisMachine
      case .descriptor(let descriptor): descriptor.isLocal
      case .transport(let transport): transport.isOnThisMachine
      }
    }
  }
}
