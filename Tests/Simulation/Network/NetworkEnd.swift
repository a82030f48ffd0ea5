import Glibc
import SDLLink

/// One end of a simulated connection, or a port that listens: what has arrived, and what is on the way to it.
final class NetworkEnd {
  private struct Chunk {
    var arrival: Duration
    var bytes: ArraySlice<UInt8>
  }

  /// No other end of the simulation has the same.
  let id: Int32
  let host: String
  var port: UInt16
  var path: SimulatedNetwork.Path?
  /// Nil for a connection that is no WebSocket.
  var isWebSocketClient: Bool?
  /// Of what is written here.
  var framing: ForeignFraming?
  private(set) weak var peer: NetworkEnd?
  private(set) var isListening = false
  var backlog: [(end: NetworkEnd, time: Duration)] = []

  private var connectedAt: Duration?
  private var isConnecting = false
  /// What has landed stays at its beginning for a while: moving the rest for each chunk would be most of the work.
  private var flight: [Chunk] = []
  private var landedCount = 0
  private var flightByteCount = 0
  private var received: [UInt8] = []
  private var readOffset = 0
  /// When the last byte sent to here has left the bottleneck.
  private var busyUntil = Duration.zero
  private var stalledUntil = Duration.zero
  private var finishAt: Duration?
  private var isFinished = false
  private var resetAt: Duration?
  private(set) var error: Int32 = 0
  private var losesBytes = false
  private var peerAddressParts: (host: String, port: UInt16)?
  /// All bytes that were read here, and that were written here.
  private(set) var readByteCount = 0

  init(id: Int32, host: String, port: UInt16) {
    self.id = id
    self.host = host
    self.port = port
  }

  func listen() {
    isListening = true
  }

  func join(_ other: NetworkEnd) {
    peer = other
    peerAddressParts = (other.host, other.port)
  }

  func connects(at time: Duration) {
    connectedAt = time
    isConnecting = true
  }

  var peerAddress: SocketAddress? { peerAddressParts.flatMap { Self.address($0.host, $0.port) } }

  static func address(_ host: String, _ port: UInt16) -> SocketAddress? {
    try? Resolver.addresses(host: host, port: port, flags: AI_NUMERICHOST).get().first
  }

  private var unreadByteCount: Int { received.count - readOffset }
  /// On the way to here, or here and not read.
  private var heldByteCount: Int { flightByteCount + unreadByteCount }

  /// Sent to the peer, and not taken by its kernel.
  var unacknowledgedByteCount: Int { peer?.flightByteCount ?? 0 }

  // MARK: System calls

  func write(_ bytes: [UInt8], now: Duration, _ conditions: SimulatedNetwork.Conditions) -> Socket.Transfer {
    if error != 0 { return .failed(errno: error) }
    guard let peer, !peer.isClosed, !isShutDown else { return .failed(errno: EPIPE) }
    peer.take(framing?.take(bytes) ?? bytes, now: now, conditions)
    return .bytes(bytes.count)
  }

  func room(_ conditions: SimulatedNetwork.Conditions) -> Int {
    guard let peer, !peer.isClosed else { return 1 }
    return max(conditions.capacity - peer.heldByteCount, 0)
  }

