import Glibc
import SDLApp
import SDLLink
import Synchronization

/// The outgoing half of a connection, shared by the connection thread and by the threads that bring media: one lock
/// over the sockets of its transports, the control frames, and the queue and the grant of each service; the grant says
/// which transport it is written to.
///
/// The thread that submits a frame writes it to the socket itself, under the lock: a hand-over to the connection thread
/// cost two context switches, and 1.25 to 1.5 times the CPU under load. So the lock is held over one non-blocking
/// sendmsg(2) at a time, but never while a payload is released or anything waits. A frame that the kernel takes whole
/// needs the lock once.
///
/// No frame is forgotten. Whenever the lock is released and bytes remain, either the thread that releases it comes back
/// for them; or it wakes the connection thread; or the kernel takes no more (`isBlocked`) or the transport has failed,
/// and the thread that found that out has woken the connection thread, which polls.
///
/// Video and audio have a state each, and their order in ``State/writeOnce(on:now:)``.
final class ConnectionWriter: Sendable {
  /// Why a thread has stopped writing.
  enum Status: Equatable {
    case idle
    /// The kernel takes no more; the connection thread has to poll.
    case blocked
    /// It is time for other work; there is more to write.
    case budgetSpent
    /// The transport is lost; never ``Socket/Transfer/bytes(_:)``.
    case failed(Socket.Transfer)
  }

  /// The result of one write under the lock.
  struct Step {
    /// Nil when there is more to write.
    var status: Status?
    var isLast: Bool { status != nil }
    var byteCount = 0
    /// To be released without the lock.
    var finished: MediaSendState.Finished?
  }

  enum Medium: Sendable, CaseIterable {
    case audio
    case video
  }

  struct GrantChange {
    var medium: Medium
    /// Nil when it ends.
    var grant: MediaGrant?
    /// Encrypts its payloads; nil for a service in clear.
    var channel: (any SecureChannel)?
  }

  /// A control message for one transport.
  struct Outgoing {
    var message: ControlMessage
    var role = TransportRole.primary

    /// Whole frames as they are.
    static func frames(_ bytes: [UInt8], on role: TransportRole = .primary) -> Outgoing {
      Outgoing(message: .frames(bytes), role: role)
    }

    /// An RPC to be encrypted, which belongs to the primary transport.
    static func protected(_ message: ProtectedMessage, by channel: any SecureChannel) -> Outgoing {
      Outgoing(message: .protected(message, by: channel))
    }
  }

  /// `@unchecked Sendable`: only this refers to the services' writers, and only the thread that holds the lock touches
  /// it.
  struct State: @unchecked Sendable {
    var primary = OutgoingLink()
    var secondary = OutgoingLink()
    var video: MediaSendState
    var audio: MediaSendState
    /// Bytes handed to the kernel over transports that are gone.
    var formerByteCount: UInt64 = 0
  }

  /// Bytes that a thread writes before it does something else.
  private static let budget = 1 << 20

  private let state: Monitor<State>
  /// Whether each service waits until the peer has acknowledged more.
  private let videoAwaitsAcknowledgement = Atomic(false)
  private let audioAwaitsAcknowledgement = Atomic(false)
  private let clock: TimeSource
  /// Wakes the connection thread.
  private let wakeUp: WakeUp

  /// The capacities are in payloads, at least 1; the maximum byte counts bound the queues in bytes.
  init(
    videoCapacity: Int, maximumVideoByteCount: Int = 8 << 20, audioCapacity: Int = 50,
    maximumAudioByteCount: Int = 1 << 20, clock: TimeSource, wakeUp: WakeUp
  ) {
    self.clock = clock
    self.wakeUp = wakeUp
    state = Monitor(
      State(
        video: MediaSendState(
          messageIDs: .video, capacity: videoCapacity, maximumByteCount: maximumVideoByteCount),
        audio: MediaSendState(
          messageIDs: .audio, capacity: audioCapacity, maximumByteCount: maximumAudioByteCount)))
  }

  /// All bytes handed to the kernel, over all connections.
  var sentByteCount: UInt64 { state.withLock { $0.sentByteCount } }

  /// All bytes handed to the kernel over the present transport of this role.
  func sentByteCount(_ role: TransportRole) -> UInt64 { state.withLock { $0[role].sentByteCount } }

