import GStreamerKit
import SDLApp

/// Finds time stamps by which nothing, or next to nothing, can be shown, as GstBaseSink understands them, so that the
/// application hears of it once.
struct TimeStampWatch {
  enum Complaint: Equatable {
    /// A frame is to be shown so much later.
    case distant(Duration)
    /// All frames have the same time stamp, in ns.
    case standing(UInt64)
    /// So many frames of so many without time stamps came faster than they may be shown.
    case missing(leftOut: Int, of: Int)
  }

  /// No film pauses so long between two pictures.
  private static let longestWait = Duration.seconds(3600)
  private static let shortestWatch = Duration.seconds(1)
  /// As many as come in a second, for those that come at once.
  private static let mostAtOnce = 30

  private var hasComplained = false
  private var began: Duration = .zero
  private var presentation: UInt64?
  private var count = 0
  private var leftOutCount = 0

  /// A frame will wait for its time.
  ///
  /// - Parameters:
  ///   - runningTime: of the frame, in ns.
  ///   - now: the present running time.
  mutating func frameWaits(until runningTime: UInt64, now: @autoclosure () -> Duration) -> Complaint? {
    let time = Duration.nanoseconds(Int64(clamping: runningTime))
    guard !hasComplained, time > Self.longestWait else { return nil }
    let wait = time - now()
    guard wait > Self.longestWait else { return nil }
    hasComplained = true
    return .distant(wait)
  }

  /// A frame was sent, or left out because of its time.
  ///
  /// - Parameters:
  ///   - presentation: its time stamp in ns; nil for none.
  ///   - now: on any clock.
  mutating func frameCame(_ presentation: UInt64?, isLeftOut: Bool, now: Duration) -> Complaint? {
    guard !hasComplained else { return nil }
    if count == 0 || presentation != self.presentation {
      (began, count, leftOutCount) = (now, 0, 0)
      self.presentation = presentation
    }
    count += 1
    if isLeftOut { leftOutCount += 1 }
    let isLong = now - began >= Self.shortestWatch && count > 2 || presentation == nil && count >= Self.mostAtOnce
    // Every second one is left out at twice the rate.
    guard isLong, leftOutCount > count * 3 / 4 else { return nil }
    hasComplained = true
    return presentation.map { .standing($0) } ?? .missing(leftOut: leftOutCount, of: count)
  }
}

extension TimeStampWatch.Complaint {
  var warning: ElementError {
    let cause =
      switch self {
      case .distant(let wait):
        """
        The next picture is to be shown in \(wait.components.seconds) s: its time stamp is not a time of the segment. \
        Let the source stamp pictures with the running time (do-timestamp=true of appsrc), or set sync=false.
        """
      case .standing(let time):
        """
        All pictures have the same time stamp (\(Double(time / 1_000_000) / 1000) s), so that one of them is shown: let the \
        source stamp them (do-timestamp=true of appsrc), or put clocksync or videorate before sdlvideosink.
        """
      case .missing(let leftOut, let count):
        """
        \(leftOut) of \(count) pictures were left out: they have no time stamps, and came faster than the head unit shows \
        pictures. Let the source stamp them, or push each when it is to be shown.
        """
      }
    return .stream(GST_STREAM_ERROR_FORMAT, cause)
  }
}
