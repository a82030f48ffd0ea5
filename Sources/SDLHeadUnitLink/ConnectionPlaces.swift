import SDLLink

/// Who gets a place when there are as many connections as allowed.
///
/// An address with fewer connections gets the place of one with more, so that nobody can take them all. While all
/// connections have one address, as on a developer's machine, it may use every place.
struct ConnectionPlaces {
  /// Younger connections without an app are not closed in favour of those of an address that has as many.
  static let minimumRegistrationTime = Duration.seconds(1)

  struct Occupant {
    var address: String
    var connectTime: Duration
    var state: State
  }

  /// In the order in which places are taken away.
  enum State {
    case unregistered
    /// Apps are registered, and neither shown nor heard.
    case idle
    /// Never closed for another.
    case active
  }

  let most: Int

  /// An address that has so many gives places to others even if its apps are registered.
  var share: Int { max(most / 4, 1) }

  /// - Returns: the index of the occupant to close for a connection from `newcomer`; nil if that gets no place.
  func place(for newcomer: String, among occupants: [Occupant], now: Duration) -> Int? {
    let counts = Dictionary(occupants.map { ($0.address, 1) }, uniquingKeysWith: +)
    let own = counts[newcomer] ?? 0
    func count(_ occupant: Occupant) -> Int { counts[occupant.address] ?? 0 }
    /// The one that has been there longest, of the address that has most.
    func first(where mayClose: (Occupant) -> Bool) -> Int? {
      occupants.indices.filter { mayClose(occupants[$0]) }.min { left, right in
        let (left, right) = (occupants[left], occupants[right])
        return (-count(left), left.connectTime) < (-count(right), right.connectTime)
      }
    }
    // One more here and one less there leaves the other address as many, at least.
    return first { $0.state == .unregistered && count($0) > own + 1 }
      ?? first { $0.state == .idle && count($0) > own + 1 && count($0) >= share }
      ?? first { $0.state == .unregistered && now - $0.connectTime >= Self.minimumRegistrationTime }
  }
}

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