  /// The kernel's state of the transport that carries a service; nil without one.
  ///
  /// Three system calls of less than a microsecond together. They are made under the lock, so that no thread writes
  /// between our count of bytes and the kernel's.
  func linkSample(of medium: Medium) -> LinkSample? {
    readWithLink(medium) { $1 }
  }

  /// A view of a service's state, and of its link at the same moment.
  func readWithLink<Result>(_ medium: Medium, _ body: (MediaSendState, LinkSample?) -> Result) -> Result {
    state.withLock { body($0[medium], $0[$0[medium].role].sample(now: clock.now)) }
  }

  /// How many bytes the peer has acknowledged on this transport; nil if it has none to acknowledge.
  ///
  /// - Parameter onlyIfAwaited: nil as well unless video or sound waits until it acknowledges more.
  func acknowledgedByteCount(_ role: TransportRole, onlyIfAwaited: Bool = false) -> UInt64? {
    state.withLock { state in
      let isVideo = state.video.role == role && awaitsAcknowledgement(.video)
      let isAudio = state.audio.role == role && awaitsAcknowledgement(.audio)
      guard isVideo || isAudio || !onlyIfAwaited, let sample = state[role].sample(now: .zero),
        let unacknowledged = sample.unacknowledgedByteCount, unacknowledged > 0
      else { return nil }
      return sample.handedByteCount - min(unacknowledged, sample.handedByteCount)
    }
  }
}

// MARK: Video and audio, on any thread

extension ConnectionWriter {
  func read<Result>(_ medium: Medium, _ body: (MediaSendState) -> Result) -> Result {
    state.withLock { body($0[medium]) }
  }

  func awaitsAcknowledgement(_ medium: Medium) -> Bool {
    switch medium {
    case .audio: audioAwaitsAcknowledgement.load(ordering: .acquiring)
    case .video: videoAwaitsAcknowledgement.load(ordering: .acquiring)
    }
  }

  /// The time without an acknowledgement counts from now on: the connection's thread may sleep, and has to look.
  func setAwaitsAcknowledgement(_ isAwaiting: Bool, _ medium: Medium) {
    let wasAwaiting =
      switch medium {
      case .audio: audioAwaitsAcknowledgement.exchange(isAwaiting, ordering: .acquiringAndReleasing)
      case .video: videoAwaitsAcknowledgement.exchange(isAwaiting, ordering: .acquiringAndReleasing)
      }
    if isAwaiting, !wasAwaiting { wakeUp.signal() }
  }

  /// Changes whether payloads are accepted, and wakes waiting threads.
  func change(_ medium: Medium, _ body: (inout MediaSendState) -> Void) {
    state.change { body(&$0[medium]) }
  }

  /// Asks `attempt` now, and after each change of a service's state, until it gives a result; nil at `deadline` (of
  /// ``MonotonicClock``; nil waits without end).
  func wait<Result>(
    for medium: Medium, until deadline: Duration?, _ attempt: (MediaSendState) -> Result?
  ) -> Result? {
    state.wait(until: deadline) { attempt($0[medium]) }
  }

  /// Queues a payload and writes what the kernel takes. With `waits`, waits for room; with `samplesLink`, returns a
  /// sample of the link after that.
  func submit(
    _ payload: any MediaPayload, to medium: Medium, grantEpoch: UInt32, waits: Bool, samplesLink: Bool = false
  ) -> Submission {
    // Read before the lock is taken: the payload may have to compute it.
    let byteCount = payload.byteCount
    func attempt(_ state: inout State) -> (Submission, TransportRole, Step?) {
      let now = clock.now
      let result = state[medium].accept(payload, byteCount: byteCount, grantEpoch: grantEpoch, now: now)
      let role = state[medium].role
      var submission = Submission(result: result, time: now)
      guard result == .queued else { return (submission, role, nil) }
      let step = state[role].isWritable ? state.writeOnce(on: role, now: clock) : nil
      if samplesLink, step?.isLast ?? true { submission.link = state[role].sample(now: clock.now) }
      return (submission, role, step)
    }
    var (submission, role, step) =
      waits
      ? state.wait(until: nil) { state in
        let outcome = attempt(&state)
        return outcome.0.result.mayPass ? nil : outcome
      } ?? (Submission(result: .closed, time: clock.now), .primary, nil)
      : state.withLock { attempt(&$0) }
    guard let step else { return submission }
    if finish(step, on: role) != .idle { wakeUp.signal() }
    if samplesLink, !step.isLast { submission.link = linkSample(of: medium) }
    return submission
  }
}

