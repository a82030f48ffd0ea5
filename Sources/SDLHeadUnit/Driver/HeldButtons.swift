/// The buttons of the car that the driver holds down, and for how long.
struct HeldButtons: Sendable {
  /// A press of this duration is a long one. SDL Core leaves that to the HMI.
  static let longPress = Duration.seconds(1)
  /// How long the driver holds a button for `press BUTTON long`.
  static let hold = Duration.milliseconds(1200)

  private struct Hold {
    var start: Duration
    /// When the driver releases the button; nil if that is an input of its own.
    var end: Duration?
  }

  /// By their names; never more than there are buttons.
  private var held: [String: Hold] = [:]

  /// When the driver releases the next one.
  var nextRelease: Duration? { held.values.compactMap(\.end).min() }

  /// The buttons that the driver releases now.
  func released(at now: Duration) -> [String] {
    held.filter { $0.value.end.map { $0 <= now } ?? false }.keys.sorted()
  }

  func isHeld(_ name: String) -> Bool { held[name] != nil }

  /// A button goes down; false if it is down.
  mutating func press(_ name: String, now: Duration, until end: Duration? = nil) -> Bool {
    guard held[name] == nil else { return false }
    held[name] = Hold(start: now, end: end)
    return true
  }

  /// A button goes up. Returns whether the press was a long one; nil if it is not down.
  mutating func release(_ name: String, now: Duration) -> Bool? {
    held.removeValue(forKey: name).map { now - $0.start >= Self.longPress }
  }
}
