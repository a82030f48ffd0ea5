import Glibc
import SDLApp

/// What the connection thread does while the transport stands: reads, executes the session's actions, and writes what
/// the streaming thread cannot.
final class ConnectionLoop {
  /// How long queued media may take to leave before the service is ended: head units drop what comes right before an
  /// EndService.
  static let drainTimeout = Duration.milliseconds(500)
  /// POLLRDHUP, a macro of C.
  private static let peerClosed: Int32 = 0x2000
  /// For the last control frames of a session that ends by itself.
  private static let closeTimeout = Duration.seconds(1)
  /// There is no event for "the peer has acknowledged everything".
  private static let deliveryPollInterval = Duration.milliseconds(5)

  let connection: AppConnection
  let clock: TimeSource
  let writer: ConnectionWriter
  var session: AppSession
  private var reader: FrameReader
  /// Nil while the session has none.
  var secondary: SecondaryLink?
  var tracer: MessageTracer?
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameReader.readSize, alignment: 8)

  /// As reported last.
  private var status = AppSession.Status()
  private var registeredAt: Duration?
  /// Not passed on to the session yet.
  var pendingVideo: AppConnection.VideoParameters?
  var pendingAudio: AppConnection.AudioParameters?
  /// The present service is about to end: what is queued leaves first.
  var videoDrain: Drain?
  var audioDrain: Drain?
  var hasFinished = false
  /// The session was asked to end while the head unit registered the app: it may outlast the time for that, within
  /// its own time-outs, so that the head unit can take the registration back.
  var endsInItsOwnTime = false
  /// Not nil when the session is over and only its last frames remain.
  private var closeDeadline: Duration?
  private var isOver = false
  private var failure: ConnectionFailure?
  private var wantsToWrite = false
  /// The head unit has sent more than one should, and what was read of it last is not decoded to its end.
  private(set) var isInputPaused = false
  private var isPeerGone = false
  private var stall = StallWatch()

  init(connection: AppConnection, reader: FrameReader, lastEpoch: UInt32) {
    self.connection = connection
    self.reader = reader
    clock = connection.clock
    writer = connection.writer
    tracer = MessageTracer(connection.configuration.messageTrace, clock: clock)
    var configuration = connection.configuration.session
    configuration.primaryTransport = connection.configuration.endpoint.transportClass
    configuration.acceptsLoopback = reader.socket.isPeerOnThisMachine
    session = AppSession(
      configuration: configuration, lastEpoch: lastEpoch,
      makeSecureChannel: connection.configuration.tls?.makeChannel)
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
      if secondary != nil { advanceSecondary(now: now) }
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

  func perform(_ actions: [AppSession.Action]) {
    // What is lost with it does not count as sent.
    if actions.contains(.closeSecondary) { closeSecondary() }
    let messages = actions.compactMap(takeMessage)
    let former = status
    if !actions.isTouch { status = session.status }
    var failure: LinkError?
    do throws(LinkError) {
      let changes = grantChanges(since: former)
      if changes.isEmpty {
        try writer.send(messages, peer: reader.peer)
      } else {
        // Before the grant is reported, because its receiver may use it at once.
        try writer.setGrants(changes, sending: messages, peer: reader.peer)
      }
    } catch {
      failure = error
    }
    for action in actions {
      switch action {
      case .openSecondary(let address, let attempt): openSecondary(address, attempt: attempt)
      case .close: closeDeadline = clock.now + Self.closeTimeout
      case .report(.registered): registeredAt = clock.now
      case .report(.failed(let error)) where self.failure == nil: self.failure = .session(error)
      case .send, .sendProtected, .sendOnSecondary, .closeSecondary, .report: break
      }
    }
    if status != former {
      connection.report(.sessionChanged(status, by: actions.compactMap(\.event)))
    } else {
      for case .report(let event) in actions { connection.report(.session(event)) }
    }
    if let failure { lose(failure) }
  }

  /// What an action sends; nil for another.
  private func takeMessage(_ action: AppSession.Action) -> ConnectionWriter.Outgoing? {
    switch action {
    case .send(let frames):
      tracer?.noteSent(frames)
      return .frames(frames)
    case .sendOnSecondary(let frames):
      tracer?.noteSent(frames)
      return .frames(frames, on: .secondary)
    case .sendProtected(let message):
      tracer?.noteSent(message)
      return session.secureChannel.map { .protected(message, by: $0) }
    case .report, .close, .openSecondary, .closeSecondary: return nil
    }
  }

  /// Video keeps its grant while it is suspended, for a notice; audio has none to send.
  private func grantChanges(since former: AppSession.Status) -> [ConnectionWriter.GrantChange] {
    var changes: [ConnectionWriter.GrantChange] = []
    let audioGrant = status.usableAudioGrant
    if audioGrant?.epoch != former.usableAudioGrant?.epoch {
      changes.append(ConnectionWriter.GrantChange(medium: .audio, grant: audioGrant.map { MediaGrant($0) }))
    }
    if status.videoGrant?.epoch != former.videoGrant?.epoch {
      let channel = status.videoGrant?.isEncrypted == true ? session.secureChannel : nil
      changes.append(
        ConnectionWriter.GrantChange(
          medium: .video, grant: status.videoGrant.map { MediaGrant($0) }, channel: channel))
    }
    return changes
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
    let acknowledged = writer.acknowledgedWhileDeferred(.primary)
    let isWaiting = wantsToWrite || acknowledged != nil
    let sent = acknowledged ?? writer.sentByteCount(.primary)
    switch stall.observe(isWaiting: isWaiting, sentByteCount: sent, now: now) {
    case .none: break
    case .notice(let time): connection.report(.stalled(for: time))
    case .giveUp(let time): lose(.stalled(address: reader.peer, after: time))
    }
  }
}

