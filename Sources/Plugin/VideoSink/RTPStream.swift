import H264
import SDLApp
import SDLLink

/// The RTP packets of a video service: their numbers and times, which go on from one access unit to the next.
///
/// A value: it is kept only when the access unit that it was used for is queued, lest skipped numbers look like a loss.
struct RTPStream {
  private var packetizer: RTPPacketizer
  /// Start of the service that the last access unit was for.
  private var epoch: UInt32 = 0
  /// Time of the last access unit, and when it was made.
  private var lastTime = Duration.zero
  private var lastMade: Duration?

  init() {
    var generator = SystemRandomNumberGenerator()
    packetizer = RTPPacketizer(using: &generator)
  }

  /// A later session counts its services from the beginning again.
  mutating func forgetService() {
    epoch = 0
  }

  /// Turns the payload into packets; false when there is nothing in it.
  ///
  /// - Parameter time: when to show the picture, in running time; nil for one that has no time of its own, which is as
  ///   much later than the one before as it comes later.
  mutating func packetize(_ payload: FramePayload, for grant: VideoGrant, at time: Duration?) -> Bool {
    if epoch != grant.epoch {
      var generator = SystemRandomNumberGenerator()
      packetizer.restart(using: &generator)
      epoch = grant.epoch
    }
    let now = MonotonicClock.now
    let time = time ?? lastTime + (now - (lastMade ?? now))
    guard payload.packetize(with: &packetizer, at: time) else { return false }
    lastTime = time
    lastMade = now
    return true
  }
}

extension VideoSink {
  /// Puts an access unit into the form that the head unit expects. The stream that goes on from it, to be kept when it is
  /// queued; nil when there is nothing to send.
  func packetize(_ payload: FramePayload, for grant: VideoGrant, at time: @autoclosure () -> Duration?) -> RTPStream? {
    guard grant.transport == .rtp else { return input.rtp }
    var stream = input.rtp
    return stream.packetize(payload, for: grant, at: time()) ? stream : nil
  }

  /// When the frame at hand is shown; nil when it does not say.
  var frameRunningTime: Duration? {
    guard input.frameTime.presentation != .max else { return nil }
    let time = runningTime(input.frameTime.presentation)
    return time == .max ? nil : .nanoseconds(Int64(clamping: time))
  }
}
