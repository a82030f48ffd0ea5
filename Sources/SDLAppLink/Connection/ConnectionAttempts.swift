import SDLApp
import SDLLink

/// Decides whether another attempt to connect follows one that has ended, and when.
struct ConnectionAttempts {
  private var reconnection: Reconnection?
  /// Until when the first connection is tried again; nil where peers connect by themselves, which may take any time.
  private let firstDeadline: Duration?
  private(set) var wasRegistered = false
  /// The epoch of the last grant, from which the next session continues.
  private(set) var lastEpoch: UInt32 = 0

  init(_ configuration: AppConnection.Configuration, now: Duration) {
    reconnection = configuration.reconnection.map(Reconnection.init(timing:))
    var waitsForPeers = false
    if case .transport(let transport) = configuration.endpoint { waitsForPeers = transport.waitsForPeers }
    firstDeadline = waitsForPeers ? nil : now + configuration.connectTimeout
  }

  /// - Parameter chance: a random number between 0 and 1.
  /// - Returns: the pause before the next attempt; nil if there is none.
  mutating func pause(after ending: AppConnection.Ending, now: Duration, chance: Double) -> Duration? {
    lastEpoch = ending.lastEpoch
    if ending.registeredTime != nil { wasRegistered = true }
    guard let failure = ending.failure else { return nil }
    let mayHeal =
      wasRegistered
      ? failure.canHeal
      : failure.isRegisteredAlready || failure.mayHealAtFirst && firstDeadline.map { now < $0 } ?? true
    return mayHeal ? reconnection?.pause(registeredTime: ending.registeredTime, chance: chance) : nil
  }
}
