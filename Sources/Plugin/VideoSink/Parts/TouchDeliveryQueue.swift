import Glibc
import SDLApp

/// Touches on their way upstream. Two threads add them: the connection thread, and the streaming thread with motion
/// that has waited for a frame. One thread at a time delivers, also what the other adds meanwhile.
struct TouchDeliveryQueue: Sendable {
  /// If more than this waits, an event handler upstream does not return: all is replaced by the end of the touches.
  static let capacity = 1000

  var input = TouchInput()
  var mouse = MouseEmulation()
  private var clock = TouchClock()
  private var fingersDown: Set<Int> = []
  private(set) var outgoing: [TouchInput.Output] = []
  /// The thread that delivers; nil when there is nothing to deliver.
  private var deliverer: pthread_t?
  /// The way upstream is closed: nothing is delivered any more.
  private(set) var isClosed = false

  /// Adds what is to be delivered; true when it is for the caller to do so, with ``next()``.
  mutating func add(_ outputs: [TouchInput.Output]) -> Bool {
    guard !isClosed else { return false }
    outgoing += outputs
    for case .touch(let action) in outputs { note(action) }
    if outgoing.count > Self.capacity {
      outgoing = [.touch(.cancel)] + input.interrupt()
      fingersDown = []
    }
    guard deliverer == nil, !outgoing.isEmpty else { return false }
    deliverer = pthread_self()
    return true
  }

  private mutating func note(_ action: TouchAction) {
    switch action {
    case .down(let touch): fingersDown.insert(touch.id)
    case .up(let touch): fingersDown.remove(touch.id)
    case .cancel: fingersDown.removeAll()
    case .motion, .frame: break
    }
  }

  /// Ends the touches under way. Returns what has to be delivered for that.
  mutating func interrupt(now: Duration) -> [TouchInput.Output] {
    fingersDown.isEmpty ? input.interrupt() : input.receive([.cancel], now: now)
  }

  /// The next to be delivered; nil when all is done.
  mutating func next() -> TouchInput.Output? {
    guard !outgoing.isEmpty else {
      deliverer = nil
      return nil
    }
    return outgoing.removeFirst()
  }

  /// Drops what is left.
  mutating func close() {
    isClosed = true
    outgoing = []
  }

  /// Whether no other thread still has something to deliver.
  var isQuiet: Bool { deliverer.map { pthread_equal($0, pthread_self()) != 0 } ?? true }

  /// Converts time stamps from the head unit's clock to ours.
  mutating func localize(_ actions: [TouchAction], arrival: Duration) -> [TouchAction] {
    actions.map { action in
      switch action {
      case .down(let touch): .down(localize(touch, arrival))
      case .motion(let touch): .motion(localize(touch, arrival))
      case .up(let touch): .up(localize(touch, arrival))
      case .frame, .cancel: action
      }
    }
  }

  private mutating func localize(_ touch: Touch, _ arrival: Duration) -> Touch {
    var touch = touch
    touch.time = touch.time.map { clock.local($0, arrival: arrival) } ?? arrival
    return touch
  }
}
