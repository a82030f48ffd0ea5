/// How far the secondary transport of a session has come.
public enum SecondaryTransportState: String, Hashable, Sendable, CaseIterable {
  /// The head unit offers none that the app could use, or the app wants none.
  case none
  /// There is none now: no address is known, the driver has not opened the app yet, or the last one has ended.
  case waiting
  case connecting
  /// The connection stands, and RegisterSecondaryTransport is not answered.
  case registering
  /// It may carry services.
  case registered
}

/// What the app knows about the secondary transport.
public struct SecondaryTransportStatus: Equatable, Sendable {
  public var state = SecondaryTransportState.none
  /// Of the present connection or attempt, or of the last one.
  public var address: TransportAddress?
  /// Why the last one has ended or could not be made, in a form that can follow a colon; nil while nothing has gone wrong
  /// since one was registered.
  public var reason: String?
  public var counters = SecondaryTransportCounters()

  /// None.
  public init() {}
}

/// Why a service that is asked for does not start although the driver would see or hear it.
public enum TransportWait: String, Hashable, Sendable, CaseIterable {
  /// The head unit takes it only over a secondary transport, such as Wi-Fi, and there is none now.
  case secondaryTransport = "secondary-transport"
  /// The same, but the app is not to use one, or can't use the kinds that are offered.
  case secondaryTransportUnused = "secondary-transport-unused"
  /// The head unit takes it over no transport of this connection.
  case noTransport = "no-transport"
}

extension TransportWait: CustomStringConvertible {
  /// What the user can do about it, as a sentence without the service's name.
  public var description: String {
    switch self {
    case .secondaryTransport:
      "The head unit takes it only over a secondary transport, and there is none now: is this machine in the car's Wi-Fi network?"
    case .secondaryTransportUnused:
      "The head unit takes it only over a secondary transport, which it does not offer over TCP, or which secondary-transport=none rules out."
    case .noTransport:
      "The head unit does not take it over this kind of connection."
    }
  }
}

/// Counters of the secondary transport over one session. They saturate.
public struct SecondaryTransportCounters: Equatable, Sendable {
  /// TransportEventUpdates of the head unit.
  public internal(set) var updates: UInt32 = 0
  /// Those that name no usable address.
  public internal(set) var refusedUpdates: UInt32 = 0
  public internal(set) var attempts: UInt32 = 0
  /// Connections that were registered.
  public internal(set) var registrations: UInt32 = 0

  /// Nothing has happened yet.
  public init() {}
}

extension SecondaryTransportStatus {
  /// Whether an app should hear of it that has heard of `former`: updates alone, which may come without end, are no news.
  func differs(from former: SecondaryTransportStatus) -> Bool {
    var present = self
    present.counters = former.counters
    return present != former
  }
}

extension UInt32 {
  /// Counts what a peer may repeat without end.
  mutating func count() {
    if self < .max { self += 1 }
  }
}
