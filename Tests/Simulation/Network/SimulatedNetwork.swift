import Glibc
import SDLLink
import TestSupport

/// Virtual time, and the kernel of all simulated machines: TCP between them, with faults.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class SimulatedNetwork: @unchecked Sendable {
  /// How a path behaves; both directions alike.
  struct Conditions: Codable, Equatable {
    /// One way, in milliseconds.
    var delay = 1
    /// Bits per second; nil for no bound.
    var rate: Int?
    /// The most bytes of one read, or write; small ones show what counts on whole frames.
    var piece = 1 << 20
    /// Bytes that one side takes and the other has not read.
    var capacity = 128 << 10

    /// A heartbeat may wait for too long after what was sent before it, such as a policy of 140 kB: what there is room
    /// for moves once in each delay.
    var isSlow: Bool { delay > 20 || rate != nil || capacity < 500 * delay }
  }

  /// A path of which faults are told.
  enum Path: String, CaseIterable {
    case primary
    case secondary
  }

  private(set) var now = Duration.seconds(1000)
  var conditions = Conditions()
  private var random: SeededGenerator
  private var ends: [Int32: NetworkEnd] = [:]
  private var lastDescriptor: Int32 = 1 << 20
  private var lastPort: UInt16 = 40_000
  /// The port of the first connections; the others are secondary.
  static let primaryPort: UInt16 = 12_345
  static let webSocketPort: UInt16 = 2020
  static let carHost = "192.0.2.1"
  /// Machines whose WebSockets are framed as another implementation might, in both directions.
  var foreignHosts: Set<String> = []

  /// Sees all bytes that are written to a socket (true) or read from it.
  var tap: (([UInt8], NetworkEnd, Bool) -> Void)?

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  /// All bytes that were written or read.
  var movedByteCount = 0

  /// For those that have not been closed yet.
  var openSocketCount: Int { ends.count }

  var clock: TimeSource { TimeSource { self.now } }

  func advance(to time: Duration) {
    now = max(now, time)
    for end in ends.values { end.deliver(now: now) }
  }

  /// When something arrives next.
  var nextArrival: Duration? { ends.values.compactMap { $0.nextArrival }.min() }

  func makeSocket(host: String) -> Socket? {
    lastDescriptor += 1
    lastPort &+= 1
    let end = NetworkEnd(id: lastDescriptor, host: host, port: lastPort)
    ends[end.id] = end
    return SimulatedSocket(end, network: self)
  }

  func close(_ descriptor: Int32) {
    ends.removeValue(forKey: descriptor)?.close(now: now, conditions)
  }

  func end(_ descriptor: Int32) -> NetworkEnd? { ends[descriptor] }

  /// What poll(2) would find.
  func poll(_ descriptors: inout [pollfd]) -> Bool {
    var isAnyReady = false
    for index in descriptors.indices {
      descriptors[index].revents = 0
      guard let end = ends[descriptors[index].fd] else { continue }
      let always = Int32(POLLHUP | POLLERR)
      descriptors[index].revents = Int16(end.events(conditions) & (Int32(descriptors[index].events) | always))
      if descriptors[index].revents != 0 { isAnyReady = true }
    }
    return isAnyReady
  }

  /// The connection being made, if something listens there.
  func connect(_ end: NetworkEnd, to port: UInt16) -> Int32 {
    guard let listener = ends.values.first(where: { $0.isListening && $0.port == port }) else {
      return ECONNREFUSED
    }
    lastDescriptor += 1
    let other = NetworkEnd(id: lastDescriptor, host: listener.host, port: port)
    other.join(end)
    end.join(other)
    end.path = [Self.primaryPort, Self.webSocketPort].contains(port) ? .primary : .secondary
    other.path = end.path
    if port == Self.webSocketPort {
      (end.isWebSocketClient, other.isWebSocketClient) = (true, false)
      if foreignHosts.contains(end.host) {
        end.framing = ForeignFraming(isClient: true, seed: UInt64(end.id))
        other.framing = ForeignFraming(isClient: false, seed: UInt64(other.id))
      }
    }
    end.connects(at: now + .milliseconds(conditions.delay * 2))
    listener.backlog.append((other, now + .milliseconds(conditions.delay)))
    return EINPROGRESS
  }

  func accept(_ listener: NetworkEnd) -> Socket? {
    guard let (end, time) = listener.backlog.first, time <= now else {
      errno = EAGAIN
      return nil
    }
    listener.backlog.removeFirst()
    ends[end.id] = end
    return SimulatedSocket(end, network: self)
  }

  /// Whether the first connection of a machine takes no more bytes, and there is no other.
  func isFull(host: String) -> Bool {
    let own = ends.values.filter { $0.host == host && $0.peer != nil }
    return own.count == 1 && own.allSatisfy { $0.path == .primary && $0.error == 0 && $0.room(conditions) == 0 }
  }

  /// How many bytes one system call moves of `count`.
  func piece(of count: Int) -> Int {
    let most = min(count, conditions.piece)
    return most > 1 && conditions.piece < 1 << 20 ? Int.random(in: 1...most, using: &random) : most
  }

  // MARK: Faults

  private func connected(_ path: Path) -> [NetworkEnd] { ends.values.filter { $0.path == path && $0.peer != nil } }

  /// Nothing arrives on it for a while.
  func stall(_ path: Path, for time: Duration) {
    for end in connected(path) { end.stall(until: now + time) }
  }

  /// All connections break; both sides notice, but one of them later by `gap`.
  func cut(_ path: Path, gap: Duration) {
    for end in connected(path) {
      end.reset(at: end.host == Self.carHost ? now + gap : now, code: ECONNRESET)
    }
  }

  /// Bytes vanish, and each side gives up once its keep-alives are not answered.
  func silence(_ path: Path, for time: Duration) {
    for end in connected(path) { end.reset(at: now + time, code: ETIMEDOUT, losesBytes: true) }
  }

  /// One side sends no more, although it does not know that.
  func halfClose(_ path: Path, fromCar: Bool) {
    for end in connected(path) where (end.host == Self.carHost) != fromCar { end.finish(at: now) }
  }
}
