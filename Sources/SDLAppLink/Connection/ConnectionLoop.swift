import Glibc
import SDLApp
import SDLLink

/// The connection thread while the transport is connected: reads, executes the session's actions, and writes the bytes
/// that the streaming thread could not.
final class ConnectionLoop {
  /// How long queued media may take to leave before the service is ended: head units drop media that comes right before
  /// an EndService.
  static let drainTimeout = Duration.milliseconds(500)
  /// POLLRDHUP, a macro of C.
  private static let peerClosed: Int32 = 0x2000
  /// How long the last control frames may take when the session ends by itself.
  private static let closeTimeout = Duration.seconds(1)
  /// There is no event for "the peer has acknowledged everything".
  private static let deliveryPollInterval = Duration.milliseconds(5)

  private let connection: AppConnection
  private let clock: TimeSource
  private let writer: ConnectionWriter
  private var session: AppSession
  private var reader: FrameReader
  /// Nil while the session has none.
  private var secondary: SecondaryLink?
  private var taps: ConnectionTaps
  /// What to wait for, as poll(2) takes it.
  var descriptors: [pollfd] = []
  private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameReader.readSize, alignment: 8)
  /// Small, since all that is read at once is handled, whatever it costs; only control frames come there.
  private let secondaryBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 << 10, alignment: 8)

  /// As reported last.
  private var status = AppSession.Status()
  private var registeredAt: Duration?
  /// Not passed on to the session yet.
  private var pendingVideo: AppConnection.VideoParameters?
  private var pendingAudio: AppConnection.AudioParameters?
  /// Services that are about to end: queued media leaves first.
  private var drains: [ConnectionWriter.Medium: Drain] = [:]
  private var hasFinished = false
  /// The session was asked to end while the head unit registered the app: it may take longer than the grace, within its
  /// own time-outs, so that it can unregister the app.
  private var endsInItsOwnTime = false
  /// Not nil when the session is over and only its last frames remain.
  private var closeDeadline: Duration?
  private var isOver = false
  private var failure: ConnectionFailure?
  private var wantsToWrite = false
  /// The head unit has exceeded its input budget, and the last bytes read are not fully decoded until then.
  private var inputPausedUntil: Duration?
  private var isPeerGone = false
  private var stall = StallWatch()

  init(connection: AppConnection, reader: FrameReader, lastEpoch: UInt32) {
    self.connection = connection
    self.reader = reader
    clock = connection.clock
    writer = connection.writer
    taps = ConnectionTaps(connection.configuration, peer: reader.peer, writer: writer)
    var configuration = connection.configuration.session
    configuration.reportsMessages = taps.wantsMessages
    configuration.primaryTransport = connection.configuration.endpoint.transportClass
    configuration.acceptsLoopback = connection.configuration.endpoint.isOnThisMachine(reader.socket)
    connection.notePeer(isOnThisMachine: configuration.acceptsLoopback)
    session = AppSession(
      configuration: configuration, lastEpoch: lastEpoch,
      makeSecureChannel: connection.configuration.makeSecureChannel)
  }

  deinit {
    readBuffer.deallocate()
    secondaryBuffer.deallocate()
  }

  /// Returns when the socket is to be closed.
  func run() -> AppConnection.Ending {
    begin()
    while takeTurn() {
      let deadline = nextDeadline
      descriptors.withUnsafeMutableBufferPointer { pollDescriptors($0, until: deadline, clock: clock) }
      handleDescriptors()
    }
    let ending = ending
    taps.end(ending.failure, writer)
    return ending
  }

  /// The transport is connected.
  func begin() {
    perform(session.transportConnected(now: clock.now))
    if reader.socket.holdsInput { read() }
  }

  /// Does all due work, and leaves the descriptors to poll until ``nextDeadline`` in ``descriptors``; false at the end.
  func takeTurn() -> Bool {
    while !isOver {
      let now = clock.now
      if let deadline = session.nextDeadline, deadline <= now { perform(session.advance(to: now)) }
      applyCommands(now: now)
      if connection.takeElapsedTimer(now: now) { connection.report(.timerFired) }
      connection.reportFaults()
      taps.countMedia(of: writer, now: now)
      if secondary != nil { advanceSecondary(now: now) }
      write()
      watchStall(now: now)
      if closeDeadline != nil, writer.isFlushed { return false }
      if let limit, limit <= now {
        finishWithoutDelay(now: now)
        return false
      }
      guard let inputPausedUntil, inputPausedUntil <= clock.now else {
        prepareToWait()
        return !isOver
      }
      read()
    }
    return false
  }

  /// The result, once the connection is over.
  var ending: AppConnection.Ending {
    let now = clock.now
    return AppConnection.Ending(
      failure: failure, registeredTime: registeredAt.map { now - $0 }, lastEpoch: session.epoch)
  }

  /// When the connection ends in any case.
  private var limit: Duration? {
    (endsInItsOwnTime ? nil : connection.stopCommand?.deadline).earlier(closeDeadline)
  }

  private func perform(_ actions: [AppSession.Action]) {
    // Payloads that are lost with it do not count as sent.
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
      case .report(.registered):
        registeredAt = clock.now
        connection.openApplication()
      case .report(.applicationRPC(let message)) where message.type == .response:
        connection.noteAnswer(to: message.correlationID)
      case .report(.failed(let error)) where self.failure == nil: self.failure = .session(error)
      case .send, .sendProtected, .sendOnSecondary, .closeSecondary, .report, .note: break
      }
    }
    if status != former {
      connection.report(.sessionChanged(status, by: actions.compactMap(\.event)))
    } else {
      for case .report(let event) in actions { connection.report(.session(event)) }
    }
    if let failure { lose(failure) }
  }

  /// The message of an action that sends one; nil for other actions.
  private func takeMessage(_ action: AppSession.Action) -> ConnectionWriter.Outgoing? {
    taps.note(action)
    switch action {
    case .send(let frames): return .frames(frames)
    case .sendOnSecondary(let frames): return .frames(frames, on: .secondary)
    case .sendProtected(let message): return session.secureChannel.map { .protected(message, by: $0) }
    case .note, .report, .close, .openSecondary, .closeSecondary: return nil
    }
  }

  /// Video keeps its grant while it is suspended, to send a notice; audio has no notice.
  private func grantChanges(since former: AppSession.Status) -> [ConnectionWriter.GrantChange] {
    var changes: [ConnectionWriter.GrantChange] = []
    let audioGrant = status.usableAudioGrant
    if audioGrant?.epoch != former.usableAudioGrant?.epoch {
      changes.append(change(of: .audio, to: audioGrant?.media))
    }
    if status.video.grant?.epoch != former.video.grant?.epoch {
      changes.append(change(of: .video, to: status.video.grant?.media))
    }
    return changes
  }

  private func change(of medium: ConnectionWriter.Medium, to grant: MediaGrant?) -> ConnectionWriter.GrantChange {
    ConnectionWriter.GrantChange(
      medium: medium, grant: grant, channel: grant?.isEncrypted == true ? session.secureChannel : nil)
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
    lose(by: transfer)
  }

  private func lose(by transfer: Socket.Transfer) {
    lose(connection.configuration.endpoint.failure(transfer, of: reader))
  }
}

