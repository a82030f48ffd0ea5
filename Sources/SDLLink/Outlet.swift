import SDLApp
import Synchronization

/// The way out to the head unit: whoever comes with a frame writes it, if nobody else is writing.
///
/// Only the connection thread decides what may go out, with ``change(grant:sending:peer:)``. What it shares is the right
/// to write: a lock that is held over one non-blocking system call at a time, and never while a payload is released.
///
/// No frame is forgotten: ``VideoQueue/claim()`` makes one thread answerable for all that is queued until, under the
/// queue's lock, the queue is found empty; and a streaming thread that cannot go on hands that duty to the connection
/// thread by a wake-up, which stays pending until that thread has looked.
final class Outlet: Sendable {
  /// Why a thread has stopped writing.
  enum Pause: Equatable {
    /// There is nothing left.
    case idle
    /// The kernel takes no more; the connection thread has to poll.
    case full
    /// It is time for other work, or another thread is writing.
    case turnOver
    /// The transport is lost; never ``Socket/Transfer/bytes(_:)``.
    case failed(Socket.Transfer)
  }

  /// Bytes written before it is the turn of something else.
  private static let writeTurn = 1 << 20

  private let state = Monitor(State())
  private let queue: VideoQueue
  private let byteCount = Atomic<UInt64>(0)

  init(queue: VideoQueue) {
    self.queue = queue
  }

  /// All bytes handed to the kernel.
  var sentByteCount: UInt64 { byteCount.load(ordering: .relaxed) }

  /// On the streaming thread, after a ``VideoQueue/claim()``: writes without waiting for anything. Unless the result is
  /// `idle`, the connection thread has to be woken and to go on.
  func writeIfFree() -> Pause {
    write { state.withLockIfAvailable { $0.takeTurn(queue: queue) } }
  }
}

/// The connection thread.
extension Outlet {
  /// Writes to `socket` from now on, as if nothing had been written before.
  func open(_ socket: Socket) {
    state.withLock { state in
      state.socket = socket
      state.lane = ControlLane()
      state.isFull = false
      state.failure = nil
    }
  }

  /// Nothing is written any more, and no payload's memory read.
  func close() {
    let socket = state.withLock { state in
      state.grant = nil
      // The queue releases what was in hand.
      state.writer.abandon()
      return state.socket.take()
    }
    // Which may be the last reference, and close(2) is a call that need not be waited for.
    _ = consume socket
  }

  /// From now on only video of `grant` begins, and not before `frames` are written. At most the frame that has been
  /// begun is finished, lest the head unit take what follows for video.
  func change(grant: VideoGrant?, sending frames: [[UInt8]], peer: String) throws(LinkError) {
    try state.withLock { state throws(LinkError) in
      state.grant = grant
      for frame in frames { try state.lane.append(frame, peer: peer) }
    }
  }

  /// Writes until something else has to be done.
  func write() -> Pause {
    write { state.withLock { $0.takeTurn(queue: queue) } }
  }

  /// After `full`: poll(2) says that the kernel takes more.
  func becameWritable() {
    state.withLock { $0.isFull = false }
  }

  /// Whether the last frame is complete and no control frame waits.
  var isFlushed: Bool {
    state.withLock { $0.lane.byteCount == 0 && !$0.writer.isInsideFrame }
  }
}

extension Outlet {
  private func write(_ takeTurn: () -> Turn?) -> Pause {
    var budget = Self.writeTurn
    while budget > 0, let turn = takeTurn() {
      turn.finished?.release()
      if let pause = turn.pause { return pause }
      byteCount.wrappingAdd(UInt64(turn.byteCount), ordering: .relaxed)
      budget -= turn.byteCount
    }
    return .turnOver
  }

  /// What came of having the lock once.
  fileprivate struct Turn {
    /// Not nil when there is no sense in another turn.
    var pause: Pause?
    var byteCount = 0
    /// To be released without the lock.
    var finished: VideoQueue.Finished?
  }

  /// `@unchecked Sendable`: no more than this refers to the writer, and only the thread that holds the lock touches it.
  fileprivate struct State: @unchecked Sendable {
    var socket: Socket?
    var lane = ControlLane()
    let writer = VideoWriter()
    var grant: VideoGrant?
    var messageIDs = VideoMessageIDs()
    /// Until the connection thread has polled.
    var isFull = false
    var failure: Socket.Transfer?
  }
}

extension Outlet.State {
  /// Writes once, or discards one payload: control frames first, video behind them, never one inside the other.
  fileprivate mutating func takeTurn(queue: VideoQueue) -> Outlet.Turn {
    guard let socket else { return Outlet.Turn(pause: .idle) }
    if let failure { return Outlet.Turn(pause: .failed(failure)) }
    if isFull { return Outlet.Turn(pause: .full) }
    if lane.byteCount > 0, !writer.isInsideFrame { return note(lane.write(to: socket)) }
    // The last guard before the socket: only video of the present grant begins a frame.
    if let epoch = writer.epoch {
      if !writer.isInsideFrame, epoch != grant?.epoch {
        writer.abandon()
        return Outlet.Turn(finished: queue.complete(wasSent: false))
      }
    } else {
      guard let next = queue.takeFirst() else { return Outlet.Turn(pause: .idle) }
      guard let grant, next.epoch == grant.epoch,
        writer.begin(next.payload, epoch: next.epoch, grant: grant, messageID: messageIDs.next())
      else { return Outlet.Turn(finished: queue.complete(wasSent: false)) }
    }
    let mustGiveWay = lane.byteCount > 0 || writer.epoch != grant?.epoch
    var turn = note(writer.write(to: socket, finishesFrameOnly: mustGiveWay))
    if writer.epoch == nil { turn.finished = queue.complete(wasSent: true) }
    return turn
  }

  private mutating func note(_ transfer: Socket.Transfer) -> Outlet.Turn {
    switch transfer {
    case .bytes(let count):
      return Outlet.Turn(byteCount: count)
    case .wouldBlock:
      isFull = true
      return Outlet.Turn(pause: .full)
    case .endOfStream, .failed:
      failure = transfer
      return Outlet.Turn(pause: .failed(transfer))
    }
  }
}
