import SDLWire

/// How much a head unit may make the app do: whatever it sends costs time, and while it has used up more than has
/// passed, nothing more is read of it. Nothing is lost that way, and the head unit feels it as a connection that is
/// slow.
///
/// An ordinary head unit never comes near: ten fingers at 120 messages a second cost half of the time.
struct InputBudget: Equatable, Sendable {
  /// What may be used up in advance, as at the start of a session.
  static let reserve = Duration.seconds(2)
  /// A frame that has no consequences, such as an acknowledgement of video.
  static let frame = Duration.microseconds(100)
  /// Any other frame, but for its size.
  static let message = Duration.milliseconds(2)
  /// Each KiB of it: 4 MiB/s.
  static let kibibyte = Duration.microseconds(250)
  /// What the application hears of, or upstream may have to follow, besides.
  static let change = Duration.milliseconds(8)
  /// Each action of a finger, besides.
  static let touch = Duration.microseconds(250)

  /// More runs of garbage than this within a second end the session, as in SDL Core.
  private static let maximumGarbageRate = 10

  /// When the last runs of garbage came, within a second.
  private var garbageTimes: [Duration] = []
  private var hasReceivedFrame = false
  /// Until then all of the time is used up.
  private var usedUntil = Duration.zero - reserve

  mutating func charge(_ cost: Duration, now: Duration) {
    usedUntil = max(usedUntil, now - Self.reserve) + cost
  }

  mutating func charge(_ item: FrameDecoder.Item, now: Duration) {
    guard case .frame(let frame) = item else { return charge(Self.message, now: now) }
    hasReceivedFrame = true
    switch frame.header.controlFrame {
    case .heartbeatACK, .serviceDataACK: charge(Self.frame, now: now)
    default: charge(Self.message + Self.kibibyte * (frame.payload.count / 1024), now: now)
    }
  }

  /// Notes bytes that are no frame.
  ///
  /// - Returns: Whether the peer may still be a head unit.
  mutating func garbageReceived(now: Duration) -> Bool {
    garbageTimes.append(now)
    garbageTimes.removeAll { now - $0 >= .seconds(1) }
    return hasReceivedFrame && garbageTimes.count <= Self.maximumGarbageRate
  }

  /// When something may be read again; nil for now.
  func pause(now: Duration) -> Duration? { usedUntil > now ? usedUntil : nil }
}