// MARK: A peer that does not read

extension ConnectionLoop {
  private func watchStall(now: Duration) {
    // At a low bitrate the kernel takes all bytes for a long time.
    let acknowledged = writer.acknowledgedByteCount(.primary)
    let isWaiting = wantsToWrite || acknowledged != nil
    let sent = acknowledged ?? writer.sentByteCount(.primary)
    switch stall.observe(isWaiting: isWaiting, sentByteCount: sent, now: now) {
    case .wait: break
    case .notice(let time): connection.report(.stalled(for: time))
    case .giveUp(let time): lose(.stalled(address: reader.peer, after: time))
    }
  }
}

// MARK: Reading

extension ConnectionLoop {
  private func prepareToWait() {
    let events = (inputPausedUntil == nil ? POLLIN : Self.peerClosed) | (wantsToWrite ? POLLOUT : 0)
    descriptors.removeAll(keepingCapacity: true)
    descriptors.append(pollfd(fd: reader.socket.descriptor, events: Int16(events), revents: 0))
    descriptors.append(pollfd(fd: connection.wakeUp.descriptor, events: Int16(POLLIN), revents: 0))
    if let secondary { descriptors += secondary.descriptors }
  }

  /// Handles the result of poll(2) for ``descriptors``.
  func handleDescriptors() {
    if descriptors[1].revents != 0 { connection.wakeUp.clear() }
    let events = Int32(descriptors[0].revents)
    if events & (POLLOUT | POLLHUP | POLLERR) != 0 { writer.becameWritable() }
    if secondary != nil, descriptors.count > 2 { handleSecondary(descriptors[2...]) }
    if events & (Self.peerClosed | POLLHUP | POLLERR) != 0 { isPeerGone = true }
    if events & (POLLIN | Self.peerClosed | POLLHUP | POLLERR) != 0 { read() }
  }

  var nextDeadline: Duration? {
    // The stop waits for both.
    let delivery = drains.values.map(\.deadline).max().map { min($0, clock.now + Self.deliveryPollInterval) }
    return session.nextDeadline.earlier(limit).earlier(delivery).earlier(stall.nextDeadline).earlier(connection.timer)
      .earlier(secondary?.nextDeadline).earlier(inputPausedUntil).earlier(taps.nextDeadline)
  }

