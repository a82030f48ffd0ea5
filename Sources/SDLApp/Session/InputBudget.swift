import SDLWire

/// Limits the work that a head unit can cause: each input costs an amount of time, and while the sum exceeds the time
/// that has passed, nothing more is read. Nothing is lost; to the head unit the connection seems slow.
///
/// An ordinary head unit never comes near: ten fingers at 120 messages a second cost half of the time.
struct InputBudget: Equatable, Sendable {
  /// How far the cost may be ahead, as at the start of a session.
  static let reserve = Duration.seconds(2)
  /// A frame that has no consequences, such as an acknowledgement of video.
  static let frame = Duration.microseconds(100)
  /// Any other frame, without its size.
  static let message = Duration.milliseconds(2)
  /// Each KiB of a frame: 4 MiB/s.
  static let kibibyte = Duration.microseconds(250)
  /// Added for an input that is reported to the application, or that upstream may have to follow.
  static let change = Duration.milliseconds(8)
  /// Added for each action of a finger.
  static let touch = Duration.microseconds(250)

  /// More runs of garbage than this within a second end the session, as in SDL Core.
  private static let maximumGarbageRate = 10

  /// When the last runs of garbage came, within a second.
  private var garbageTimes: [Duration] = []
  private var isAfterFrame = false
  /// Until then the budget is used up.
  private var usedUntil = Duration.zero - reserve

  mutating func charge(_ cost: Duration, now: Duration) {
    usedUntil = max(usedUntil, now - Self.reserve) + cost
  }

  mutating func charge(_ item: FrameDecoder.Item, now: Duration) {
    guard case .frame(let frame) = item else { return charge(Self.message, now: now) }
    isAfterFrame = true
    switch frame.header.controlFrame {
    case .heartbeatACK, .serviceDataACK: charge(Self.frame, now: now)
    default: charge(Self.message + Self.kibibyte * (frame.payload.count / 1024), now: now)
    }
  }

  /// Notes bytes that are no frame.
  ///
  /// - Returns: Whether the peer may still be a head unit: these bytes come after a frame, rather than instead of the
  ///   first one or after so many others that the decoder reports them again.
  mutating func garbageReceived(now: Duration) -> Bool {
    garbageTimes.append(now)
    garbageTimes.removeAll { now - $0 >= .seconds(1) }
    defer { isAfterFrame = false }
    return isAfterFrame && garbageTimes.count <= Self.maximumGarbageRate
  }

  /// When input may be read again; nil for now.
  func pause(now: Duration) -> Duration? { usedUntil > now ? usedUntil : nil }
}
