import GStreamerKit
import SDLApp
import SDLLink

/// Sends the car's buttons upstream as keys (GstNavigation), to the element that draws the pictures, and posts messages
/// about them.
final class KeyForwarder: Sendable {
  private struct Step: Sendable {
    var name: String
    var isPress: Bool
  }

  private struct State: Sendable {
    /// The keys that are down, by the names that they went down with.
    var held: [ButtonName: String] = [:]
    var queue = DeliveryQueue<Step>()
  }

  private let sink: VideoSink
  private let time: TimeSource
  private let state = Monitor(State())

  init(sink: VideoSink, time: TimeSource) {
    self.sink = sink
    self.time = time
  }

  /// A notification of the head unit about a button. On the connection thread.
  func receive(_ notification: ButtonNotification) {
    sink.count { $0.buttons &+= 1 }
    sink.postButton(notification, key: keyName(of: notification.button))
  }

  /// Keys go down and up. On the connection thread.
  func receive(_ actions: [KeyAction]) {
    let isMine = state.withLock { state in
      guard !state.queue.isSealed else { return false }
      return state.queue.add(actions.compactMap { step(for: $0, &state.held) })
    }
    guard isMine else { return }
    deliverAll()
    state.broadcast()
  }

  /// Nil for a button that is no key.
  private func step(for action: KeyAction, _ held: inout [ButtonName: String]) -> Step? {
    switch action {
    case .press(let button):
      guard let name = held[button] ?? keyName(of: button) else { return nil }
      held[button] = name
      return Step(name: name, isPress: true)
    case .release(let button): return held.removeValue(forKey: button).map { Step(name: $0, isPress: false) }
    }
  }

  /// Releases the keys that are down, before the pad is deactivated: waits ``DeliveryQueue/closeTimeout`` at most for
  /// an event that another thread is delivering.
  func finish() {
    state.withLock { state in
      state.queue.seal(with: state.held.values.sorted().map { Step(name: $0, isPress: false) })
      state.held = [:]
    }
    let deadline = MonotonicClock.now + DeliveryQueue<Step>.closeTimeout
    if state.wait(atLatest: deadline, until: { $0.queue.takeOver() }) { deliverAll() }
    state.withLock { $0.queue.close() }
  }

  private func deliverAll() {
    while let step = state.withLock({ $0.queue.next() }) { push(step) }
  }

  private func keyName(of button: ButtonName) -> String? {
    sink.settings.withLock { $0.keys.map.keyName(of: button) }
  }

  private func push(_ step: Step) {
    let modifiers = GST_NAVIGATION_MODIFIER_NONE
    sink.count { $0.navigationEvents &+= 1 }
    sink.pushNavigation(
      step.isPress
        ? gst_navigation_event_new_key_press(step.name, modifiers)
        : gst_navigation_event_new_key_release(step.name, modifiers),
      at: time.now, unless: { state.withLock { $0.queue.isClosed } })
  }
}

extension VideoSink {
  /// `sdl-button`: the driver uses a button of the car.
  fileprivate func postButton(_ notification: ButtonNotification, key: String?) {
    let message = Structure("sdl-button")
    message.set("button", notification.button.rawValue)
    message.set("type", notification.signal.name)
    message.set("key", key)
    postElementMessage(message)
  }
}

extension ButtonNotification.Signal {
  fileprivate var name: String {
    switch self {
    case .down: "down"
    case .up: "up"
    case .shortPress: "short-press"
    case .longPress: "long-press"
    }
  }
}