// MARK: The connection thread

extension ConnectionWriter {
  /// Writes to `socket` from now on, as if nothing had been written before. A primary one begins a session.
  func open(_ socket: Socket, as role: TransportRole = .primary) {
    let former = state.withLock { state in
      if role == .primary {
        state.video.isDraining = false
        state.audio.isDraining = false
      }
      return state.setSocket(socket, role)
    }
    _ = consume former
  }

  /// Nothing is written to the secondary transport any more; the caller has to end the grants of its services.
  func closeSecondary() {
    let socket = state.withLock { $0.setSocket(nil, .secondary) }
    _ = consume socket
  }

  /// Discards everything. Nothing is written any more, and no payload's memory read.
  func close() {
    let sockets = state.withLock { state in TransportRole.allCases.map { state.setSocket(nil, $0) } }
    replaceGrants(Medium.allCases.map { GrantChange(medium: $0) }) { _ in }
    // They may be the last references, and no thread should have to wait for close(2).
    _ = consume sockets
  }

  /// Queues control frames and RPCs, which go before any frame of video or audio that has not begun.
  ///
  /// - Throws: ``LinkError/peerNotReading(address:queuedByteCount:)``; `peer` is for its text.
  func send(_ messages: [Outgoing], peer: String) throws(LinkError) {
    guard !messages.isEmpty else { return }
    try state.withLock { state throws(LinkError) in try state.append(messages, peer: peer) }
  }

