import BackgroundNotice
import SDLLink

/// How much of a background notice has been sent.
struct NoticeProgress {
  private(set) var sequence: NoticeSequence?
  private var index = 0
  private(set) var isRunning = false
  /// Whether the notice is shown; otherwise only the app's last frame is waited for.
  private(set) var isWanted = false
  private var interval: Duration = .zero
  /// When ``next`` is to be sent.
  private(set) var dueTime: Duration = .zero
  /// The app's last frame is in the queue, so the notice may follow.
  var isBehindLastFrame = false

  private var isRepeating = false

  /// The next picture; nil when all have been sent.
  var next: NoticeSequence.AccessUnit? {
    guard let units = sequence?.accessUnits, !units.isEmpty, isRepeating || index < units.count else { return nil }
    return units[index % units.count]
  }

  mutating func begin(isWanted: Bool, frameRate: Int, now: Duration) {
    self = NoticeProgress()
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
    index &+= 1
    dueTime += interval
  }

  /// From now on over and over, lest the head unit blank its screen.
  mutating func repeatSlowly(every interval: Duration, now: Duration) {
    isRepeating = true
    self.interval = interval
    dueTime = now + interval
  }

  mutating func end() {
    self = NoticeProgress()
  }
}
