import Glibc
import SDLApp

/// What the connection thread does while the transport stands: reads, executes the session's actions, and writes what
/// the streaming thread cannot.
final class ConnectionLoop {
  /// How long queued video may take to leave before the service is ended: head units drop what comes right before an
  /// EndService.
  static let drainTimeout = Duration.milliseconds(500)
  /// For the last control frames of a session that ends by itself.
  private static let closeTimeout = Duration.seconds(1)
  /// There is no event for "the peer has acknowledged everything".
  private static let deliveryPollInterval = Duration.milliseconds(5)

  private let connection: AppConnection
  private let clock: TimeSource
  private let writer: ConnectionWriter
  private var session: AppSession
  private var reader: FrameReader
  private var tracer: MessageTracer?
  private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameReader.readSize, alignment: 8)

  private var grantEpoch: UInt32?
  private var videoState = VideoStreamState.stopped
  private var roundTrip: Duration?
  private var registeredAt: Duration?
  /// Not passed on to the session yet.
  private var pendingVideo: AppConnection.VideoParameters?
  /// The present service belongs to a stream that is over.
  private var isResetPending = false
  private var drainDeadline: Duration?
  private var hasFinished = false
  /// The session was asked to end while the head unit registered the app: it may outlast the time for that, within
  /// its own time-outs, so that the head unit can take the registration back.
  private var endsInItsOwnTime = false
  /// Not nil when the session is over and only its last frames remain.
  private var closeDeadline: Duration?
  private var isOver = false
  private var failure: ConnectionFailure?
  private var wantsToWrite = false
  private var stall = StallWatch()

  init(connection: AppConnection, reader: FrameReader, lastEpoch: UInt32) {
    self.connection = connection
    self.reader = reader
    clock = connection.clock
    writer = connection.writer
    tracer = MessageTracer(connection.configuration.messageTrace, clock: clock)
    session = AppSession(configuration: connection.configuration.session, lastEpoch: lastEpoch)
  }

  deinit {
    readBuffer.deallocate()
  }

  /// Returns when the socket is to be closed.
  func run() -> AppConnection.Ending {
    perform(session.transportConnected(now: clock.now))
    while !isOver {
      let now = clock.now
      if let deadline = session.nextDeadline, deadline <= now { perform(session.advance(to: now)) }
      applyCommands(now: now)
      if connection.takeElapsedTimer(now: now) { connection.report(.timerFired) }
      write()
      watchStall(now: now)
      if closeDeadline != nil, writer.isFlushed { break }
      if let limit, limit <= now { break }
      if !isOver { waitAndRead() }
    }
    let now = clock.now
    return AppConnection.Ending(
      failure: failure, registeredTime: registeredAt.map { now - $0 }, lastEpoch: session.epoch)
  }

  /// When the connection ends whatever it is waiting for.
  private var limit: Duration? {
    (endsInItsOwnTime ? nil : connection.stopCommand?.deadline).earlier(closeDeadline)
  }

  private func perform(_ actions: [AppSession.Action]) {
    let frames = actions.compactMap { if case .send(let frames) = $0 { frames } else { nil } }
    var failure: LinkError?
    for frames in frames { tracer?.noteSent(frames) }
    do throws(LinkError) {
      if session.videoGrant?.epoch == grantEpoch {
        try writer.send(frames, peer: reader.peer)
      } else {
        grantEpoch = session.videoGrant?.epoch
        // Before the grant is reported, because its receiver may use it at once.
        try writer.setVideoGrant(session.videoGrant, sending: frames, peer: reader.peer)
      }
    } catch {
      failure = error
    }
    for action in actions {
      switch action {
      case .send: break
      case .report(let event):
        note(event)
        connection.report(.session(event))
      case .close: closeDeadline = clock.now + Self.closeTimeout
      }
    }
    if session.videoState != videoState {
      videoState = session.videoState
      connection.report(.videoState(videoState))
    }
    if let time = session.roundTrip, time != roundTrip {
      roundTrip = time
      connection.report(.roundTrip(time))
    }
    if let failure { lose(failure) }
  }

  private func note(_ event: AppSession.Event) {
    switch event {
    case .registered: registeredAt = clock.now
    case .failed(let error) where failure == nil: failure = .session(error)
    default: break
    }
  }

  private func lose(_ error: LinkError) {
    guard !isOver else { return }
    isOver = true
    // After the session's own end it does not matter who closes first. Otherwise this error is more precise than the
    // session's.
    if closeDeadline == nil { failure = .link(error) }
    perform(session.transportLost(now: clock.now))
  }
}

// MARK: Commands

