import Glibc
import SDLApp

/// What the connection thread does while the transport stands: moves bytes, and executes the session's actions.
final class ConnectionLoop {
  /// How long queued video may take to leave before the service is ended: head units drop what comes right before an
  /// EndService.
  static let drainTime = Duration.milliseconds(500)
  /// For the last control frames of a session that ends by itself.
  private static let closeTime = Duration.seconds(1)
  /// Bytes written before it is the peer's turn to be read.
  private static let writeTurn = 1 << 20
  /// There is no event for "the peer has acknowledged everything".
  private static let deliveryPollInterval = Duration.milliseconds(5)

  private let connection: AppConnection
  private let queue: VideoQueue
  private var session: AppSession
  private var channel: FrameChannel
  private let writer = VideoWriter()
  private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameChannel.readSize, alignment: 8)

  private var grantEpoch: UInt32?
  private var pendingWish: VideoWish??
  private var drainDeadline: Duration?
  private var hasFinished = false
  /// Not nil when the session is over and only its last frames remain.
  private var closeDeadline: Duration?
  private var isOver = false
  private var failure: LinkError?
  private var wantsToWrite = false

  init(connection: AppConnection, channel: FrameChannel) {
    self.connection = connection
    self.channel = channel
    queue = connection.queue
    session = AppSession(configuration: connection.configuration.session)
  }

  deinit {
    readBuffer.deallocate()
  }

  /// Returns when the socket is to be closed, with the reason if it lies in the transport.
  func run() -> LinkError? {
    perform(session.transportConnected(now: MonotonicClock.now))
    while !isOver {
      let now = MonotonicClock.now
      if let deadline = session.nextDeadline, deadline <= now { perform(session.advance(to: now)) }
      obeyOrders(now: now)
      write()
      connection.noteTraffic(sent: channel.sentByteCount, received: channel.receivedByteCount)
      if closeDeadline != nil, channel.laneByteCount == 0, !writer.isInsideFrame { break }
      if let limit, limit <= now { break }
      if !isOver { waitAndRead() }
    }
    // Before the queue releases the memory that the writer reads from.
    writer.abandon()
    return failure
  }

  /// When the connection ends, come what may.
  private var limit: Duration? {
    [connection.stopOrder?.deadline, closeDeadline].compactMap(\.self).min()
  }

  private func perform(_ actions: [AppSession.Action]) {
    // First, so that whoever hears of a new grant can use it at once.
    if session.videoGrant?.epoch != grantEpoch {
      grantEpoch = session.videoGrant?.epoch
      queue.setGrant(epoch: grantEpoch)
    }
    for action in actions {
      switch action {
      case .send(let frames):
        do { try channel.enqueue(frames) } catch { lose(error) }
      case .report(let event):
        connection.report(.session(event))
      case .close:
        closeDeadline = MonotonicClock.now + Self.closeTime
      }
    }
  }

  private func lose(_ error: LinkError) {
    guard !isOver else { return }
    isOver = true
    // After the session's own end it does not matter who closes first.
    if closeDeadline == nil { failure = error }
    perform(session.transportLost(now: MonotonicClock.now))
  }
}

// MARK: Orders

extension ConnectionLoop {
  private func obeyOrders(now: Duration) {
    if let stop = connection.stopOrder {
      guard !hasFinished, isDrained(now: now, within: stop.drainTime) else { return }
      hasFinished = true
      drainDeadline = nil
      return perform(session.finish(now: now))
    }
    if let wish = connection.takeNewWish() { pendingWish = wish }
    guard let wish = pendingWish, wish != nil || isDrained(now: now, within: Self.drainTime) else { return }
    pendingWish = nil
    perform(session.setVideoWish(wish, now: now))
    if drainDeadline != nil {
      drainDeadline = nil
      queue.setDraining(false)
    }
  }

  /// Closes the queue's door, and says whether the head unit has got everything that is behind it, or the time is up.
  private func isDrained(now: Duration, within time: Duration) -> Bool {
    guard session.videoGrant != nil else { return true }
    guard let deadline = drainDeadline else {
      drainDeadline = now + time
      queue.setDraining(true)
      return isDrained(now: now, within: time)
    }
    return now >= deadline || (queue.isEmpty && channel.socket.undeliveredByteCount == 0)
  }
}

// MARK: Writing

extension ConnectionLoop {
  /// Control frames first, video behind them, never one inside the other.
  private func write() {
    var budget = Self.writeTurn
    wantsToWrite = false
    while budget > 0, !isOver {
      let transfer: Socket.Transfer
      if channel.laneByteCount > 0, !writer.isInsideFrame {
        transfer = channel.writeLane()
      } else if prepareVideo() {
        transfer = writeVideo()
      } else {
        return
      }
      switch transfer {
      case .bytes(let count): budget -= count
      case .wouldBlock:
        wantsToWrite = true
        return
      case .endOfStream, .failed:
        return writeFailed(transfer)
      }
    }
    wantsToWrite = true
  }

  /// The last guard before the socket: whether there is video that may be written now.
  private func prepareVideo() -> Bool {
    let grant = session.videoGrant
    if let epoch = writer.epoch {
      if writer.isInsideFrame || epoch == grant?.epoch { return true }
      writer.abandon()
      queue.complete(wasSent: false)
    }
    guard let grant else { return false }
    while let next = queue.takeFirst() {
      if next.epoch == grant.epoch,
        writer.begin(next.payload, epoch: next.epoch, grant: grant, messageID: session.nextMessageID())
      {
        return true
      }
      queue.complete(wasSent: false)
    }
    return false
  }

  private func writeVideo() -> Socket.Transfer {
    let mustGiveWay = channel.laneByteCount > 0 || writer.epoch != session.videoGrant?.epoch
    let transfer = writer.write(to: channel.socket, finishesFrameOnly: mustGiveWay)
    channel.count(sent: transfer)
    if writer.epoch == nil { queue.complete(wasSent: true) }
    return transfer
  }

  /// The peer may have said why before it closed.
  private func writeFailed(_ transfer: Socket.Transfer) {
    read()
    if case .failed(let code) = transfer { lose(.connectionLost(address: channel.peer, errno: code)) }
    lose(.closedByPeer(address: channel.peer))
  }
}

// MARK: Reading

extension ConnectionLoop {
  private func waitAndRead() {
    let events = wantsToWrite ? POLLIN | POLLOUT : POLLIN
    let isReadable = withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { descriptors in
      descriptors[0] = pollfd(fd: channel.socket.descriptor, events: Int16(events), revents: 0)
      descriptors[1] = pollfd(fd: connection.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
      pollDescriptors(descriptors, until: nextDeadline)
      if descriptors[1].revents != 0 { connection.wakeUp.clear() }
      return descriptors[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0
    }
    if isReadable { read() }
  }

  private var nextDeadline: Duration? {
    let delivery = drainDeadline.map { min($0, MonotonicClock.now + Self.deliveryPollInterval) }
    return session.nextDeadline.earlier(limit).earlier(delivery)
  }

  private func read() {
    for _ in 0..<FrameChannel.readsPerTurn where !isOver {
      switch channel.read(into: readBuffer) {
      case .bytes(let count):
        while !isOver, let item = channel.decoder.next() {
          perform(session.receive(item, now: MonotonicClock.now))
        }
        if count < readBuffer.count { return }
      case .wouldBlock:
        return
      case .endOfStream:
        lose(.closedByPeer(address: channel.peer))
      case .failed(let code):
        lose(.connectionLost(address: channel.peer, errno: code))
      }
    }
  }
}
