import H264
import SDLApp

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

  /// Turns the payload into packets; false when there is nothing in it.
  ///
  /// - Parameters:
  ///   - time: when to show the picture, in running time; nil for one that has no time of its own, which is as
  ///     much later than the one before as it comes later.
  ///   - now: the present.
  mutating func packetize(_ payload: FramePayload, for grant: VideoGrant, at time: Duration?, now: Duration) -> Bool {
    if epoch != grant.epoch {
      var generator = SystemRandomNumberGenerator()
      packetizer.restart(using: &generator)
      epoch = grant.epoch
    }
    let time = time ?? lastTime + (now - (lastMade ?? now))
    guard payload.packetize(with: &packetizer, at: time) else { return false }
    lastTime = time
    lastMade = now
    return true
  }
}
