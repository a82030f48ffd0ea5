import SDLApp
import SDLLink

/// One transport of a connection as far as writing goes: its socket, what waits for it, and what is known of it. Media
/// are no part of it, because they outlast the transport that carries them.
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

  /// No transport.
  init() {}

  /// One on which nothing has been written.
  init(_ socket: Socket) {
    self.socket = socket
  }

  var isWritable: Bool { socket != nil && !isBlocked && failure == nil }

  /// Whether bytes can still be handed over.
  var isConnected: Bool { socket != nil && failure == nil }

  /// What the kernel says about the transport at this moment; nil without one.
  func sample(now: Duration) -> LinkSample? {
    guard let socket, failure == nil else { return nil }
    return LinkSample(
      time: now, handedByteCount: sentByteCount, soundByteCount: soundByteCount,
      unacknowledgedByteCount: socket.unacknowledgedByteCount, unsentByteCount: socket.unsentByteCount,
      isBlocked: isBlocked,
      roundTrip: socket.roundTrip.map { LinkSample.RoundTrip(smoothed: $0.smoothed, minimum: $0.minimum) })
  }

  /// Notes what a system call did.
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

/// The end of a service, whose last media have to be with the head unit before it is asked for: head units drop what
/// comes right before an EndService.
struct Drain {
  /// When the end is asked for all the same.
  let deadline: Duration
  /// The bytes of the connection that were handed to the kernel when the service's queue was empty.
  private var handedByteCount: UInt64?

  init(deadline: Duration) {
    self.deadline = deadline
  }

  /// Whether the peer has acknowledged what was written of the service. To be asked from the moment on at which its
  /// queue is empty; what the other service writes meanwhile does not count.
  ///
  /// - Parameters:
  ///   - handed: All bytes of the connection that the kernel has been given.
  ///   - unacknowledged: Those of them that the peer has not acknowledged yet.
  mutating func isDelivered(handed: UInt64, unacknowledged: UInt64) -> Bool {
    let last = handedByteCount ?? handed
    handedByteCount = last
    return handed - min(unacknowledged, handed) >= last
  }
}