  /// From now on only media of the new grants begin on their services, and not before `messages` are written: in one
  /// step, so that no media come between the loss of a grant and the end of the service.
  ///
  /// - Throws: As ``send(_:peer:)``; the grants are replaced all the same.
  func setGrants(_ changes: [GrantChange], sending messages: [Outgoing], peer: String) throws(LinkError) {
    var failure: LinkError?
    replaceGrants(changes) { state in
      do throws(LinkError) {
        try state.append(messages, peer: peer)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private func replaceGrants(_ changes: [GrantChange], _ body: (inout State) -> Void) {
    let remainders = state.change { state in
      let remainders = changes.map { change in
        // A frame that was begun ends on its transport, wherever the next one goes.
        let role = state[change.medium].role
        let remainder = state[change.medium].setGrant(
          change.grant, channel: change.channel, finishesFrame: state[role].isConnected, now: clock.now)
        // Less than a frame: until it is written, no other frame begins on any service.
        state[role].unfinishedFrame.append(remainder.unfinishedFrame)
        return remainder
      }
      body(&state)
      return remainders
    }
    for remainder in remainders { remainder.release() }
  }

  /// Writes until something else has to be done.
  func write(_ role: TransportRole = .primary) -> Status {
    finish(state.withLock { $0.writeOnce(on: role, now: clock) }, on: role)
  }

  /// After ``Status/blocked``: poll(2) reports that the kernel takes more.
  func becameWritable(_ role: TransportRole = .primary) {
    state.withLock { $0[role].isBlocked = false }
  }

  /// Whether the last frame on the primary transport is complete and no control frame waits there.
  var isFlushed: Bool {
    state.withLock { state in
      state.primary.control.isEmpty && state.primary.unfinishedFrame.isEmpty && !state.isInsideFrame(on: .primary)
    }
  }
}

// MARK: Writing

extension ConnectionWriter {
  /// Releases the finished payload of `step`, and continues writing.
  private func finish(_ step: Step, on role: TransportRole) -> Status {
    var step = step
    var budget = Self.budget
    while true {
      if let finished = step.finished {
        state.broadcast()
        finished.release()
      }
      if let status = step.status { return status }
      budget -= step.byteCount
      guard budget > 0 else { return .budgetSpent }
      step = state.withLock { $0.writeOnce(on: role, now: clock) }
    }
  }
}

// MARK: Steps of one thread, with the lock

extension ConnectionWriter.State {
  subscript(medium: ConnectionWriter.Medium) -> MediaSendState {
    _read {
      if medium == .audio { yield audio } else { yield video }
    }
    _modify {
      if medium == .audio { yield &audio } else { yield &video }
    }
  }

  subscript(role: TransportRole) -> OutgoingLink {
    _read {
      if role == .primary { yield primary } else { yield secondary }
    }
    _modify {
      if role == .primary { yield &primary } else { yield &secondary }
    }
  }

  var sentByteCount: UInt64 { formerByteCount &+ primary.sentByteCount &+ secondary.sentByteCount }

  /// Replaces a transport; nil for none.
  ///
  /// - Returns: The former socket, to be released without the lock.
  mutating func setSocket(_ socket: Socket?, _ role: TransportRole) -> Socket? {
    let former = self[role]
    formerByteCount &+= former.sentByteCount
    self[role] = socket.map { OutgoingLink($0) } ?? OutgoingLink()
    return former.socket
  }

  /// Whether the bytes so far end in the middle of a frame of video or audio.
  func isInsideFrame(on role: TransportRole) -> Bool {
    (video.isInsideFrame && video.role == role) || (audio.isInsideFrame && audio.role == role)
  }

  private func hasMedia(_ medium: ConnectionWriter.Medium, on role: TransportRole) -> Bool {
    self[medium].role == role && !self[medium].isEmpty
  }

  private func isIdle(_ role: TransportRole) -> Bool {
    self[role].control.isEmpty && self[role].unfinishedFrame.isEmpty && !hasMedia(.video, on: role)
      && !hasMedia(.audio, on: role)
  }

  /// The service that writes next; nil when no payload waits. Audio goes first, because it is small and its gaps are
  /// heard; but after each of its payloads a frame of video goes, so that a burst of sound does not hold the picture
  /// up.
  private func nextMedium(on role: TransportRole) -> ConnectionWriter.Medium? {
    if video.isInsideFrame, video.role == role { return .video }
    if audio.isInsideFrame, audio.role == role { return .audio }
    let hasVideo = hasMedia(.video, on: role)
    guard hasMedia(.audio, on: role) else { return hasVideo ? .video : nil }
    return self[role].isVideosTurn && hasVideo ? .video : .audio
  }

  /// Makes one system call, or discards one payload: control frames first, video and audio after them, never one frame
  /// inside the other.
  mutating func writeOnce(on role: TransportRole, now: TimeSource) -> ConnectionWriter.Step {
    guard let socket = self[role].socket else { return ConnectionWriter.Step(status: .idle) }
    if let failure = self[role].failure { return ConnectionWriter.Step(status: .failed(failure)) }
    if self[role].isBlocked { return ConnectionWriter.Step(status: .blocked) }
    if !self[role].unfinishedFrame.isEmpty { return step(self[role].unfinishedFrame.write(to: socket), role) }
    let hasControl = !self[role].control.isEmpty
    if hasControl, !isInsideFrame(on: role) { return step(self[role].control.write(to: socket), role) }
    guard let medium = nextMedium(on: role) else { return ConnectionWriter.Step(status: .idle) }
    let mustYield = hasControl || (medium == .video && hasMedia(.audio, on: role))
    let (transfer, finished) = self[medium].write(to: socket, finishesFrameOnly: mustYield, now: now)
    self[role].isVideosTurn = medium == .audio && hasMedia(.video, on: role)
    return step(transfer, role, isSound: medium == .audio, finished)
  }

  private mutating func step(
    _ transfer: Socket.Transfer?, _ role: TransportRole, isSound: Bool = false,
    _ finished: MediaSendState.Finished? = nil
  ) -> ConnectionWriter.Step {
    var step = ConnectionWriter.Step(finished: finished)
    if let transfer {
      self[role].note(transfer, isSound: isSound)
      switch transfer {
      case .bytes(let count): step.byteCount = count
      case .wouldBlock: step.status = .blocked
      case .endOfStream, .failed: step.status = .failed(transfer)
      }
    }
    if step.status == nil, isIdle(role) { step.status = .idle }
    return step
  }

  /// Queues control messages. Messages for a transport that is gone are dropped; a secondary one that does not read is
  /// lost, and the session goes on without it.
  fileprivate mutating func append(_ messages: [ConnectionWriter.Outgoing], peer: String) throws(LinkError) {
    for outgoing in messages where outgoing.role == .primary || self[outgoing.role].isConnected {
      do throws(LinkError) {
        try self[outgoing.role].control.append(outgoing.message, peer: peer)
      } catch {
        guard outgoing.role == .secondary else { throw error }
        secondary.failure = .failed(errno: ENOBUFS)
      }
    }
  }
}
