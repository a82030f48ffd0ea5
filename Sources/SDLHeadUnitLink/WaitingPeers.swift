import SDLLink

/// Connections that the kernel has made and that are not served yet, because there have been too many in a second.
///
/// The next one is of the address with the fewest, so that one that connects again and again keeps nobody waiting.
struct WaitingPeers {
  /// More are closed.
  static let mostCount = 64

  /// A connection from one of the ports.
  struct Peer {
    let socket: Socket
    let role: ServedConnection.Role
    let address: ServedConnection.Address
    /// For people.
    let name: String

    init(_ socket: Socket, _ role: ServedConnection.Role) {
      let name = socket.peerAddress?.description ?? "the app"
      self.init(socket, role, name: name, address: ServedConnection.Address(socket, peer: name))
    }

    init(_ socket: Socket, _ role: ServedConnection.Role, name: String, address: ServedConnection.Address) {
      (self.socket, self.role, self.name, self.address) = (socket, role, name, address)
    }
  }

  private(set) var peers: [Peer] = []

  var isEmpty: Bool { peers.isEmpty }

  /// - Returns: of too many, the newest one of the address that has most, to be closed.
  mutating func append(_ peer: Peer) -> Peer? {
    peers.append(peer)
    guard peers.count > Self.mostCount else { return nil }
    let counts = Dictionary(peers.map { ($0.address.network, 1) }, uniquingKeysWith: +)
    let busiest = counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    return peers.lastIndex { $0.address.network == busiest }.map { peers.remove(at: $0) }
  }

  /// - Parameter count: how many connections an address has.
  mutating func takeNext(_ count: (String) -> Int) -> Peer? {
    let next = peers.indices.min { (count(peers[$0].address.network), $0) < (count(peers[$1].address.network), $1) }
    return next.map { peers.remove(at: $0) }
  }
}
