import Glibc
import SDLApp

/// The secondary transport, on the thread of the primary one.
extension ConnectionLoop {
  /// Begins to connect, as the session asks.
  func openSecondary(_ address: TransportAddress, attempt: UInt32) {
    secondary = SecondaryLink(
      address, attempt: attempt, timeout: connection.configuration.connectTimeout, clock: clock,
      wakeUp: connection.wakeUp)
  }

  /// The session has no use for it any more. Bytes that wait are discarded.
  func closeSecondary() {
    guard secondary != nil else { return }
    secondary = nil
    writer.closeSecondary()
  }

  /// Goes on with a connection that is being made, and with what waits to be written.
  func advanceSecondary(now: Duration) {
    if let progress = secondary?.advance() { note(progress) }
    guard secondary?.reader != nil else { return }
    let status = writer.write(.secondary)
    secondary?.wantsToWrite = status == .blocked || status == .budgetSpent
    if case .failed(let transfer) = status {
      let attempt = secondary?.attempt
      // First, because the peer may have sent the reason before it closed.
      readSecondary()
      // What it sent may have ended it already, or begun another.
      if secondary?.attempt == attempt { loseSecondary(Self.reason(of: transfer)) }
    }
    secondary?.stall.limit = session.canReplaceSecondary ? StallWatch.replaceableLimit : StallWatch.limit
    let acknowledged = writer.acknowledgedWhileDeferred(.secondary)
    let isWaiting = secondary?.wantsToWrite == true || acknowledged != nil
    let sent = acknowledged ?? writer.sentByteCount(.secondary)
    switch secondary?.stall.observe(isWaiting: isWaiting, sentByteCount: sent, now: now) {
    case .notice(let time): connection.report(.stalled(for: time))
    case .giveUp(let time): loseSecondary("it has not read anything for \(time.components.seconds) s")
    case Optional.none, .some(.none): break
    }
  }

  private func note(_ progress: SecondaryLink.Progress) {
    guard let attempt = secondary?.attempt else { return }
    switch progress {
    case .connected(let socket):
      // A name may stand for it, and the address of a network interface.
      guard session.configuration.acceptsLoopback || !socket.isPeerOnThisMachine else {
        return loseSecondary("the address is that of the app's own machine")
      }
      writer.open(socket, as: .secondary)
      perform(session.secondaryConnected(attempt: attempt, now: clock.now))
    case .failed(let reason): loseSecondary(reason)
    }
  }

  /// It is gone, or could not be made. The writer first, so that what is lost with it does not count as sent.
  private func loseSecondary(_ reason: String) {
    guard let attempt = secondary?.attempt else { return }
    closeSecondary()
    perform(session.secondaryClosed(attempt: attempt, reason: reason, now: clock.now))
  }

  private static func reason(of transfer: Socket.Transfer) -> String {
    guard case .failed(let code) = transfer, let text = strerror(code) else { return "the head unit has closed it" }
    return String(cString: text)
  }

  /// What poll(2) says of ``SecondaryLink/descriptors``.
  func handleSecondary(_ descriptors: Slice<UnsafeBufferPointer<pollfd>>) {
    guard secondary?.reader != nil else {
      if let progress = secondary?.handle(descriptors) { note(progress) }
      return
    }
    let events = Int32(descriptors.first?.revents ?? 0)
    if events & (POLLOUT | POLLHUP | POLLERR) != 0 { writer.becameWritable(.secondary) }
    if events & (POLLIN | POLLHUP | POLLERR) != 0 { readSecondary() }
  }

  private func readSecondary() {
    // The buffer is in use as long as the primary one pauses.
    guard !isInputPaused, let attempt = secondary?.attempt else { return }
    for _ in 0..<FrameReader.readsPerRound where secondary?.attempt == attempt {
      guard var reader = secondary?.reader else { return }
      let transfer = reader.read(into: readBuffer)
      secondary?.reader = reader
      switch transfer {
      case .bytes(let count):
        connection.count(received: count)
        // An action may close it, or even open the next one.
        while secondary?.attempt == attempt, let item = secondary?.reader?.next() {
          tracer?.noteReceived(item)
          perform(session.receiveOnSecondary(item, now: clock.now))
          applyCommands(now: clock.now)
        }
        if count < readBuffer.count { return }
      case .wouldBlock: return
      case .endOfStream, .failed: return loseSecondary(Self.reason(of: transfer))
      }
    }
  }
}
