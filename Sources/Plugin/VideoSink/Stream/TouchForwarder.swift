import GStreamerKit
import SDLApp
import SDLAppLink
import SDLLink

struct TouchSettings: Equatable, Sendable {
  var isSynced = true
  var emulatesMouse = false
  var recognizesGestures = false
}

/// Sends touches upstream as GstNavigation events, to the element that draws the pictures. Events that no element
/// handles are posted for the application.
final class TouchForwarder: Sendable {
  private static let noModifier = GST_NAVIGATION_MODIFIER_NONE
  /// The finger's pressure, which the head unit does not send.
  private static let unknownPressure = Double.nan

  private let sink: VideoSink
  private let connection: AppConnection
  private let time: TimeSource
  private let queue: Monitor<TouchDeliveryQueue>
  /// Motion of fingers waits for the next frame.
  private let isMotionWaiting = AtomicFlag()

  init(sink: VideoSink, connection: AppConnection, time: TimeSource) {
    self.sink = sink
    self.connection = connection
    self.time = time
    queue = Monitor(TouchDeliveryQueue())
  }

  /// The properties have changed, or the stream begins.
  func applySettings() {
    queue.withLock { $0.settings = sink.settings.withLock { $0.touch } }
  }

  /// How pictures of the input are turned, and the size that they have then; nil while it is unknown.
  func setTurn(_ turn: PictureTurn, of size: VideoSize?) {
    queue.withLock { ($0.turn, $0.pictureSize) = (turn, size) }
  }

  /// Fingers on the head unit's screen. On the connection thread.
  func receive(_ actions: [TouchAction]) {
    let now = time.now
    deliver(isTouch: true) { queue in queue.input.receive(queue.localize(actions, arrival: now), now: now) }
  }

  /// Cancels the fingers that are down, and the gestures under way. From any thread.
  func interrupt() {
    deliver { $0.interrupt(now: time.now) }
  }

  /// The same, before the pad is deactivated: waits ``DeliveryQueue/closeTimeout`` at most for an event that another
  /// thread is delivering.
  func finish() {
    queue.withLock { $0.seal(now: time.now) }
    let deadline = MonotonicClock.now + TouchDeliveryQueue.closeTimeout
    if queue.wait(atLatest: deadline, until: { $0.takeOver() }) { deliverAll() }
    queue.withLock { $0.close() }
  }

  /// Delivers taps that turned out not to be double taps, and motion that no frame has come for. On the connection
  /// thread.
  func timerFired() {
    deliver { $0.input.advance(to: time.now) }
  }

  /// Whether ``frameShown()`` has something to deliver.
  var hasWaitingMotion: Bool { isMotionWaiting.peek }

  /// On the streaming thread, after each frame: motion waits for that.
  func frameShown() {
    guard isMotionWaiting.peek else { return }
    deliver { $0.input.frameShown() }
  }

  /// Adds the events of `body`, and delivers them if no other thread does.
  private func deliver(isTouch: Bool = false, _ body: (inout TouchDeliveryQueue) -> [TouchInput.Output]) {
    let (isMine, first, deadline) = queue.withLock { queue in
      let isMine = queue.add(body(&queue))
      isMotionWaiting.set(queue.input.isWaiting)
      return (isMine, isMine ? queue.next() : nil, queue.input.nextDeadline)
    }
    if let deadline { connection.setTimer(at: deadline) }
    if isTouch || first != nil {
      sink.count { counters in
        if isTouch { counters.touches &+= 1 }
        counters.navigationEvents &+= first?.eventCount ?? 0
      }
    }
    guard isMine else { return }
    if let first { send(first) }
    deliverAll()
    queue.broadcast()
  }

  private func deliverAll() {
    while let delivery = queue.withLock({ $0.next() }) {
      sink.count { $0.navigationEvents &+= delivery.eventCount }
      send(delivery)
    }
  }

  private func send(_ delivery: TouchDeliveryQueue.Delivery) {
    switch delivery {
    case .gesture(let gesture): sink.postGesture(gesture)
    case .touch(let action, let mouse):
      push(Self.event(for: action), at: action.time)
      guard let mouse, !isOver else { return }
      push(Self.event(for: mouse.action, isPressed: mouse.isPressed), at: action.time)
    }
  }

  /// A handler of an event may have stopped the element.
  private var isOver: Bool { queue.withLock { $0.isClosed } }

  private func push(_ event: UnsafeMutablePointer<GstEvent>?, at eventTime: Duration?) {
    sink.pushNavigation(event, at: eventTime ?? time.now, unless: { isOver })
  }

