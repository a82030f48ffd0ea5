import GStreamerKit
import SDLApp

/// An element's messages about the transports of its app, and the structure of the property `transports`.
extension AppElement {
  /// `sdl-transport-changed`: the state of the secondary transport has changed.
  func postTransportChanged(_ status: SecondaryTransportStatus) {
    let message = Structure("sdl-transport-changed")
    message.set("transport", "secondary")
    status.fill(message)
    postElementMessage(message)
  }
}

extension AppStatus {
  /// The property `transports`; nil without a connection.
  func transportsStructure(primary: TransportClass) -> Structure? {
    guard connection == .ready || connection == .streaming else { return nil }
    let structure = Structure("application/x-sdl-transports")
    let first = Structure("application/x-sdl-transport")
    first.set("class", primary.rawValue)
    first.set("state", "registered")
    first.set("address", peer ?? "")
    first.set("services", services(on: .primary))
    structure.set("primary", first)
    let secondary = session.secondary
    guard secondary.state != .none else { return structure }
    let second = Structure("application/x-sdl-transport")
    secondary.fill(second)
    second.set("services", services(on: .secondary))
    second.set("updates", UInt64(secondary.counters.updates))
    second.set("attempts", UInt64(secondary.counters.attempts))
    second.set("registrations", UInt64(secondary.counters.registrations))
    structure.set("secondary", second)
    return structure
  }

  /// Such as "rpc, video".
  private func services(on role: TransportRole) -> String {
    var names = role == .primary ? ["rpc"] : []
    if session.video.grant?.role == role { names.append(StreamService.video.rawValue) }
    if session.audio.grant?.role == role { names.append(StreamService.audio.rawValue) }
    return names.joined(separator: ", ")
  }
}

extension SecondaryTransportStatus {
  fileprivate func fill(_ structure: borrowing Structure) {
    structure.set("class", TransportClass.tcpWiFi.rawValue)
    structure.set("state", state.rawValue)
    structure.set("address", address?.description)
    structure.set("reason", reason)
  }
}

/// Values of the property `secondary-transport`.
enum SecondaryTransportPolicy: CaseIterable {
  case auto
  case none
}

extension SecondaryTransportPolicy: ObjectEnumeration {
  static let objectType = EnumerationType<SecondaryTransportPolicy>("GstSdlSecondaryTransport")

  var row: EnumerationRow {
    switch self {
    case .auto:
      .init(0, "auto", "Use a secondary transport if the head unit offers one, for the services that it allows there")
    case .none: .init(1, "none", "Use the first connection only")
    }
  }
}
