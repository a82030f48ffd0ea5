import SDLHeadUnit
import SDLMessages
import SDLWire

/// What is known of a registered app.
struct AppRecord: Sendable {
  /// Of its session.
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
}

/// The apps that are registered with a head unit, in their order; at most one in each session.
struct ServedApps: Sendable {
  private(set) var all: [AppRecord] = []
  /// Addresses of the connections, by the ids of their sessions, with and without registered apps.
  private(set) var peers: [UInt8: String] = [:]
  /// The app whose status changed last.
  private var lastChanged: UInt8?

  /// The app on the screen: the one with the highest HMI level, and of several the one whose status changed last.
  var onScreen: AppRecord? {
    all.filter { ($0.status?.level ?? HMILevel.none) != HMILevel.none }
      .max { ($0.rank, $0.id == lastChanged ? 1 : 0) < ($1.rank, $1.id == lastChanged ? 1 : 0) }
      ?? all.first { $0.id == lastChanged }
  }

  subscript(_ id: UInt8) -> AppRecord? { all.first { $0.id == id } }

  /// Sessions of one connection have the same peer.
  var connectionCount: Int { Set(peers.values).count }

  /// Notes a session.
  /// - Returns: whether it is the first of its connection.
  mutating func connected(_ id: UInt8, peer: String) -> Bool {
    let isFirst = !peers.values.contains(peer)
    peers[id] = peer
    return isFirst
  }

  mutating func disconnected(_ id: UInt8) {
    peers[id] = nil
    remove(id)
  }

  /// Adds an app, and returns its record with the address of its connection.
  mutating func add(_ app: AppRecord) -> AppRecord {
    remove(app.id)
    var app = app
    app.peer = peers[app.id] ?? ""
    all.append(app)
    return app
  }

  mutating func remove(_ id: UInt8) {
    all.removeAll { $0.id == id }
  }

  mutating func setStatus(_ status: HMIStatus, of id: UInt8) {
    guard let index = all.firstIndex(where: { $0.id == id }) else { return }
    all[index].status = status
    lastChanged = id
  }

  mutating func setVideo(_ video: VideoServiceParameters?, of id: UInt8) {
    guard let index = all.firstIndex(where: { $0.id == id }) else { return }
    all[index].video = video
  }
}

extension AppRecord {
  fileprivate var rank: Int32 { (status?.level ?? HMILevel.none).row.number }
}
