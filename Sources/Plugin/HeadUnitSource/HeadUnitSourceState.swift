import SDLLink

/// What is; shared between the application's threads, the server's and the streaming thread.
struct HeadUnitSourceState: Sendable {
  /// Nil while the element does not run.
  var server: HeadUnitServer?
  var apps = ServedApps()
  var queue = AccessUnitQueue()
  var violations = ViolationLog()
  var totals = HeadUnitSourceTotals()
  /// Whose video is shown: the app that started video last.
  var streamingApp: UInt8?
  /// Its video can be pushed.
  var isH264 = true
  /// Of the access unit that comes next.
  var timestamp: UInt32?
  /// Times are taken from RTP, which downstream has to allow some delay for.
  var usesRTP = false
  var isFlushing = false
  /// The stream ends when the queue is empty.
  var isEnding = false

  /// The element has stopped; what was counted stays.
  mutating func end() {
    queue.discard()
    server = nil
    apps = ServedApps()
    streamingApp = nil
    timestamp = nil
    usesRTP = false
    isEnding = false
  }
}

/// What happened, over the life of the element.
struct HeadUnitSourceTotals: Sendable {
  var connections: UInt64 = 0
  var refusals: UInt64 = 0
  var registrations: UInt64 = 0
  var streamStarts: UInt64 = 0
  var streamRefusals: UInt64 = 0
}
