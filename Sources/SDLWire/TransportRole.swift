/// Which of the two transports of a session carries a service (protocol specification, "Secondary transports"). The raw value
/// is that of the lists in StartServiceACK.
public enum TransportRole: Int32, Hashable, Sendable, CaseIterable {
  /// The one on which the session began; it always carries RPCs.
  case primary = 1
  /// The one that was registered for the session later.
  case secondary = 2

  /// The preference order of a list in StartServiceACK, without repetitions and unknown values.
  ///
  /// - Parameter list: `audioServiceTransports` or `videoServiceTransports`. Nil, for a head unit that does not send it,
  ///   stands for the primary transport; an empty list allows the service on none.
  public static func preferences(_ list: [Int32]?) -> [TransportRole] {
    guard let list else { return [.primary] }
    return list.compactMap(TransportRole.init).reduce(into: []) { roles, role in
      if !roles.contains(role) { roles.append(role) }
    }
  }
}
