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

  /// If the peer has closed it, takes what it has sent before, and the end.
  ///
  /// An app that goes over to another connection may have done so before this one has been read. What it sends there would
  /// otherwise come too early.
  func readToEnd() {
    guard isReading, socket.isClosedByPeer else { return }
    // The common buffer may be in use. What is read is bounded by what the kernel holds, as the peer sends no more.
    withUnsafeTemporaryAllocation(byteCount: FrameReader.readSize, alignment: 8) { buffer in
      while !isOver, heldItems.isEmpty { read(into: buffer) }
    }
  }

  /// The session does not want it any more.
  func detach() {
    secondaryApp = nil
    closeAfterWriting()
  }
}