  private func read() {
    decode()
    for _ in 0..<FrameReader.readsPerRound where !isOver && inputPausedUntil == nil {
      let transfer = reader.read(into: readBuffer)
      connection.reportComplaint(of: reader.socket)
      switch transfer {
      case .bytes(let count):
        connection.count(received: count)
        session.bytesReceived(now: clock.now)
        decode()
        if count < readBuffer.count { return }
      case .wouldBlock: return
      case .endOfStream, .failed: lose(by: transfer)
      }
    }
  }

  /// Decodes the last bytes read. The rest from a peer that has closed the connection is short, and may contain the
  /// reason.
  private func decode() {
    inputPausedUntil = nil
    while !isOver {
      if let pause = session.inputPause(now: clock.now), !isPeerGone {
        inputPausedUntil = pause
        return
      }
      guard let item = reader.next() else { return }
      taps.noteReceived(item)
      perform(session.receive(item, now: clock.now))
      // The app's reaction counts before the next input: the refusal of a request that it has taken back is none.
      applyCommands(now: clock.now)
    }
  }
}

// MARK: Requests of other threads, carried out between two steps of the session

extension ConnectionLoop {
  private func applyCommands(now: Duration) {
    if let stop = connection.stopCommand {
      guard !hasFinished else { return }
      let isAudioDrained = isDrained(.audio, now: now, within: stop.drainTimeout)
      guard isDrained(.video, now: now, within: stop.drainTimeout), isAudioDrained else { return }
      hasFinished = true
      drains = [:]
      endsInItsOwnTime = session.isRegistrationPending
      return perform(session.finish(now: now))
    }
    applyAudio(now: now)
    applyVideo(now: now)
    let application = connection.takeApplication()
    if let notifications = application.notifications { perform(session.setNotifications(notifications, now: now)) }
    for request in application.requests { perform(session.send(request, now: now)) }
  }

  private func applyAudio(now: Duration) {
    pendingAudio = connection.takeNewAudio() ?? pendingAudio
    guard let audio = pendingAudio else { return }
    guard audio.request != nil || isDrained(.audio, now: now, within: Self.drainTimeout) else { return }
    pendingAudio = nil
    perform(session.setAudioRequest(audio.request, now: now))
    endDrain(.audio)
  }

  private func applyVideo(now: Duration) {
    pendingVideo = connection.takeNewVideo() ?? pendingVideo
    guard let video = pendingVideo else { return }
    guard video.request != nil || isDrained(.video, now: now, within: Self.drainTimeout) else { return }
    pendingVideo = nil
    perform(session.setSupportedDisplays(video.supportedDisplays, now: now))
    // The request before the state: a service of a size that is not requested any more is not worth resuming.
    perform(session.setVideoRequest(video.request, now: now))
    perform(session.setAppState(video.appState, now: now))
    perform(session.setHapticRectangles(video.hapticRectangles, now: now))
    perform(session.setButtonsWanted(video.wantsButtons, now: now))
    endDrain(.video)
  }

  /// The time to end is up, perhaps before any of it was used, because this thread stood still: what the application
  /// has requested is answered all the same.
  private func finishWithoutDelay(now: Duration) {
    guard connection.stopCommand != nil, !hasFinished, !isOver else { return }
    hasFinished = true
    perform(session.finish(now: now))
  }

  /// Accepts no more of a service's media, and returns whether the head unit has everything that is queued, or the time
  /// is up.
  private func isDrained(_ medium: ConnectionWriter.Medium, now: Duration, within timeout: Duration) -> Bool {
    guard (medium == .video ? status.video.grant?.media : status.audio.grant?.media) != nil else { return true }
    if drains[medium] == nil { writer.change(medium) { $0.isDraining = true } }
    var drain = drains[medium] ?? Drain(deadline: now + timeout)
    defer { drains[medium] = drain }
    if now >= drain.deadline { return true }
    guard writer.read(medium, { $0.isEmpty }) else { return false }
    guard let sample = writer.linkSample(of: medium) else { return true }
    return drain.isDelivered(handed: sample.handedByteCount, unacknowledged: sample.unacknowledgedByteCount ?? 0)
  }

  /// The session knows of the end, or it was called off.
  private func endDrain(_ medium: ConnectionWriter.Medium) {
    if drains.removeValue(forKey: medium) != nil { writer.change(medium) { $0.isDraining = false } }
  }
}

// MARK: The secondary transport, on the thread of the primary one

extension ConnectionLoop {
  /// Begins to connect, as the session requests.
  private func openSecondary(_ address: TransportAddress, attempt: UInt32) {
    secondary = SecondaryLink(
      address, attempt: attempt, connection.configuration, acceptsThisMachine: session.configuration.acceptsLoopback,
      wakeUp: connection.wakeUp)
  }

  /// The session has no use for it any more. Bytes that wait are discarded.
  private func closeSecondary() {
    guard secondary != nil else { return }
    secondary = nil
    writer.closeSecondary()
  }

