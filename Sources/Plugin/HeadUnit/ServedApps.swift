import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import SDLWire

struct AppRecord: Sendable {
  /// The number of its session.
  var id: UInt8
  var name: String
  var appID: String
  var types: [AppHMIType]
  var protocolVersion: ProtocolVersion
  /// Address of its end of the connection.
  var peer: String
  /// Nil before the first.
  var status: HMIStatus?
  /// Nil while there is no video service.
  var video: VideoServiceParameters?
  var videoTransport = TransportRole.primary
  /// The transport of the audio service; nil while there is none.
  var audioTransport: TransportRole?
  var hasStreamed = false
  /// The buttons of the car that it has subscribed to.
  var buttons: Set<String> = []
  var hasSecondaryTransport = false
}

/// The apps that are registered with a head unit, in their order; at most one in each session.
struct ServedApps: Sendable {
  private(set) var all: [AppRecord] = []
  /// Addresses of the connections, by the numbers of their sessions, with and without registered apps.
  private(set) var peers: [UInt8: String] = [:]
  /// The sessions that have a secondary transport.
  private var secondaryTransports: Set<UInt8> = []
  /// The app whose status changed last.
  private var lastChanged: UInt8?

  /// The app on the screen: the one with the highest HMI level, and of several the one whose status changed last.
  var onScreen: AppRecord? {
    all.filter { ($0.status?.level ?? HMILevel.none) != HMILevel.none }
      .max { ($0.rank, $0.id == lastChanged ? 1 : 0) < ($1.rank, $1.id == lastChanged ? 1 : 0) }
      ?? all.first { $0.id == lastChanged }
  }

  /// The HMI level of the app on the screen; nil without one.
  var levelOnScreen: HMILevel? { onScreen?.status?.level }

  subscript(_ id: UInt8) -> AppRecord? { all.first { $0.id == id } }

  /// Sessions of one connection have the same peer.
  var connectionCount: Int { Set(peers.values).count }

  mutating func note(_ event: HeadUnitServerEvent) {
    switch event {
    case .connected(let id, let peer): peers[id] = peer
    case .disconnected(let id, _, _):
      peers[id] = nil
      remove(id)
    // It may exist before the app is registered.
    case .session(let id, .secondaryTransportRegistered):
      secondaryTransports.insert(id)
      change(id) { $0.hasSecondaryTransport = true }
    case .session(let id, .secondaryTransportLost):
      secondaryTransports.remove(id)
      change(id) { $0.hasSecondaryTransport = false }
    case .session(let id, let event): note(event, of: id)
    case .refused, .secondaryTransportRefused, .secondaryPortFailed, .stepExecuted, .stepSkipped, .transport,
      .stepsDropped, .tested, .testEnded, .ended:
      break
    }
  }

  private mutating func note(_ event: HeadUnitSession.Event, of id: UInt8) {
    switch event {
    case .appRegistered(let name, let appID, let types, let version, _):
      remove(id)
      all.append(
        AppRecord(
          id: id, name: name, appID: appID, types: types, protocolVersion: version, peer: peers[id] ?? "",
          hasSecondaryTransport: secondaryTransports.contains(id)))
    case .appUnregistered: remove(id)
    case .nameChanged(let name): change(id) { $0.name = name }
    case .hmiStatusSent(let status), .systemContextSent(let status):
      // Other windows are widgets.
      guard status.windowID == 0 else { return }
      change(id) { $0.status = status }
      if self[id] != nil { lastChanged = id }
    case .videoStarted(let parameters, let transport):
      change(id) { ($0.video, $0.videoTransport, $0.hasStreamed) = (parameters, transport, true) }
    case .videoStopped: change(id) { $0.video = nil }
    case .audioStarted(_, let transport): change(id) { ($0.audioTransport, $0.hasStreamed) = (transport, true) }
    case .buttonsSubscribed(let buttons): change(id) { $0.buttons = buttons }
    case .audioStopped: change(id) { $0.audioTransport = nil }
    default: break
    }
  }

  private mutating func remove(_ id: UInt8) {
    all.removeAll { $0.id == id }
  }

  private mutating func change(_ id: UInt8, _ change: (inout AppRecord) -> Void) {
    guard let index = all.firstIndex(where: { $0.id == id }) else { return }
    change(&all[index])
  }
}

extension AppRecord {
  fileprivate var rank: Int32 { (status?.level ?? HMILevel.none).row.number }
}
