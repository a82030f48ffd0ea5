// What the lock of a connection writer guards, and what one thread does with it at a time.

import SDLApp

extension ConnectionWriter {
  /// What came of having the lock once.
  struct Step {
    /// Nil when there is more to write.
    var status: Status?
    var byteCount = 0
    /// To be released without the lock.
    var finished: MediaSendState.Finished?
  }

  /// A service that carries media.
  enum Medium: Sendable, CaseIterable {
    case audio
    case video
  }

  /// A new grant of one service.
  struct GrantChange {
    var medium: Medium
    /// Nil when it ends.
    var grant: MediaGrant?
    /// Encrypts what is sent under it; nil for a service in clear.
    var channel: (any SecureChannel)?
  }

  /// `@unchecked Sendable`: no more than this refers to the services' writers, and only the thread that holds the lock
  /// touches it.
  struct State: @unchecked Sendable {
    var socket: Socket?
    var control = ControlFrameBuffer()
    /// The end of a frame of video or audio whose payload is gone.
    var unfinishedFrame = ByteQueue()
    var video: MediaSendState
    var audio: MediaSendState
    /// Audio was written last, while video waited: it is the video's turn.
    var isVideosTurn = false
    /// Until the connection thread has polled.
    var isBlocked = false
    var failure: Socket.Transfer?
    var sentByteCount: UInt64 = 0
    /// Of those, what went over earlier connections.
    var formerByteCount: UInt64 = 0
    /// Bytes of sound, with their headers, over the present connection.
    var soundByteCount: UInt64 = 0
  }
}

extension ConnectionWriter.State {
  var isWritable: Bool { socket != nil && !isBlocked && failure == nil }

  func linkSample(now: Duration) -> LinkSample? {
    guard let socket, failure == nil else { return nil }
    return LinkSample(
      time: now, handedByteCount: sentByteCount - formerByteCount, soundByteCount: soundByteCount,
      unacknowledgedByteCount: socket.unacknowledgedByteCount, unsentByteCount: socket.unsentByteCount,
      isBlocked: isBlocked, roundTrip: socket.roundTrip)
  }

  subscript(medium: ConnectionWriter.Medium) -> MediaSendState {
    _read {
      if medium == .audio { yield audio } else { yield video }
    }
    _modify {
      if medium == .audio { yield &audio } else { yield &video }
    }
  }

  /// Whether the bytes so far end in the middle of a frame of video or audio.
  var isInsideFrame: Bool { video.isInsideFrame || audio.isInsideFrame }

  private var isIdle: Bool { control.isEmpty && unfinishedFrame.isEmpty && video.isEmpty && audio.isEmpty }

  /// The service that writes next; nil when no payload waits. Audio goes first, because it is small and its gaps are heard;
  /// but after each of its payloads a frame of video goes, so that a burst of sound does not hold the picture up.
  private var nextMedium: ConnectionWriter.Medium? {
    if video.isInsideFrame { return .video }
    if audio.isInsideFrame { return .audio }
    if audio.isEmpty { return video.isEmpty ? nil : .video }
    return isVideosTurn && !video.isEmpty ? .video : .audio
  }

  /// Makes one system call, or discards one payload: control frames first, video and audio behind them, never one frame
  /// inside the other.
  mutating func writeOnce(now: TimeSource) -> ConnectionWriter.Step {
    guard let socket else { return ConnectionWriter.Step(status: .idle) }
    if let failure { return ConnectionWriter.Step(status: .failed(failure)) }
    if isBlocked { return ConnectionWriter.Step(status: .blocked) }
    if !unfinishedFrame.isEmpty { return step(unfinishedFrame.write(to: socket)) }
    if !control.isEmpty, !isInsideFrame { return step(control.write(to: socket)) }
    guard let medium = nextMedium else { return ConnectionWriter.Step(status: .idle) }
    let mustYield = !control.isEmpty || (medium == .video && !audio.isEmpty)
    let (transfer, finished) = self[medium].write(to: socket, finishesFrameOnly: mustYield, now: now)
    isVideosTurn = medium == .audio && !video.isEmpty
    if medium == .audio, case .bytes(let count)? = transfer { soundByteCount &+= UInt64(clamping: count) }
    return step(transfer, finished)
  }

  private mutating func step(
    _ transfer: Socket.Transfer?, _ finished: MediaSendState.Finished? = nil
  ) -> ConnectionWriter.Step {
    var step = ConnectionWriter.Step(finished: finished)
    switch transfer {
    case .bytes(let count):
      step.byteCount = count
      sentByteCount &+= UInt64(clamping: count)
    case .wouldBlock:
      isBlocked = true
      step.status = .blocked
      return step
    case .endOfStream?, .failed?:
      failure = transfer
      step.status = transfer.map { .failed($0) }
      return step
    case nil: break
    }
    if isIdle { step.status = .idle }
    return step
  }
}