  /// Continues to connect, and to write waiting bytes.
  private func advanceSecondary(now: Duration) {
    if let progress = secondary?.advance() { note(progress) }
    guard secondary?.reader != nil else { return }
    let status = writer.write(.secondary)
    secondary?.wantsToWrite = status == .blocked || status == .budgetSpent
    if case .failed(let transfer) = status {
      let attempt = secondary?.attempt
      // First, because the peer may have sent the reason before it closed.
      readSecondary()
      // Its input may have ended it already, or begun another.
      if secondary?.attempt == attempt { loseSecondary(Self.reason(of: transfer)) }
    }
    secondary?.pausedUntil = session.inputPause(on: .secondary, now: now)
    secondary?.stall.limit = session.canReplaceSecondary ? StallWatch.replaceableLimit : StallWatch.limit
    let acknowledged = writer.acknowledgedByteCount(.secondary, onlyIfAwaited: true)
    let isWaiting = secondary?.wantsToWrite == true || acknowledged != nil
    let sent = acknowledged ?? writer.sentByteCount(.secondary)
    switch secondary?.stall.observe(isWaiting: isWaiting, sentByteCount: sent, now: now) {
    case .notice(let time): connection.report(.stalled(for: time))
    case .giveUp(let time): loseSecondary("it has not read anything for \(time.components.seconds) s")
    case .wait?, nil: break
    }
  }

  private func note(_ progress: SecondaryLink.Progress) {
    guard let attempt = secondary?.attempt else { return }
    switch progress {
    case .connected(let socket):
      // It may be the address of a network interface.
      guard session.configuration.acceptsLoopback || !socket.isPeerOnThisMachine else {
        return loseSecondary(SecondaryLink.ownAddress)
      }
      writer.open(socket, as: .secondary)
      perform(session.secondaryConnected(attempt: attempt, now: clock.now))
    case .failed(let reason): loseSecondary(reason)
    }
  }

  /// It is gone, or could not be made. The writer first, so that payloads that are lost with it do not count as sent.
  private func loseSecondary(_ reason: String) {
    guard let attempt = secondary?.attempt else { return }
    closeSecondary()
    perform(session.secondaryClosed(attempt: attempt, reason: reason, now: clock.now))
  }

  private static func reason(of transfer: Socket.Transfer) -> String {
    guard case .failed(let code) = transfer, let text = strerror(code) else { return "the head unit has closed it" }
    return String(cString: text)
  }

  /// Handles the result of poll(2) for ``SecondaryLink/descriptors``.
  private func handleSecondary(_ descriptors: ArraySlice<pollfd>) {
    guard secondary?.reader != nil else {
      if let progress = secondary?.handle(descriptors) { note(progress) }
      return
    }
    let events = Int32(descriptors.first?.revents ?? 0)
    if events & (POLLOUT | POLLHUP | POLLERR) != 0 { writer.becameWritable(.secondary) }
    let attempt = secondary?.attempt
    if events & (POLLIN | POLLHUP | POLLERR) != 0 { readSecondary() }
    // In a pause the rest is not worth waiting for, while poll(2) reports the end again and again.
    if events & (POLLHUP | POLLERR) != 0, secondary?.attempt == attempt,
      session.inputPause(on: .secondary, now: clock.now) != nil
    {
      loseSecondary(Self.reason(of: .endOfStream))
    }
  }

  private func readSecondary() {
    guard let attempt = secondary?.attempt else { return }
    for _ in 0..<FrameReader.readsPerRound where secondary?.attempt == attempt {
      guard session.inputPause(on: .secondary, now: clock.now) == nil, var reader = secondary?.reader else { return }
      let transfer = reader.read(into: secondaryBuffer)
      secondary?.reader = reader
      switch transfer {
      case .bytes(let count):
        connection.count(received: count)
        // An action may close it, or even open the next one.
        while secondary?.attempt == attempt, let item = secondary?.reader?.next() {
          taps.noteReceived(item)
          perform(session.receiveOnSecondary(item, now: clock.now))
          applyCommands(now: clock.now)
        }
        if count < secondaryBuffer.count { return }
      case .wouldBlock: return
      case .endOfStream, .failed: return loseSecondary(Self.reason(of: transfer))
      }
    }
  }
}

extension AppSession.Status {
  fileprivate var usableAudioGrant: AudioGrant? { audio.state == .streaming ? audio.grant : nil }
}

extension AppSession.Action {
  fileprivate var event: AppSession.Event? { if case .report(let event) = self { event } else { nil } }
}

extension [AppSession.Action] {
  /// Whether there is only a touch, which leaves the status as it is.
  fileprivate var isTouch: Bool { if count == 1, case .report(.touch) = self[0] { true } else { false } }
}
