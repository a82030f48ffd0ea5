import SDLApp
import Testing

/// The part of ``AppInvariants`` that is about the audio service.
struct AudioInvariants {
  var isRequested = false
  /// The level allows the service.
  var isAllowed = false
  var isAudible = false
  /// Neither side has an audio service.
  var isServiceEnded = true
  var isStartAcknowledged = false
  /// The transport of the last StartService.
  private(set) var role = TransportRole.primary

  mutating func startSent(isRegistered: Bool, on role: TransportRole) {
    self.role = role
    #expect(isServiceEnded, "a second StartService of audio without an end between them")
    #expect(isRegistered && isAllowed && isAudible && isRequested, "StartService of audio without a permission")
    isServiceEnded = false
    isStartAcknowledged = false
  }

  func check(_ session: borrowing AppSession, isRegistered: Bool) {
    guard session.status.audio.grant != nil else { return }
    #expect(isRegistered && isAllowed && isRequested)
    #expect(isStartAcknowledged && !isServiceEnded)
    #expect(session.status.audio.state == (isAudible ? .streaming : .suspended))
  }
}
