import Glibc

/// Connects to whichever of several addresses answers first (RFC 8305, "Happy Eyeballs").
package struct Connector {
  package enum Outcome {
    case connected(Socket, SocketAddress)
    case failed(LinkError)
    /// `isWanted` became false.
    case interrupted
  }

  private struct Attempt {
    var socket: Socket
    var address: SocketAddress
  }

  /// When the next address is tried although the last has not answered (RFC 8305, section 5).
  package static let attemptDelay = Duration.milliseconds(250)
  /// The most addresses of a name that are tried.
  package static let maximumAddressCount = 16

  private var remaining: ArraySlice<SocketAddress>
  private var attempts: [Attempt] = []
  private var failures: [(address: SocketAddress, errno: Int32)] = []
  private var nextAttempt: Duration
  private let timeout: Duration
  private let deadline: Duration
  private let clock: TimeSource
  private let makeSocket: SocketMaker

  /// `timeout` is only for the error's text; `deadline` is what ends the attempts.
  package init(
    addresses: [SocketAddress], timeout: Duration, deadline: Duration, clock: TimeSource,
    makeSocket: @escaping SocketMaker = Socket.tcp
  ) {
    self.makeSocket = makeSocket
    remaining = addresses.interleavedByFamily.prefix(Self.maximumAddressCount)[...]
    self.timeout = timeout
    self.deadline = deadline
    self.clock = clock
    nextAttempt = clock.now
  }

  /// Blocks until there is a connection, or none can be made, or, after a signal of `wakeUp`, `isWanted` is false.
  package mutating func run(
    wakeUp: WakeUp, isWanted: () -> Bool, willTry: (SocketAddress) -> Void
  ) -> Outcome {
    while isWanted() {
      if let outcome = advance(willTry: willTry) { return outcome }
      if let outcome = wait(wakeUp: wakeUp) { return outcome }
    }
    return .interrupted
  }

  /// Begins the attempts that are due. Without an outcome, wait for ``descriptors`` until ``nextDeadline``, pass the
  /// result of poll(2) to ``handle(_:)``, and call again.
  package mutating func advance(willTry: (SocketAddress) -> Void = { _ in }) -> Outcome? {
    while true {
      let now = clock.now
      // The first one is tried however late it is, so that there is an address to name.
      if now >= deadline, !triedAddresses.isEmpty {
        return .failed(.connectingTimedOut(addresses: triedAddresses, after: timeout))
      }
      guard nextAttempt <= now, let address = remaining.popFirst() else { break }
      nextAttempt = now + Self.attemptDelay
      willTry(address)
      if let socket = begin(address) { return .connected(socket, address) }
    }
    return attempts.isEmpty && remaining.isEmpty ? .failed(failure) : nil
  }

  /// What to wait for; at most ``maximumAddressCount``.
  package var descriptors: [pollfd] {
    attempts.map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLOUT), revents: 0) }
  }

  /// When ``advance(willTry:)`` has something to do.
  package var nextDeadline: Duration { remaining.isEmpty ? deadline : min(deadline, nextAttempt) }

  /// Starts to connect; a socket when that succeeded on the spot.
  private mutating func begin(_ address: SocketAddress) -> Socket? {
    guard let socket = makeSocket(address.family) else {
      fail(address, errno)
      return nil
    }
    switch socket.connect(to: address) {
    case 0: return socket
    // After EINTR the connection is made in the background as well.
    case EINPROGRESS, EINTR: attempts.append(Attempt(socket: socket, address: address))
    case let code: fail(address, code)
    }
    return nil
  }

  private mutating func wait(wakeUp: WakeUp) -> Outcome? {
    var descriptors = self.descriptors
    descriptors.append(pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0))
    let until = nextDeadline
    descriptors.withUnsafeMutableBufferPointer { pollDescriptors($0, until: until, clock: clock) }
    wakeUp.clear()
    return handle(descriptors.dropLast())
  }

  /// Looks at the ``descriptors`` as poll(2) has left them.
  package mutating func handle(_ descriptors: ArraySlice<pollfd>) -> Outcome? {
    let answered = zip(attempts, descriptors).filter { $0.1.revents != 0 }.map(\.0)
    for attempt in answered {
      let code = attempt.socket.takeError()
      if code == 0 { return .connected(attempt.socket, attempt.address) }
      attempts.removeAll { $0.socket === attempt.socket }
      fail(attempt.address, code)
    }
    return nil
  }

  /// The next address is tried at once.
  private mutating func fail(_ address: SocketAddress, _ code: Int32) {
    failures.append((address, code))
    nextAttempt = .zero
  }

  private var triedAddresses: [String] {
    (failures.map(\.address) + attempts.map(\.address)).map(\.description)
  }

  /// The most informative of the failures: a refusal, for example, comes from a machine that is there.
  private var failure: LinkError {
    let codes = failures.map(\.errno)
    if codes.contains(ECONNREFUSED) { return .refused(addresses: triedAddresses) }
    if codes.contains(ETIMEDOUT) { return .connectingTimedOut(addresses: triedAddresses, after: timeout) }
    let unreachable = [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EAFNOSUPPORT]
    if let code = codes.first(where: { !unreachable.contains($0) }) {
      return .cannotConnect(addresses: triedAddresses, errno: code)
    }
    return .unreachable(addresses: triedAddresses)
  }
}