// MARK: Reading

extension ConnectionLoop {
  private func waitAndRead() {
    let pause = isInputPaused ? session.inputPause(now: clock.now) : nil
    guard isInputPaused == (pause != nil) else { return read() }
    let events = (pause == nil ? POLLIN : Self.peerClosed) | (wantsToWrite ? POLLOUT : 0)
    let others = isInputPaused ? [] : secondary?.descriptors ?? []
    let attempt = secondary?.attempt
    let isReadable = withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2 + others.count) { descriptors in
      descriptors[0] = pollfd(fd: reader.socket.descriptor, events: Int16(events), revents: 0)
      descriptors[1] = pollfd(fd: connection.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
      for (index, other) in others.enumerated() { descriptors[2 + index] = other }
      pollDescriptors(descriptors, until: nextDeadline.earlier(pause), clock: clock)
      if descriptors[1].revents != 0 { connection.wakeUp.clear() }
      if descriptors[0].revents & Int16(POLLOUT | POLLHUP | POLLERR) != 0 { writer.becameWritable() }
      if attempt != nil, !others.isEmpty { handleSecondary(UnsafeBufferPointer(descriptors)[2...]) }
      if descriptors[0].revents & Int16(Self.peerClosed | POLLHUP | POLLERR) != 0 { isPeerGone = true }
      return descriptors[0].revents & Int16(POLLIN | Self.peerClosed | POLLHUP | POLLERR) != 0
    }
    if isReadable { read() }
  }

  private var nextDeadline: Duration? {
    let delivery = (videoDrain?.deadline).earlier(audioDrain?.deadline)
      .map { min($0, clock.now + Self.deliveryPollInterval) }
    return session.nextDeadline.earlier(limit).earlier(delivery).earlier(stall.nextDeadline).earlier(connection.timer)
      .earlier(secondary?.nextDeadline)
  }

  private func read() {
    decode()
    for _ in 0..<FrameReader.readsPerRound where !isOver && !isInputPaused {
      switch reader.read(into: readBuffer) {
      case .bytes(let count):
        connection.count(received: count)
        decode()
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

  /// What was read last. The rest of a peer that has closed the connection is not much, and may say why.
  private func decode() {
    isInputPaused = false
    while !isOver {
      if session.inputPause(now: clock.now) != nil, !isPeerGone {
        isInputPaused = true
        return
      }
      guard let item = reader.next() else { return }
      tracer?.noteReceived(item)
      perform(session.receive(item, now: clock.now))
      // What the app makes of it counts for what comes next: the refusal of what it has stopped requesting is none.
      applyCommands(now: clock.now)
    }
  }
}

extension AppSession.Status {
  fileprivate var usableAudioGrant: AudioGrant? { audioState == .streaming ? audioGrant : nil }
}

extension AppSession.Action {
  fileprivate var event: AppSession.Event? { if case .report(let event) = self { event } else { nil } }
}

extension [AppSession.Action] {
  /// Whether there is nothing but a touch, which leaves the status as it is.
  fileprivate var isTouch: Bool { if count == 1, case .report(.touch) = self[0] { true } else { false } }
}
