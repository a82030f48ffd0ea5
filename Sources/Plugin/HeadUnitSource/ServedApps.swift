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
  var peer: String
  /// Nil before the first.
  var status: HMIStatus?
  /// Nil while there is no video service.
  var video: VideoServiceParameters?
}

/// The apps that are registered with a head unit, in their order.
struct ServedApps: Sendable {
  private(set) var all: [AppRecord] = []
  /// Of connections, with and without apps.
  private(set) var peers: [UInt8: String] = [:]

  /// The app on the screen: the most prominent one, and of several the one whose status changed last.
  var onScreen: AppRecord? {
    all.filter { ($0.status?.level ?? HMILevel.none) != HMILevel.none }
      .max { ($0.prominence, $0.id == lastChanged ? 1 : 0) < ($1.prominence, $1.id == lastChanged ? 1 : 0) }
      ?? all.first { $0.id == lastChanged }
  }

  private var lastChanged: UInt8?

  subscript(_ id: UInt8) -> AppRecord? { all.first { $0.id == id } }

  mutating func connected(_ id: UInt8, peer: String) {
    peers[id] = peer
  }

  mutating func disconnected(_ id: UInt8) {
    peers[id] = nil
    remove(id)
  }

  mutating func add(_ app: AppRecord) {
    remove(app.id)
    all.append(app)
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
  fileprivate var prominence: Int {
    Int((status?.level ?? HMILevel.none).enumValue)
  }
}
