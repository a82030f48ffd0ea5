import SDLLink

/// What has become of the frames. Every frame that came in is in exactly one place, so that
/// `framesIn == framesSent + all of dropped + framesQueued` holds at any moment.
struct VideoSinkCounters {
  /// Why a frame was not sent.
  enum Drop: Int, CaseIterable {
    /// The head unit does not show the app now.
    case notStreaming
    /// The head unit does not take frames as fast as they come.
    case queueFull
    /// The frame has a size that the head unit does not take.
    case wrongSize
    /// H.264 that can't be decoded before the next key frame.
    case waitingForKeyFrame
    /// More frames per second than the head unit wishes.
    case frameRate
    /// Flushed, stopped, or cut off by the end of the connection or of the service.
    case discarded
    /// Without content (flagged as a gap), or not decodable.
    case noPicture

    /// Field of `sdl-stats`.
    var field: String {
      switch self {
      case .notStreaming: "frames-dropped-not-streaming"
      case .queueFull: "frames-dropped-queue-full"
      case .wrongSize: "frames-dropped-wrong-size"
      case .waitingForKeyFrame: "frames-dropped-waiting-for-key-frame"
      case .frameRate: "frames-dropped-frame-rate"
      case .discarded: "frames-dropped-discarded"
      case .noPicture: "frames-dropped-no-picture"
      }
    }
  }

  private(set) var framesIn: UInt64 = 0
  private(set) var framesSent: UInt64 = 0
  /// In the element: being encoded, waiting in the queue, or being written.
  private(set) var framesQueued: UInt64 = 0
  private var dropped = [UInt64](repeating: 0, count: Drop.allCases.count)
  private(set) var keyFramesSent: UInt64 = 0
  var keyFramesForced: UInt64 = 0
  var framesEncoded: UInt64 = 0
  /// Nanoseconds.
  var encodeTimeTotal: UInt64 = 0
  /// Nanoseconds.
  var encodeTimeMaximum: UInt64 = 0
  /// kbit/s.
  var bitrateTarget: UInt64 = 0
  var connections: UInt64 = 0
  var streamStarts: UInt64 = 0
  var startFailures: UInt64 = 0
  /// Bytes that connections before the present one have sent.
  private(set) var formerBytesSent: UInt64 = 0

  func dropped(_ reason: Drop) -> UInt64 { dropped[reason.rawValue] }

  mutating func frameArrived() {
    framesIn += 1
    framesQueued += 1
  }

  mutating func frameDropped(_ reason: Drop) {
    framesQueued -= 1
    dropped[reason.rawValue] += 1
  }

  mutating func frameSent(isKeyFrame: Bool) {
    framesQueued -= 1
    framesSent += 1
    if isKeyFrame { keyFramesSent += 1 }
  }

  mutating func frameEncoded(in time: Duration) {
    let nanoseconds = UInt64(clamping: time.nanoseconds)
    framesEncoded += 1
    encodeTimeTotal += nanoseconds
    encodeTimeMaximum = max(encodeTimeMaximum, nanoseconds)
  }

  mutating func beginConnection() {
    connections += 1
  }

  mutating func endConnection(_ statistics: LinkStatistics) {
    formerBytesSent += statistics.sentByteCount
  }
}
