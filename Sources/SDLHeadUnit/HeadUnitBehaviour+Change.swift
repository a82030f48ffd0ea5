import SDLMessages
import SDLWire

extension HeadUnitBehaviour {
  /// A change of one member.
  public enum Change: Equatable, Sendable {
    case rpcStart(ControlAnswer)
    case handshake(Handshake)
    case registration(RPCAnswer)
    case systemCapability(RPCAnswer)
    case videoStart(VideoStartAnswer)
    case audioStart(AudioStartAnswer)
    case serviceEnd(ControlAnswer)
    /// Also of a start whose answer is still to come. Zero defers answers too: ``HeadUnitBehaviour/videoStartDelay``.
    case videoStartDelay(Duration)
    case dropsToNoneAfterRefusal(Bool)
    case heartbeat(Heartbeat)
    case player(Player)
    case videoDataTimeout(Duration?)
    case secondaryTransport(SecondaryTransportOffer)
    case secondaryTransportDelay(Duration?)
    case secondaryRegistration(SecondaryRegistrationAnswer)
    case audioTransports([TransportRole]?)
    case videoTransports([TransportRole]?)
  }

  /// Applies a change.
  public mutating func apply(_ change: Change) {
    switch change {
    case .rpcStart(let answer): rpcStart = answer
    case .handshake(let handshake): self.handshake = handshake
    case .registration(let answer): registration = answer
    case .systemCapability(let answer): systemCapability = answer
    case .videoStart(let answer): videoStarts = [answer]
    case .audioStart(let answer): audioStart = answer
    case .serviceEnd(let answer): serviceEnd = answer
    case .videoStartDelay(let delay): videoStartDelay = delay
    case .dropsToNoneAfterRefusal(let drops): dropsToNoneAfterRefusal = drops
    case .heartbeat(let heartbeat): self.heartbeat = heartbeat
    case .player(let player): self.player = player
    case .videoDataTimeout(let timeout): videoDataTimeout = timeout
    case .secondaryTransport(let offer): secondaryTransport = offer
    case .secondaryTransportDelay(let delay): secondaryTransportDelay = delay
    case .secondaryRegistration(let answer): secondaryRegistration = answer
    case .audioTransports(let transports): audioTransports = transports
    case .videoTransports(let transports): videoTransports = transports
    }
  }
}

extension HeadUnitSession {
  /// Changes the head unit's behaviour towards this app.
  public mutating func change(_ change: HeadUnitBehaviour.Change, now: Duration) -> [Action] {
    behaviour.apply(change)
    switch change {
    case .heartbeat:
      heartbeat = nil
      timers.cancel(.heartbeat)
      if app != nil { startScriptedHeartbeat(now: now) }
    case .videoStartDelay(let delay):
      if let pendingVideoStart { timers.arm(.videoStart, at: pendingVideoStart.time + delay) }
    case .videoDataTimeout(nil): timers.cancel(.videoData)
    case .secondaryTransport: offerChanged(now: now)
    default: break
    }
    return takeActions()
  }
}
