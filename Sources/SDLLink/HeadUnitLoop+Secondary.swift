import CLinux
import Glibc
import SDLHeadUnit
import SDLWire

/// The port for secondary transports.
extension HeadUnitLoop {
  /// -1, which poll(2) ignores, while nobody can be accepted.
  func secondaryDescriptor(now: Duration) -> Int32 {
    guard configuration.behaviour.secondaryTransport == .served, !isRefusing, let port = server.secondaryListener,
      canAccept
    else { return -1 }
    if !port.reopen() { acceptPausedUntil = now + Self.acceptPause }
    return port.descriptor
  }

  /// Offers a secondary transport at this port, at any other that is free if it is 0, or at the one that there is if it is
  /// nil.
  func serveSecondary(port: UInt16?, now: Duration) {
    do throws(LinkError) {
      let former = server.secondaryListener
      if let former, port == nil || port == former.address.port {
        guard former.reopen() else {
          throw .cannotListen(address: former.address.description, errno: EADDRINUSE)
        }
      } else {
        _ = try server.openSecondaryPort(port ?? server.admission.secondaryPort)
      }
    } catch {
      return server.report(.secondaryPortFailed(error))
    }
    let change = HeadUnitBehaviour.Change.secondaryTransport(.served)
    configuration.behaviour.apply(change)
    for app in apps {
      let address = servedTransport(for: app)
      app.perform { session in
        let update = session.setServedTransport(address, now: now)
        // Each change is told once.
        return update.isEmpty ? session.change(change, now: now) : update
      }
    }
  }

  /// Where this app reaches the port: at the address of its primary transport, which it has reached before.
  func servedTransport(for app: ServedApp) -> TransportEventUpdate? {
    guard let port = server.secondaryListener else { return nil }
    let host =
      app.connection.localAddress?.host
      ?? (port.isOnAllAddresses ? SocketAddress.ofThisMachine?.host ?? "127.0.0.1" : port.address.host)
    // Without the name of this machine's interface (RFC 4007), which means nothing on another.
    return TransportEventUpdate(address: String(host.prefix { $0 != "%" }), port: Int32(port.address.port))
  }

  func refuse(_ connection: ServedConnection, _ reason: HeadUnitSession.SecondaryRefusal) {
    server.report(.secondaryTransportRefused(peer: connection.peer, reason))
  }

  func register(_ connection: ServedConnection, with frame: Frame) -> HeadUnitSession.SecondaryRegistration {
    let id = frame.header.sessionID
    guard let app = apps.first(where: { $0.id == id && $0.isStarted && !$0.connection.isOver }) else {
      let reason = id == 0 ? HeadUnitSession.SecondaryRefusal.noSessionID : .unknownSession
      refuse(connection, reason)
      return .refused(HeadUnitSession.refusal(of: frame.header, reason))
    }
    // An app that replaces its connection closes the former one first, but that may not have been read yet.
    app.secondary?.readToEnd()
    return app.register(connection, with: frame, now: clock.now)
  }
}