  private func take(_ bytes: [UInt8], now: Duration, _ conditions: SimulatedNetwork.Conditions) {
    guard !losesBytes, error == 0, !bytes.isEmpty else { return }
    busyUntil = max(busyUntil, now)
    if let rate = conditions.rate { busyUntil += .nanoseconds(bytes.count * 8 * 1_000_000_000 / rate) }
    // TCP keeps the order, whatever becomes of the delay.
    let arrival = max(busyUntil + .milliseconds(conditions.delay), flight.last?.arrival ?? .zero)
    flight.append(Chunk(arrival: arrival, bytes: bytes[...]))
    flightByteCount += bytes.count
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, most: Int) -> Socket.Transfer {
    if unreadByteCount > 0 {
      let count = min(most, unreadByteCount)
      received.withUnsafeBytes {
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[readOffset...][..<(readOffset + count)]))
      }
      readOffset += count
      readByteCount += count
      if readOffset == received.count {
        received.removeAll(keepingCapacity: true)
        readOffset = 0
      }
      return .bytes(count)
    }
    if error != 0 { return .failed(errno: error) }
    return isFinished ? .endOfStream : .wouldBlock
  }

  var readableByteCount: Int { unreadByteCount }

  private(set) var isClosed = false
  private var isShutDown = false

  /// Ends both directions.
  func shutDown(now: Duration, _ conditions: SimulatedNetwork.Conditions) {
    isShutDown = true
    isFinished = true
    peer?.finish(at: now + .milliseconds(conditions.delay))
  }

  func close(now: Duration, _ conditions: SimulatedNetwork.Conditions) {
    isClosed = true
    for (end, _) in backlog { end.close(now: now, conditions) }
    backlog = []
    guard let peer else { return }
    let arrival = now + .milliseconds(conditions.delay)
    // What was not read makes the kernel reset the connection.
    if heldByteCount > 0 { peer.reset(at: arrival, code: ECONNRESET) } else { peer.finish(at: arrival) }
  }

  /// POLLIN, POLLOUT, POLLRDHUP, POLLHUP, POLLERR as they hold now.
  func events(_ conditions: SimulatedNetwork.Conditions) -> Int32 {
    if isListening { return hasArrivedConnection ? POLLIN : 0 }
    if isConnecting { return error != 0 ? POLLOUT | POLLERR | POLLHUP : 0 }
    var events: Int32 = 0
    if unreadByteCount > 0 || isFinished || error != 0 { events |= POLLIN }
    if isFinished { events |= 0x2000 }
    if error != 0 { events |= POLLERR | POLLHUP | POLLOUT }
    // As TCP_NOTSENT_LOWAT: not for a few bytes.
    if room(conditions) > min(conditions.capacity / 4, 4096) { events |= POLLOUT }
    return events
  }

  var isClosedByPeer: Bool { isFinished || error != 0 }

  private var isInFlight: Bool { landedCount < flight.count }

  private func clearFlight() {
    flight = []
    landedCount = 0
    flightByteCount = 0
  }

  // MARK: Time

  private var hasArrivedConnection = false

  var nextArrival: Duration? {
    var times = [connectedAt, resetAt, backlog.first?.time].compactMap(\.self)
    if let finishAt, !isInFlight { times.append(max(finishAt, stalledUntil)) }
    if isInFlight { times.append(max(flight[landedCount].arrival, stalledUntil)) }
    if hasArrivedConnection { times.removeAll { $0 == backlog.first?.time } }
    return times.min()
  }

  func deliver(now: Duration) {
    hasArrivedConnection = backlog.first.map { $0.time <= now } ?? false
    if let connectedAt, connectedAt <= now {
      isConnecting = false
      self.connectedAt = nil
    }
    if let resetAt, resetAt <= now {
      self.resetAt = nil
      error = resetCode
      clearFlight()
    }
    guard stalledUntil <= now else { return }
    while isInFlight, flight[landedCount].arrival <= now {
      if readOffset > 1 << 16 {
        received.removeSubrange(..<readOffset)
        readOffset = 0
      }
      received += flight[landedCount].bytes
      flightByteCount -= flight[landedCount].bytes.count
      flight[landedCount].bytes = []
      landedCount += 1
    }
    if landedCount > flight.count / 2 {
      flight.removeFirst(landedCount)
      landedCount = 0
    }
    if let finishAt, !isInFlight, finishAt <= now {
      isFinished = true
      self.finishAt = nil
    }
  }

  // MARK: Faults

  private var resetCode: Int32 = 0

  func reset(at time: Duration, code: Int32, losesBytes: Bool = false) {
    guard resetAt.map({ time < $0 }) ?? true, error == 0 else { return }
    resetAt = time
    resetCode = code
    if losesBytes {
      self.losesBytes = true
      clearFlight()
    }
  }

  func stall(until time: Duration) { stalledUntil = max(stalledUntil, time) }

  func finish(at time: Duration) { if !isFinished, finishAt == nil { finishAt = time } }
}
