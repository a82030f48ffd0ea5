import SDLHeadUnit
import SDLWire

/// What comes on a connection, and for whom it is.
extension ServedConnection {
  /// Reads some, so that each connection gets its turn.
  func read(into buffer: UnsafeMutableRawBufferPointer) {
    guard isReading, takeHeldItems() else { return }
    for _ in 0..<FrameReader.readsPerRound where !isOver {
      switch reader.read(into: buffer) {
      case .bytes(let count):
        while !isOver, let item = reader.next() {
          guard take(item) else {
            // The buffer is all connections'.
            while let item = reader.next() { heldItems.append(item) }
            return
          }
        }
        if count < buffer.count { return }
      case .wouldBlock:
        return
      case .endOfStream:
        end(.closedByPeer(address: reader.peer))
      case .failed(let code):
        end(.connectionLost(address: reader.peer, errno: code))
      }
    }
  }

  /// False when nothing more may be taken.
  private func take(_ item: FrameDecoder.Item) -> Bool {
    if role == .secondary {
      takeOnSecondary(item)
    } else if case .frame(let frame) = item, frame.startsSession, !apps.contains(where: { !$0.isStarted }) {
      if let app = closeDeadline == nil ? owner.addSession(to: self) : nil {
        app.receive(item, now: clock.now)
      } else {
        apps.first?.refuseSession(frame)
      }
    } else {
      let app = recipient(of: item)
      if case .frame(let frame) = item, frame.header.controlFrame == .startService { app?.secondary?.readToEnd() }
      app?.receive(item, now: clock.now)
    }
    return owner.appDidTakeInput()
  }

  /// The session that an item belongs to; the first reports what belongs to none.
  private func recipient(of item: FrameDecoder.Item) -> ServedApp? {
    guard apps.count > 1, case .frame(let frame) = item else { return apps.first }
    let app = frame.startsSession ? apps.first { !$0.isStarted } : apps.first { $0.id == frame.header.sessionID }
    return app ?? apps.first
  }

  /// False when nothing more may be taken.
  private func takeHeldItems() -> Bool {
    guard !heldItems.isEmpty else { return true }
    let items = heldItems
    heldItems = []
    for (index, item) in items.enumerated() where !isOver {
      guard take(item) else {
        heldItems = Array(items[(index + 1)...])
        return false
      }
    }
    return true
  }
}

extension Frame {
  /// StartService(RPC) that names no session.
  fileprivate var startsSession: Bool {
    header.sessionID == 0 && header.service == .rpc && header.controlFrame == .startService
  }
}
