import SDLHeadUnit
import SDLMessages

/// Touches in the window that shows the video, on their way to the server's thread.
///
/// The window never waits for the network: touches wait here until the server's thread fetches them. They are bounded:
/// when too many wait, the fingers are cancelled, and nothing more is taken until all have been fetched.
struct WindowTouchQueue: Sendable {
  /// The most touches that wait, except for a last cancellation.
  static let maximumWaiting = 256

  /// A touch of a picture.
  struct Touch: Equatable, Sendable {
    var app: UInt8
    var touch: PictureTouch
    /// Size of the picture that was touched.
    var picture: VideoSize
  }

  enum Outcome {
    /// The server has to ``fetch(for:)``.
    case fetch
    case nothingToDo
    /// It is no input for an app.
    case noInput
  }

  private var fingers = WindowTouchTracker()
  /// Size of the picture that was touched last.
  private var picture: VideoSize?
  private var waiting: [Touch] = []
  private var isCongested = false

  /// Takes an event of a window that shows `app`.
  mutating func receive(
    _ input: WindowInput, for app: UInt8, picture: VideoSize, now: Duration
  ) -> Outcome {
    guard !isCongested else { return .nothingToDo }
    guard let touches = fingers.receive(input, time: now) else { return .noInput }
    self.picture = picture
    let isAsking = add(touches, for: app)
    if waiting.count >= Self.maximumWaiting {
      _ = interrupt(for: app, now: now)
      isCongested = true
    }
    return isAsking ? .fetch : .nothingToDo
  }

  /// Cancels the fingers that are down; returns whether the server has to ``fetch(for:)``.
  mutating func interrupt(for app: UInt8?, now: Duration) -> Bool {
    let touches = fingers.interrupt(time: now)
    return app.map { add(touches, for: $0) } ?? false
  }

  /// Returns the waiting touches of an app, in order.
  mutating func fetch(for app: UInt8) -> [Touch] {
    let touches = waiting.filter { $0.app == app }
    forget(app)
    return touches
  }

  /// The app is gone.
  mutating func forget(_ app: UInt8) {
    waiting.removeAll { $0.app == app }
    if waiting.isEmpty { isCongested = false }
  }

  private mutating func add(_ touches: [PictureTouch], for app: UInt8) -> Bool {
    guard !touches.isEmpty, let picture else { return false }
    let isAsking = !waiting.contains { $0.app == app }
    waiting += touches.map { Touch(app: app, touch: $0, picture: picture) }
    return isAsking
  }
}
