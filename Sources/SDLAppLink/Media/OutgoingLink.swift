import SDLApp
import SDLLink

/// The writing half of one transport: its socket, waiting control frames, counters. The queues of media are elsewhere,
/// because they outlive the transport.
struct OutgoingLink {
  /// Nil while there is no such transport.
  private(set) var socket: Socket?
  var control = ControlFrameBuffer()
  /// The end of a frame of video or audio whose payload is gone.
  var unfinishedFrame = ByteQueue()
  /// Audio was written last, while video waited: it is the video's turn.
  var isVideosTurn = false
  /// Until the connection thread has polled.
  var isBlocked = false
  var failure: Socket.Transfer?
  /// All bytes handed to the kernel.
  private(set) var sentByteCount: UInt64 = 0
  /// Bytes of sound, with their headers, among them.
  private(set) var soundByteCount: UInt64 = 0

  init() {}

  /// One on which nothing has been written.
  init(_ socket: Socket) {
    self.socket = socket
  }

  var isWritable: Bool { socket != nil && !isBlocked && failure == nil }

  /// Whether bytes can still be handed over.
  var isConnected: Bool { socket != nil && failure == nil }

  /// A sample of the kernel's state of the transport; nil without one.
  func sample(now: Duration) -> LinkSample? {
    guard let socket, failure == nil else { return nil }
    return LinkSample(
      time: now, handedByteCount: sentByteCount, soundByteCount: soundByteCount,
      unacknowledgedByteCount: socket.unacknowledgedByteCount, unsentByteCount: socket.unsentByteCount,
      isBlocked: isBlocked,
      roundTrip: socket.roundTrip.map { LinkSample.RoundTrip(smoothed: $0.smoothed, minimum: $0.minimum) })
  }

  /// Notes the result of a system call.
  mutating func note(_ transfer: Socket.Transfer, isSound: Bool) {
    switch transfer {
    case .bytes(let count):
      sentByteCount &+= UInt64(clamping: count)
      if isSound { soundByteCount &+= UInt64(clamping: count) }
    case .wouldBlock: isBlocked = true
    case .endOfStream, .failed: failure = transfer
    }
  }
}

/// The end of a service. The head unit must have its last media before EndService is sent, because head units drop
/// media that comes right before it.
struct Drain {
  /// When EndService is sent in any case.
  let deadline: Duration
  /// The bytes of the connection that were handed to the kernel when the service's queue was empty.
  private var handedByteCount: UInt64?

  init(deadline: Duration) {
    self.deadline = deadline
  }

  /// Whether the peer has acknowledged all media of the service. To be called from the moment its queue is empty; bytes
  /// of the other service after that do not count.
  ///
  /// - Parameters:
  ///   - handed: All bytes of the connection that the kernel has been given.
  ///   - unacknowledged: How many of them the peer has not acknowledged yet.
  mutating func isDelivered(handed: UInt64, unacknowledged: UInt64) -> Bool {
    let last = handedByteCount ?? handed
    handedByteCount = last
    return handed - min(unacknowledged, handed) >= last
  }
}
