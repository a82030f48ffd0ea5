import SDLHeadUnit
import SDLMessages

/// Control of the sessions, from any thread. An id that is not connected is ignored.
extension HeadUnitServer {
  /// Gives sessions an input, on the server's thread, with the present time.
  public func control(
    _ recipient: Recipient, _ input: @escaping @Sendable (inout HeadUnitSession, Duration) -> [HeadUnitSession.Action]
  ) {
    submit(.control(recipient, input))
  }

  /// What apps get that connect from now on, except for the behaviour: ``change(_:)``.
  public func configure(_ configuration: HeadUnitConfiguration) {
    submit(.configure(configuration))
  }

  /// Something becomes different for all apps, also for those that connect later.
  public func setCondition(_ change: HeadUnitConditions.Change) {
    submit(.setCondition(change))
  }

  /// The head unit behaves otherwise, also to apps that connect later.
  public func change(_ change: HeadUnitBehaviour.Change) {
    submit(.behave(change))
  }

  /// See `HeadUnitSession.setHMIStatus`.
  public func setHMIStatus(_ status: HMIStatus, for id: UInt8) {
    control(.app(id)) { $0.setHMIStatus(status, now: $1) }
  }

  /// See `HeadUnitSession.endVideoService`.
  public func endVideoService(for id: UInt8) {
    control(.app(id)) { $0.endVideoService(now: $1) }
  }

  /// See `HeadUnitSession.updateCapability`.
  public func updateCapability(_ update: VideoStreamingCapability, for id: UInt8) {
    control(.app(id)) { $0.updateCapability(update, now: $1) }
  }

  /// See `HeadUnitSession.unregisterApp`.
  public func unregisterApp(_ reason: UnregisteredReason, for id: UInt8) {
    control(.app(id)) { $0.unregisterApp(reason, now: $1) }
  }

  /// Off lets the connection fill up, as a head unit does that hangs.
  public func setReading(_ isReading: Bool, for id: UInt8) {
    submit(.read(id: id, isReading))
  }

  /// Closes the connection without ending the session.
  public func disconnect(_ id: UInt8) {
    submit(.disconnect(.app(id)))
  }
}
