import SDLHeadUnit
import SDLLink
import SDLMessages

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
  /// In the window that shows the video.
  var fingers = TouchTracker()
  /// Size of the pictures that were touched last.
  var touchedPicture: ImageResolution?
  /// The stream ends when the queue is empty.
  var isEnding = false

  /// The element has stopped; what was counted stays.
  mutating func end() {
    queue.discard()
    server = nil
    apps = ServedApps()
    streamingApp = nil
    fingers = TouchTracker()
    touchedPicture = nil
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
  /// That were meant for an app.
  var navigationEvents: UInt64 = 0
  /// Messages about fingers.
  var touches: UInt64 = 0
}
