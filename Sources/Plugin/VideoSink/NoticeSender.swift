import BackgroundNotice
import X264Encoder

/// What a notice is made of.
struct NoticeRequest: Sendable {
  var text: String
  var settings: EncoderSettings

  /// Whether the same notice serves both: it may have another bitrate than the stream.
  func isSame(as other: NoticeRequest) -> Bool {
    var settings = settings
    settings.bitrate = other.settings.bitrate
    return text == other.text && settings == other.settings
  }
}

/// The notice for the present stream, ready or being made.
struct PreparedNotice: Sendable {
  var request: NoticeRequest?
  var isReady = false
  /// Nil when it could not be made.
  var sequence: NoticeSequence?
}

/// How much of a notice has been sent.
struct NoticeSender {
  private(set) var sequence: NoticeSequence?
  private var index = 0
  private(set) var isRunning = false
  /// Otherwise there is only the app's last frame to wait for.
  private(set) var isWanted = false
  private var interval: Duration = .zero
  /// When ``next`` is to be sent.
  private(set) var dueTime: Duration = .zero
  /// The app's last frame is behind us.
  var hasTurned = false

  private var isRepeating = false

  /// The next picture; nil when all have been sent.
  var next: NoticeSequence.AccessUnit? {
    guard let units = sequence?.accessUnits, !units.isEmpty, isRepeating || index < units.count else { return nil }
    return units[index % units.count]
  }

  mutating func begin(isWanted: Bool, frameRate: Int, now: Duration) {
    self = NoticeSender()
    self.isWanted = isWanted
    isRunning = true
    dueTime = now
    interval = .seconds(1) / max(frameRate, 1)
  }

  mutating func load(_ sequence: NoticeSequence, now: Duration) {
    self.sequence = sequence
    dueTime = now
  }

  mutating func advance() {
    index += 1
    dueTime += interval
  }

  /// From now on over and over, lest the head unit blank its screen.
  mutating func repeatSlowly(every interval: Duration, now: Duration) {
    isRepeating = true
    self.interval = interval
    dueTime = now + interval
  }

  mutating func end() {
    self = NoticeSender()
  }
}
