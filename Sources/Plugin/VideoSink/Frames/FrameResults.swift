import GStreamerKit
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
  /// When the connection thread has to look at what waits; nil for no need.
  var timer: Duration?
  /// The service for which its first frame was queued.
  var firstOfService: VideoGrant?
  /// Of live H.264, whether a decoder can't show any frame yet; nil for no change.
  var lacksPicture: Bool?
  var report: (present: LinkReport, former: LinkReport?)?
  /// The encoding of a frame that is not counted with its payload: it could not be queued, or its encoder element
  /// finishes it later.
  var lostEncoding: FramePayload.Encoding?
}

/// The state that all threads share for frames.
struct FrameState: StreamPathState {
  var counters = VideoSinkCounters()
  var settings = VideoSinkSettings().frames
  /// Payloads that come back from the connection, to be used again.
  var payloads: [FramePayload] = []
  var isPathTaken = false
}
