import SDLHeadUnit
import SDLWire

/// A connection from the port for secondary transports.
extension ServedConnection {
  /// The first frame has to be RegisterSecondaryTransport; the rest is for the session that it names.
  func takeOnSecondary(_ item: FrameDecoder.Item) {
    if let app = secondaryApp { return app.receive(item, on: .secondary, now: clock.now) }
    guard closeDeadline == nil else { return }
    guard case .frame(let frame) = item, frame.header.controlFrame == .registerSecondaryTransport else {
      owner.refuse(self, .notRegistered)
      return end(nil)
    }
    switch owner.register(self, with: frame) {
    case .accepted: break
    case .refused(let answer):
      send(answer)
      closeAfterWriting()
    // The app closes it, or the time for the registration does.
    case .unanswered: break
    }
  }

  /// It is the secondary transport of this app from now on.
  func attach(to app: ServedApp) {
    secondaryApp = app
    registrationDeadline = nil
  }

  /// The session does not want it any more.
  func detach() {
    secondaryApp = nil
    closeAfterWriting()
  }
}