  private static func event(for action: TouchAction) -> UnsafeMutablePointer<GstEvent>? {
    switch action {
    case .down(let touch):
      gst_navigation_event_new_touch_down(
        guint(clamping: touch.id), touch.position.x, touch.position.y, unknownPressure, noModifier)
    case .motion(let touch):
      gst_navigation_event_new_touch_motion(
        guint(clamping: touch.id), touch.position.x, touch.position.y, unknownPressure, noModifier)
    case .up(let touch):
      gst_navigation_event_new_touch_up(guint(clamping: touch.id), touch.position.x, touch.position.y, noModifier)
    case .frame: gst_navigation_event_new_touch_frame(noModifier)
    case .cancel: gst_navigation_event_new_touch_cancel(noModifier)
    }
  }

  private static func event(for action: MouseEmulation.Action, isPressed: Bool) -> UnsafeMutablePointer<GstEvent>? {
    switch action {
    case .press(let position): gst_navigation_event_new_mouse_button_press(1, position.x, position.y, noModifier)
    case .move(let position):
      gst_navigation_event_new_mouse_move(
        position.x, position.y, isPressed ? GST_NAVIGATION_MODIFIER_BUTTON1_MASK : noModifier)
    case .release(let position):
      gst_navigation_event_new_mouse_button_release(
        1, position.x, position.y, GST_NAVIGATION_MODIFIER_BUTTON1_MASK)
    }
  }
}

extension TouchAction {
  fileprivate var time: Duration? {
    switch self {
    case .down(let touch), .motion(let touch), .up(let touch): touch.time
    case .frame, .cancel: nil
    }
  }
}

/// Touches on their way upstream. The connection thread adds them, and the streaming thread motion that has waited for
/// a frame.
struct TouchDeliveryQueue: Sendable {
  static let closeTimeout = DeliveryQueue<TouchInput.Output>.closeTimeout
  /// If more than this wait, an event handler upstream does not return: all are replaced by the end of the touches.
  static let capacity = 1000

  /// Events that are delivered together.
  enum Delivery {
    /// With the emulated mouse's action, if any, and whether its button is pressed after that.
    case touch(TouchAction, (action: MouseEmulation.Action, isPressed: Bool)?)
    case gesture(Gesture)

    /// The number of events that go upstream.
    var eventCount: UInt64 {
      switch self {
      case .touch(_, let mouse): mouse == nil ? 1 : 2
      case .gesture: 0
      }
    }
  }

  var settings = TouchSettings() {
    didSet { apply() }
  }
  var turn = PictureTurn.none
  /// Of the pictures that the head unit shows.
  var pictureSize: VideoSize?
  var input = TouchInput()
  private var mouse = MouseEmulation()
  private var clock = TouchClock()
  private var fingersDown: Set<Int> = []
  private var outgoing = DeliveryQueue<TouchInput.Output>()

  init() {
    apply()
  }

  private mutating func apply() {
    input.isSynced = settings.isSynced
    input.setRecognizing(settings.recognizesGestures)
  }

  var isClosed: Bool { outgoing.isClosed }

  /// See ``DeliveryQueue/takeOver()``.
  mutating func takeOver() -> Bool { outgoing.takeOver() }

  /// Ends the touches under way, as the last event.
  mutating func seal(now: Duration) {
    outgoing.seal(with: interrupt(now: now))
  }

  /// Adds events; true when the caller has to deliver, with ``next()``.
  mutating func add(_ outputs: [TouchInput.Output]) -> Bool {
    guard !outgoing.isSealed else { return false }
    for case .touch(let action) in outputs { note(action) }
    let isMine = outgoing.add(outputs)
    if outgoing.count > Self.capacity {
      outgoing.replaceAll(with: [.touch(.cancel)] + input.interrupt())
      fingersDown = []
    }
    return isMine
  }

  private mutating func note(_ action: TouchAction) {
    switch action {
    case .down(let touch): fingersDown.insert(touch.id)
    case .up(let touch): fingersDown.remove(touch.id)
    case .cancel: fingersDown.removeAll()
    case .motion, .frame: break
    }
  }

  /// Ends the touches under way. Returns the events for that.
  mutating func interrupt(now: Duration) -> [TouchInput.Output] {
    fingersDown.isEmpty ? input.interrupt() : input.receive([.cancel], now: now)
  }

  /// The next events to deliver; nil when there are none.
  mutating func next() -> Delivery? {
    switch outgoing.next() {
    case nil: return nil
    case .gesture(let gesture): return .gesture(gesture)
    case .touch(let action):
      // A button that is down is released, even if the property has changed meanwhile.
      let mouseAction = settings.emulatesMouse || mouse.isPressed ? mouse.receive(action) : nil
      return .touch(action, mouseAction.map { ($0, mouse.isPressed) })
    }
  }

  /// Drops the rest.
  mutating func close() {
    outgoing.close()
  }

  /// Converts time stamps from the head unit's clock to ours, and positions to those in pictures of the input.
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
    if let pictureSize { touch.position = turn.origin(of: touch.position, in: pictureSize) }
    return touch
  }
}
