// What the lock of a connection writer guards, and what one thread does with it at a time.

import SDLApp

extension ConnectionWriter {
  /// What came of having the lock once.
  struct Step {
    /// Nil when there is more to write.
    var status: Status?
    var byteCount = 0
    /// To be released without the lock.
    var finished: VideoSendState.Finished?
  }

  /// `@unchecked Sendable`: no more than this refers to the video's writer, and only the thread that holds the lock
  /// touches it.
  struct State: @unchecked Sendable {
    var socket: Socket?
    var control = ControlFrameBuffer()
    /// The end of a video frame whose payload is gone.
    var unfinishedFrame = ByteQueue()
    var video: VideoSendState
    /// Until the connection thread has polled.
    var isBlocked = false
    var failure: Socket.Transfer?
    var sentByteCount: UInt64 = 0
    /// Of those, what went over earlier connections.
    var formerByteCount: UInt64 = 0
  }
}

extension ConnectionWriter.State {
  var isWritable: Bool { socket != nil && !isBlocked && failure == nil }

  func linkSample(now: Duration) -> LinkSample? {
    guard let socket, failure == nil else { return nil }
    return LinkSample(
      time: now, handedByteCount: sentByteCount - formerByteCount,
      unacknowledgedByteCount: socket.unacknowledgedByteCount, unsentByteCount: socket.unsentByteCount,
      isBlocked: isBlocked, roundTrip: socket.roundTrip)
  }

  private var isIdle: Bool { control.isEmpty && unfinishedFrame.isEmpty && video.isEmpty }

  /// Makes one system call, or discards one payload: control frames first, video behind them, never one inside the
  /// other.
  mutating func writeOnce(now: TimeSource) -> ConnectionWriter.Step {
    guard let socket else { return ConnectionWriter.Step(status: .idle) }
    if let failure { return ConnectionWriter.Step(status: .failed(failure)) }
    if isBlocked { return ConnectionWriter.Step(status: .blocked) }
    if !unfinishedFrame.isEmpty { return step(unfinishedFrame.write(to: socket)) }
    if !control.isEmpty, !video.isInsideFrame { return step(control.write(to: socket)) }
    guard !video.isEmpty else { return ConnectionWriter.Step(status: .idle) }
    let (transfer, finished) = video.write(to: socket, finishesFrameOnly: !control.isEmpty, now: now)
    return step(transfer, finished)
  }

  private mutating func step(
    _ transfer: Socket.Transfer?, _ finished: VideoSendState.Finished? = nil
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
