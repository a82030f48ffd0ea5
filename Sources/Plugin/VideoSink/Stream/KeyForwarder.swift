import GStreamerKit
import Glibc
import SDLApp
import SDLLink

/// Sends the car's buttons upstream as keys (GstNavigation), to the element that draws the pictures, and posts what is
/// told of them.
final class KeyForwarder: Sendable {
  private struct Step: Sendable {
    var name: String
    var isPress: Bool
  }

  private struct State: Sendable {
    /// The keys that are down, by the names that they went down with.
    var held: [ButtonName: String] = [:]
    /// On their way upstream.
    var outgoing: [Step] = []
    /// The thread that delivers them; nil when there is nothing to deliver.
    var deliverer: pthread_t?
    var isOver = false

    /// Whether it is for the caller to deliver.
    mutating func begin() -> Bool {
      guard deliverer == nil, !outgoing.isEmpty else { return false }
      deliverer = pthread_self()
      return true
    }

    /// The next to be delivered; nil when all is done.
    mutating func next() -> Step? {
      guard outgoing.isEmpty else { return outgoing.removeFirst() }
      deliverer = nil
      return nil
    }

    /// Whether no other thread still has something to deliver.
    var isQuiet: Bool { deliverer.map { pthread_equal($0, pthread_self()) != 0 } ?? true }
  }

  /// How long a state change waits for an event that another thread is delivering; its handler may itself be waiting
  /// for that state change.
  private static let closeTimeout = Duration.milliseconds(200)

  private let sink: VideoSink
  private let time: TimeSource
  private let state = Monitor(State())

  init(sink: VideoSink, time: TimeSource) {
    self.sink = sink
    self.time = time
  }

  /// What the head unit tells of a button. On the connection thread.
  func receive(_ notification: ButtonNotification) {
    sink.count { $0.buttons &+= 1 }
    sink.postButton(notification, key: keyName(of: notification.button))
  }

  /// Keys go down and up. On the connection thread.
  func receive(_ actions: [KeyAction]) {
    state.withLock { state in
      guard !state.isOver else { return }
      for action in actions {
        switch action {
        case .press(let button):
          guard let name = state.held[button] ?? keyName(of: button) else { continue }
          state.held[button] = name
          state.outgoing.append(Step(name: name, isPress: true))
        case .release(let button):
          if let name = state.held.removeValue(forKey: button) {
            state.outgoing.append(Step(name: name, isPress: false))
          }
        }
      }
    }
    guard state.withLock({ $0.begin() }) else { return }
    deliverAll()
    state.broadcast()
  }

  /// Releases the keys that are down, before the pad is deactivated: waits ``closeTimeout`` at most for an event that
  /// another thread is delivering.
  func finish() {
    state.withLock { state in
      state.isOver = true
      state.outgoing += state.held.values.sorted().map { Step(name: $0, isPress: false) }
      state.held = [:]
    }
    let isQuiet = state.wait(until: MonotonicClock.now + Self.closeTimeout) { $0.isQuiet ? true : nil }
    // Also in a handler of a key event, on the thread that delivers.
    if isQuiet == true { deliverAll() }
  }

  private func deliverAll() {
    while let step = state.withLock({ $0.next() }) { push(step) }
  }

  private func keyName(of button: ButtonName) -> String? {
    sink.settings.withLock { $0.keys.map.keyName(of: button) }
  }

  /// On the pad itself, as touches are.
  private func push(_ step: Step) {
    let modifiers = GST_NAVIGATION_MODIFIER_NONE
    let made =
      step.isPress
      ? gst_navigation_event_new_key_press(step.name, modifiers)
      : gst_navigation_event_new_key_release(step.name, modifiers)
    guard let event = Event(owning: made) else { return }
    event.pointer.pointee.timestamp = GstClockTime(clamping: time.now.nanoseconds)
    sink.count { $0.navigationEvents &+= 1 }
    guard !event.shared().push(on: sink.pad), !state.withLock({ $0.isOver }) else { return }
    sink.post(gst_navigation_message_new_event(sink.gstElement.cast(), event.pointer))
  }
}

extension VideoSink {
  /// `sdl-button`: what the driver does with a button of the car.
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
