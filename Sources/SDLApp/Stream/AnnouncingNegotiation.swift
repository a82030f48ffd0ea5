/// A negotiation that tells the application of its stream: what is the same for video and sound.
protocol AnnouncingNegotiation: StreamNegotiation {
  associatedtype Grant: StreamGrant

  var stream: AnnouncedStream<Grant> { get set }
  /// The service in the session.
  var serviceStatus: AppSession.ServiceStatus<Grant> { get }
  var suspendPolicy: SuspendPolicy { get }

  mutating func notify(_ notification: StreamNotification)
  /// Tells the application, once, that the stream may be sent.
  mutating func announceStart()
  mutating func announceSuspension(_ reason: SuspensionReason)
  mutating func announceStop(_ reason: StreamStopReason)
}

extension AnnouncingNegotiation {
  var grant: Grant? { stream.grant }

  package var hasGrant: Bool { grant != nil }

  /// The session's, except for a notice that is still being sent, and a pipeline that is paused.
  package var streamState: StreamState { stream.streamState(serviceState) }

  package var serviceState: StreamState { serviceStatus.state }

  package var hasRequestedPause: Bool { stream.hasRequestedPause }

  var isServiceHeld: Bool { serviceState == .suspended }

  package mutating func played() {
    pipeline.play()
    announceStart()
  }

  package mutating func paused() {
    if pipeline.pause() { announceSuspension(.paused) }
  }

  package mutating func streamEnded() {
    pipeline.end()
    // No service will come: an application that pauses late would wait for it for ever.
    if stream.requestPlaying() { notify(.requestPlaying) }
  }

  /// The connection is gone. It may be made again.
  mutating func announceLoss() {
    if hasGrant { announceStop(.connectionLost) }
    if stream.connectionLost() { notify(.suspendedTimeBegan) }
  }

  /// Asks the application to pause until there is a service that may be used; returns whether it did.
  mutating func requestPause() -> Bool {
    guard suspendPolicy == .auto, pipeline.isPlaying, !hasGrant || isServiceHeld, stream.notePauseRequest() else {
      return false
    }
    notify(.requestPause)
    return true
  }
}
