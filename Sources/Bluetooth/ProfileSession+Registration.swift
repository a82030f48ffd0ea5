/// The bus, and what BlueZ says to the registration.
extension ProfileSession {
  mutating func busConnected() -> [Action] {
    guard registration == .noBus else { return [] }
    registration = .underWay
    return [.call(.findService)]
  }

  mutating func busFailed(_ message: String) -> [Action] { fail(.noBus(message)) }

  mutating func busClosed() -> [Action] { fail(.busClosed) }

  /// The answer to ``Call/findService``. The call to register starts BlueZ where the bus can do that.
  mutating func serviceFound() -> [Action] {
    registration == .underWay ? register() : []
  }

  /// BlueZ has appeared on the bus, or gone.
  mutating func serviceChanged(isThere: Bool, now: Duration) -> [Action] {
    guard registration != .over, registration != .noBus else { return [] }
    if isThere { return registration == .noService ? register() : [] }
    registration = .noService
    takenSince = nil
    adapters = [:]
    phonePaths = []
    isConnecting = false
    return settle(now: now)
  }
}

// MARK: The registration

extension ProfileSession {
  mutating func registered() -> [Action] {
    // BlueZ may have gone meanwhile.
    guard registration == .underWay else { return [] }
    registration = .done
    takenSince = nil
    return [.call(.listObjects)]
  }

  mutating func registrationFailed(_ error: CallError, now: Duration) -> [Action] {
    guard registration == .underWay else { return [] }
    switch error.name {
    case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
      "org.freedesktop.DBus.Error.NoReply":
      registration = .noService
      return settle(now: now)
    case "org.freedesktop.DBus.Error.TimedOut",
      _
    where error.name.hasPrefix("org.freedesktop.DBus.Error.Spawn")
      || error.name.hasPrefix("org.freedesktop.systemd1."):
      // It could not be started: it is switched off, or there is no adapter.
      registration = .noService
      return settle(now: now)
    case "":
      // It has not answered, and may do so later.
      registration = .postponed(until: now + retryPause)
      return settle(now: now)
    case "org.freedesktop.DBus.Error.AccessDenied": return fail(.accessDenied(error))
    case "org.bluez.Error.AlreadyExists", "org.bluez.Error.NotPermitted":
      let since = takenSince ?? now
      takenSince = since
      guard now - since < Self.takenTimeout else { return fail(.taken(error)) }
      registration = .postponed(until: now + Self.takenPause)
      return []
    default: return fail(.refused(error))
    }
  }

  /// BlueZ has forgotten the profile; usually because it ends.
  mutating func released(now: Duration) -> [Action] {
    guard registration == .done else { return [] }
    registration = .postponed(until: now + retryPause)
    isConnecting = false
    return [.log("BlueZ has released the profile; it is registered again")] + settle(now: now)
  }
}
