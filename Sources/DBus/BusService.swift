/// A service on a bus, which is followed by signals: nothing is called to find out that it is still there.
///
/// `@unchecked Sendable`: one thread at a time uses it.
package final class BusService: @unchecked Sendable {
  /// What a look has found.
  package enum Presence {
    case absent
    /// It is there since the last look, or again: nothing is subscribed yet.
    case started
    case running
  }

  private let name: String
  private let busAddress: String?
  private let timeout: Duration
  private let receive: (String, borrowing Variant) -> Void
  private var client: BusClient?
  /// Its unique name, by which no other program can send signals in its place.
  private var owner: String?
  private var isOwnerCurrent = false

  /// - Parameters:
  ///   - name: well-known. It is not started for this.
  ///   - busAddress: nil for the system bus.
  ///   - timeout: of the connection, and of each call.
  ///   - receive: gets the name and the arguments of each subscribed signal, during a look or a call.
  package init(
    _ name: String, busAddress: String?, timeout: Duration, receive: @escaping (String, borrowing Variant) -> Void
  ) {
    (self.name, self.busAddress, self.timeout, self.receive) = (name, busAddress, timeout, receive)
  }

  /// Handles the signals that have come, and says whether the service is there.
  package func look() -> Presence {
    if client?.isOpen != true { connect() }
    guard let client else { return .absent }
    client.takeSignals { true }
    let last = owner
    if !isOwnerCurrent {
      // Before the call, during which it may change again.
      isOwnerCurrent = true
      let bus = "org.freedesktop.DBus"
      owner = client.call(bus, "/org/freedesktop/DBus", bus, "GetNameOwner", "('\(name)',)")?[0]?.text
    }
    guard let owner else {
      // Perhaps there was no answer.
      isOwnerCurrent = false
      return .absent
    }
    return owner == last ? .running : .started
  }

  /// The next look finds the service started.
  package func forget() { client = nil }

  /// Signals of one of its interfaces are received from now on: those of the name `signal`, and those whose first
  /// argument is `argument`, if these are given.
  package func subscribe(to interface: String, signal: String? = nil, argument: String? = nil) {
    guard let client, let owner else { return }
    client.subscribe(to: interface, of: owner, signal: signal, argument: argument)
  }

  /// Handles signals until `isDone`, or for as long as a call may last.
  package func takeSignals(until isDone: () -> Bool) { client?.takeSignals(until: isDone) }

  /// Calls a method; see ``BusClient/call(_:_:_:_:_:)``.
  package func call(_ object: String, _ interface: String, _ method: String, _ arguments: String = "()") -> Variant? {
    guard let owner else { return nil }
    return client?.call(owner, object, interface, method, arguments)
  }

  private func connect() {
    (owner, isOwnerCurrent) = (nil, false)
    client = BusClient(address: busAddress, timeout: timeout)
    client?.onSignal = { [unowned self] signal, arguments in
      if signal == "NameOwnerChanged" { isOwnerCurrent = false } else { receive(signal, arguments) }
    }
    client?.subscribe(to: "org.freedesktop.DBus", of: "org.freedesktop.DBus", argument: name)
  }
}