extension ConnectionLoop {
  private func applyCommands(now: Duration) {
    if let stop = connection.stopCommand {
      guard !hasFinished, isDrained(now: now, within: stop.drainTimeout) else { return }
      hasFinished = true
      drainDeadline = nil
      endsInItsOwnTime = session.isRegistrationPending
      return perform(session.finish(now: now))
    }
    if let new = connection.takeNewVideo() {
      pendingVideo = new.parameters
      isResetPending = isResetPending || new.isReset
    }
    guard let video = pendingVideo else { return }
    let endsService = isResetPending || video.request == nil
    guard !endsService || isDrained(now: now, within: Self.drainTimeout) else { return }
    pendingVideo = nil
    // Otherwise a request for what is streamed already would change nothing.
    if isResetPending { perform(session.setVideoRequest(nil, now: now)) }
    isResetPending = false
    perform(session.setSupportedDisplays(video.supportedDisplays, now: now))
    // The request before the state: a service of a size that is not requested any more is not worth resuming.
    perform(session.setVideoRequest(video.request, now: now))
    perform(session.setAppState(video.appState, now: now))
    perform(session.setHapticRectangles(video.hapticRectangles, now: now))
    if drainDeadline != nil {
      drainDeadline = nil
      writer.changeVideo { $0.isDraining = false }
    }
  }

  /// Accepts no more video, and returns whether the head unit has everything that is queued, or the time is up.
  private func isDrained(now: Duration, within timeout: Duration) -> Bool {
    guard session.videoGrant != nil else { return true }
    guard let deadline = drainDeadline else {
      drainDeadline = now + timeout
      writer.changeVideo { $0.isDraining = true }
      return isDrained(now: now, within: timeout)
    }
    return now >= deadline
      || (connection.video.statistics.queuedFrames == 0 && reader.socket.unacknowledgedByteCount ?? 0 == 0)
  }
}

// MARK: Writing

extension ConnectionLoop {
  private func write() {
    let status = writer.write()
    wantsToWrite = status == .blocked || status == .budgetSpent
    if case .failed(let transfer) = status { writeFailed(transfer) }
  }

  /// Reads first, because the peer may have sent the reason before it closed.
  private func writeFailed(_ transfer: Socket.Transfer) {
    read()
    if case .failed(let code) = transfer { lose(.connectionLost(address: reader.peer, errno: code)) }
    lose(.closedByPeer(address: reader.peer))
  }
}

// MARK: A peer that does not read

extension ConnectionLoop {
  private func watchStall(now: Duration) {
    let acknowledged = writer.acknowledgedWhileHeldBack
    let isWaiting = wantsToWrite || acknowledged != nil
    switch stall.observe(isWaiting: isWaiting, sentByteCount: acknowledged ?? writer.sentByteCount, now: now) {
    case .none: break
    case .notice(let time): connection.report(.stalled(for: time))
    case .giveUp(let time): lose(.stalled(address: reader.peer, after: time))
    }
  }
}

// MARK: Reading

extension ConnectionLoop {
  private func waitAndRead() {
    let events = wantsToWrite ? POLLIN | POLLOUT : POLLIN
    let isReadable = withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { descriptors in
      descriptors[0] = pollfd(fd: reader.socket.descriptor, events: Int16(events), revents: 0)
      descriptors[1] = pollfd(fd: connection.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
      pollDescriptors(descriptors, until: nextDeadline, clock: clock)
      if descriptors[1].revents != 0 { connection.wakeUp.clear() }
      if descriptors[0].revents & Int16(POLLOUT | POLLHUP | POLLERR) != 0 { writer.becameWritable() }
      return descriptors[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0
    }
    if isReadable { read() }
  }

  private var nextDeadline: Duration? {
    let delivery = drainDeadline.map { min($0, clock.now + Self.deliveryPollInterval) }
    return session.nextDeadline.earlier(limit).earlier(delivery).earlier(stall.nextDeadline).earlier(connection.timer)
  }

  private func read() {
    for _ in 0..<FrameReader.readsPerRound where !isOver {
      switch reader.read(into: readBuffer) {
      case .bytes(let count):
        connection.count(received: count)
        while !isOver, let item = reader.next() {
          tracer?.noteReceived(item)
          perform(session.receive(item, now: clock.now))
          // What the app makes of it counts for what comes next: the refusal of what it has stopped requesting is none.
          applyCommands(now: clock.now)
        }
        if count < readBuffer.count { return }
      case .wouldBlock:
        return
      case .endOfStream:
        lose(.closedByPeer(address: reader.peer))
      case .failed(let code):
        lose(.connectionLost(address: reader.peer, errno: code))
      }
    }
  }
}
