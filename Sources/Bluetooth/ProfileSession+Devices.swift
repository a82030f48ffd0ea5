import SDLLink

// MARK: Adapters and devices

extension ProfileSession {
  /// The answer to ``Call/listObjects``; an error is as good as an empty list.
  mutating func objectsListed(_ objects: [Object], now: Duration) -> [Action] {
    guard registration == .done else { return [] }
    adapters = [:]
    phonePaths = []
    areObjectsKnown = true
    for object in objects { note(object) }
    return settle(now: now)
  }

  /// An object has appeared or changed.
  mutating func objectChanged(_ object: Object, now: Duration) -> [Action] {
    guard registration == .done else { return [] }
    note(object)
    return settle(now: now)
  }

  mutating func objectRemoved(path: String, now: Duration) -> [Action] {
    guard registration == .done else { return [] }
    adapters[path] = nil
    phonePaths.remove(path)
    return settle(now: now)
  }

  private mutating func note(_ object: Object) {
    if let isPowered = object.isPowered, adapters.count < Self.maximumObjectCount || adapters[object.path] != nil {
      adapters[object.path] = isPowered
    }
    if case .headUnit(let phone) = role, object.address == phone, phonePaths.count < Self.maximumObjectCount {
      phonePaths.insert(object.path)
    }
  }

  /// The phone by way of an adapter that is switched on.
  var phonePath: String? {
    phonePaths.filter { path in adapters.contains { $0.value && path.hasPrefix($0.key + "/") } }.min()
  }
}

// MARK: Connections

extension ProfileSession {
  /// `NewConnection`: a device has connected, or ``Call/connectProfile(path:)`` has.
  ///
  /// - Parameter number: names the connection from now on.
  mutating func newConnection(number: Int, path: String) -> [Action] {
    guard registration == .done, let peer = BluetoothAddress(objectPath: path) else {
      return [.log("a connection from \(path) is refused"), .refuse(connection: number)]
    }
    if let connection {
      return [
        .log("\(peer) is disconnected: \(connection.peer) is connected already"), .refuse(connection: number),
      ]
    }
    switch role {
    case .app(let only?) where only != peer, .headUnit(let only) where only != peer:
      return [.log("\(peer) is disconnected: only \(only) is waited for"), .refuse(connection: number)]
    case .app, .headUnit: break
    }
    connection = (number, peer, path)
    connectProblem = nil
    lastStatus = nil
    return [.accept(connection: number, peer: peer)]
  }

  /// `RequestDisconnection`: the user has disconnected the device, or it has left.
  mutating func disconnectionRequested(path: String) -> [Action] {
    guard let connection, connection.path == path else { return [] }
    return [.log("\(connection.peer) is being disconnected"), .disconnect(connection: connection.number)]
  }

  /// A connection that was accepted is closed.
  mutating func connectionClosed(number: Int, now: Duration) -> [Action] {
    guard let connection, connection.number == number else { return [] }
    self.connection = nil
    nextAttempt = now + retryPause
    return settle(now: now)
  }

  /// ``Call/connectProfile(path:)`` has been answered; `NewConnection` comes before that.
  mutating func profileConnected(now: Duration) -> [Action] {
    isConnecting = false
    nextAttempt = now + retryPause
    return settle(now: now)
  }

  mutating func profileConnectionFailed(_ error: CallError, now: Duration) -> [Action] {
    isConnecting = false
    nextAttempt = now + retryPause
    if case .headUnit(let phone) = role { connectProblem = .unreachable(phone, error) }
    return settle(now: now)
  }

  /// Does what the present state asks for.
  mutating func settle(now: Duration) -> [Action] {
    guard registration != .over, connection == nil else { return [] }
    var actions: [Action] = []
    if registration == .done, let path = phonePath, !isConnecting, nextAttempt <= now {
      isConnecting = true
      actions.append(.call(.connectProfile(path: path)))
    }
    if let status, status != lastStatus {
      lastStatus = status
      actions.append(.report(status))
    }
    return actions
  }

  /// Nil while it is not known yet.
  private var status: TransportStatus? {
    switch registration {
    case .noService: return .hindered(.noService)
    case .noBus, .underWay, .postponed, .over: return nil
    case .done: break
    }
    guard areObjectsKnown else { return nil }
    if adapters.isEmpty { return .hindered(.noAdapter) }
    guard adapters.values.contains(true) else { return .hindered(.switchedOff) }
    switch role {
    case .app(only: nil): return .waiting(for: "a car over Bluetooth")
    case .app(let car?): return .waiting(for: "the car \(car) over Bluetooth")
    case .headUnit(let phone):
      guard phonePath != nil else { return .hindered(.unknownPhone(phone)) }
      return connectProblem.map { .hindered($0) } ?? .waiting(for: "the phone \(phone) over Bluetooth")
    }
  }
}
