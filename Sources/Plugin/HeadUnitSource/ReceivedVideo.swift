import H264
import SDLMessages
import SDLWire

/// The video of the app that started its service last: only this app's video is pushed.
struct ReceivedVideo: Sendable {
  private var queue: AccessUnitQueue
  /// The app; nil before any app has started video, and when it has gone.
  private(set) var app: UInt8?
  /// Other codecs are not pushed.
  private var isH264 = true
  /// Times are taken from RTP, for which downstream has to allow some latency.
  private(set) var usesRTP = false
  /// RTP timestamp of the access unit that comes next.
  private var timestamp: UInt32?

  /// - Parameter counters: the former counts.
  init(_ counters: AccessUnitQueue.Counters) {
    queue = AccessUnitQueue(counters)
  }

  var counters: AccessUnitQueue.Counters { queue.counters }
  var queuedCount: Int { queue.count }

  /// When ``flushPending(now:)`` is due; nil when nothing waits for its end.
  var flushDeadline: Duration? { queue.flushDeadline }

  mutating func begin(_ parameters: VideoServiceParameters, by app: UInt8, now: Duration) {
    queue.beginStream(ofSameApp: app == self.app, now: now)
    self.app = app
    isH264 = parameters.isH264
    usesRTP = parameters.usesRTP
    timestamp = nil
  }

  /// The access unit that the app sends next has this RTP timestamp.
  mutating func setTimestamp(_ timestamp: UInt32, from app: UInt8) {
    if app == self.app { self.timestamp = timestamp }
  }

  /// Takes an app's video; false if it is not pushed.
  mutating func append(_ bytes: [UInt8], from app: UInt8, now: Duration) -> Bool {
    guard app == self.app, isH264 else { return false }
    queue.append(bytes, timestamp: timestamp.take(), now: now)
    return true
  }

  /// Some of the app's video is missing: the next access unit must be a key frame.
  mutating func noteGap(from app: UInt8, now: Duration) {
    if app == self.app { queue.noteGap(now: now) }
  }

  /// The app has ended its video service: the waiting access unit is complete.
  mutating func end(by app: UInt8, now: Duration) {
    if app == self.app { queue.flushPending(now: now) }
  }

  /// The app has gone. Its identifier may become another app's.
  mutating func forget(_ app: UInt8) {
    if app == self.app { self.app = nil }
  }

  /// Takes the waiting access unit as it is.
  mutating func flushPending(now: Duration) {
    queue.flushPending(now: now)
  }

  /// The next access unit to be pushed.
  mutating func take() -> QueuedAccessUnit? { queue.take() }

  /// Forgets access units that have not been pushed.
  mutating func discard() {
    queue.discard()
    app = nil
    usesRTP = false
    timestamp = nil
  }
}

extension VideoServiceParameters {
  /// H.264 is the default of apps that name no codec.
  var isH264: Bool { videoCodec.map { $0 == VideoStreamingFormat.rawH264.codec } ?? true }

  fileprivate var usesRTP: Bool { videoProtocol == VideoStreamingFormat.rtpH264.videoProtocol }
}
