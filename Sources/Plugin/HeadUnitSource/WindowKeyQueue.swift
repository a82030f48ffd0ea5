import SDLHeadUnit
import SDLMessages

/// Keys of the window that shows the video, as buttons of the car, on their way to the server's thread.
///
/// As with touches (``WindowTouchQueue``), the window never waits for the network. If too many wait, no more go down.
struct WindowKeyQueue: Sendable {
  /// The most presses that wait, besides releases of keys that are down.
  static let maximumWaiting = 256

  private struct Key {
    var app: UInt8
    var button: ButtonName
    var press: DriverInput.Press
  }

  /// The apps of the buttons that are down.
  private var down: [ButtonName: UInt8] = [:]
  private var waiting: [Key] = []

  func isDown(_ button: ButtonName) -> Bool { down[button] != nil }

  /// A key goes down; repeats of a key that is down are ignored.
  ///
  /// - Returns: the app for which the server has to ``fetch(for:)``; nil for none.
  mutating func press(_ button: ButtonName, for app: UInt8) -> UInt8? {
    guard down[button] == nil, waiting.count < Self.maximumWaiting else { return nil }
    down[button] = app
    return add(Key(app: app, button: button, press: .down))
  }

  /// A key goes up, for the app for which it went down.
  ///
  /// - Returns: as ``press(_:for:)``.
  mutating func release(_ button: ButtonName) -> UInt8? {
    down.removeValue(forKey: button).flatMap { add(Key(app: $0, button: button, press: .up)) }
  }

  /// Releases keys that are down.
  ///
  /// - Returns: the apps for which the server has to fetch.
  mutating func releaseAll() -> Set<UInt8> {
    Set(ButtonName.allCases.compactMap { release($0) })
  }

  /// Returns the waiting keys of an app, in order.
  mutating func fetch(for app: UInt8) -> [DriverInput] {
    let keys = waiting.filter { $0.app == app }
    waiting.removeAll { $0.app == app }
    return keys.map { .button($0.button.rawValue, $0.press) }
  }

  /// The app is gone.
  mutating func forget(_ app: UInt8) {
    down = down.filter { $0.value != app }
    waiting.removeAll { $0.app == app }
  }

  private mutating func add(_ key: Key) -> UInt8? {
    let isAsking = !waiting.contains { $0.app == key.app }
    waiting.append(key)
    return isAsking ? key.app : nil
  }
}
