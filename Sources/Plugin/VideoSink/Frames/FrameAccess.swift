import GStreamerKit
import Glibc
import SDLApp
import SDLLink
import X264Encoder

/// The results of a use of the frame path: counted, posted and pushed once no thread has it, since the receiver may
/// flush the pipeline at once.
struct FrameResults {
  enum Announcement {
    case warning(ElementError)
    case error(ElementError)
    /// A frame is lost.
    case loss(FrameTime, isLive: Bool)
    /// Upstream may send other caps.
    case reconfigure
    /// An encoder has failed; if the next one does not take the format, upstream has to send another.
    case nextEncoder(EncoderChoice, takesFormat: Bool, EncoderError)
    case keyFrameRequest
  }

  var announcements: [Announcement] = []
  /// The service for which its first frame was queued.
  var firstOfService: VideoGrant?
  /// Of live H.264, whether a decoder can't show any frame yet; nil for no change.
  var lacksPicture: Bool?
  var report: (present: LinkReport, former: LinkReport?)?
  /// The encoding of a frame that could not be queued, and so is not counted with it.
  var lostEncoding: FramePayload.Encoding?
}

/// The state that all threads share for frames.
struct FrameState: Sendable {
  var counters = VideoSinkCounters()
  var settings = VideoSinkSettings().frames
  /// Payloads that come back from the connection, to be used again.
  var payloads: [FramePayload] = []
  /// The thread that has the frame path.
  fileprivate var owner: pthread_t?
}

/// The frame path, which one thread at a time uses. The streaming thread has it for each frame; while that thread has
/// no frame, the connection thread takes it for the last picture or a notice.
///
/// Unlike a lock it may be kept over a blocking call: the connection thread never waits for it, and has it for no
/// longer than it takes to encode one picture. Nothing is posted or pushed while it is taken: the answer may be a
/// flush, which needs it.
///
/// `@unchecked Sendable`: the path is reached only through the methods, by the thread that has set `owner` under the
/// monitor's lock, which also orders what one thread has written before what the next one reads.
final class FrameAccess: @unchecked Sendable {
  private let path: FramePath
  private let shared: Monitor<FrameState>
  private let negotiation: Monitor<VideoNegotiation>

  /// - Parameter negotiation: with the lock of the sink's own state.
  init(_ path: FramePath, negotiation: Monitor<VideoNegotiation>) {
    self.path = path
    self.negotiation = negotiation
    shared = path.sink.state
  }

  /// Waits for the path, and calls `opening` when this thread gets it, with the lock.
  func take<Result>(
    _ opening: (FramePath, inout VideoSinkCounters, inout VideoNegotiation) -> Result
  ) -> (FramePath, Result) {
    while true {
      let result = shared.withLock(and: negotiation) { shared, negotiation -> Result? in
        hold(&shared).map { opening(path, &shared.counters, &negotiation) }
      }
      if let result { return (path, result) }
      shared.wait(until: nil) { $0.owner == nil ? () : nil }
    }
  }

  /// Gives the path back after a frame, and counts the frame under the same lock.
  func give(counting outcome: FrameOutcome? = nil) -> FrameResults {
    let now = path.time.now
    return shared.change { shared in
      switch outcome {
      case nil, .queued: break
      case .parametersKept: shared.counters.frameDropped(.noPicture)
      case .unchanged: shared.counters.frameUnchanged()
      case .dropped(let reason, _), .kept(let reason), .failed(_, let reason): shared.counters.frameDropped(reason)
      }
      shared.owner = nil
      return path.given(&shared.counters, now: now)
    }
  }

  /// Waits for the path, and calls `body` with it.
  func withPath<Result>(_ body: (FramePath) -> Result) -> (Result, FrameResults) {
    shared.wait(until: nil) { hold(&$0) }
    let result = body(path)
    return (result, give())
  }

  /// Calls `body` with the path, or returns nil if another thread has it; for the connection thread.
  func withPathIfFree<Result>(_ body: (FramePath) -> Result) -> (Result, FrameResults)? {
    guard shared.withLock({ hold(&$0) }) != nil else { return nil }
    let result = body(path)
    return (result, give())
  }

  /// Gives the path back while `body` waits or calls other code, if this thread has it.
  func whileGivenBack<Result>(_ body: () -> Result) -> Result {
    let isMine = shared.withLock { shared in
      guard let owner = shared.owner, pthread_equal(owner, pthread_self()) != 0 else { return false }
      shared.owner = nil
      return true
    }
    guard isMine else { return body() }
    shared.broadcast()
    defer { shared.wait(until: nil) { hold(&$0) } }
    return body()
  }

  /// - Returns: nil if another thread has the path.
  private func hold(_ shared: inout FrameState) -> Void? {
    guard shared.owner == nil else { return nil }
    shared.owner = pthread_self()
    return path.taken(&shared)
  }
}
