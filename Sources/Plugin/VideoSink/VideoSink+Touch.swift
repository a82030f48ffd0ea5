import GStreamerKit
import SDLApp
import SDLLink

/// Touches go upstream as GstNavigation events, to whoever draws the pictures; those that nobody takes, to the application.
extension VideoSink {
  /// Fingers on the head unit's screen. On the connection thread.
  func touched(_ actions: [TouchAction]) {
    counters.withLock { $0.touches += 1 }
    let now = MonotonicClock.now
    handOver { desk in desk.input.receive(desk.localize(actions, arrival: now), now: now) }
  }

  /// The fingers that are down do not count any more, nor does what they have begun. From any thread.
  func interruptTouches() {
    handOver { $0.interrupt(now: MonotonicClock.now) }
  }

  /// The same, before the way upstream is closed: what another thread is about to deliver is waited for, not for ever, as
  /// whoever gets it may be waiting for this very change.
  func endTouches() {
    interruptTouches()
    _ = touches.wait(until: MonotonicClock.now + .milliseconds(200)) { $0.isQuiet ? true : nil }
  }

  /// Taps that were no double taps, and motion that no frame has come for. On the connection thread.
  func touchAlarmRang() {
    handOver { $0.input.advance(to: MonotonicClock.now) }
  }

  /// On the streaming thread, after each frame, without the turn: what upstream makes of a touch may come back as a flush.
  func deliverMotion() {
    guard isMotionWaiting.load(ordering: .relaxed) else { return }
    handOver { $0.input.frameShown() }
  }

  private func handOver(_ body: (inout TouchDesk) -> [TouchInput.Output]) {
    let (isSynced, isRecognizing) = settings.withLock { ($0.syncedPanning, $0.recognizesGestures) }
    let (isMine, deadline) = touches.withLock { desk in
      desk.input.isSynced = isSynced
      desk.input.setRecognizing(isRecognizing)
      let isMine = desk.add(body(&desk))
      isMotionWaiting.store(desk.input.isWaiting, ordering: .relaxed)
      return (isMine, desk.input.nextDeadline)
    }
    setTimer(at: deadline)
    guard isMine else { return }
    while let output = touches.withLock({ $0.next() }) {
      switch output {
      case .touch(let action): deliver(action)
      case .gesture(let gesture): postGesture(gesture)
      }
    }
    touches.broadcast()
  }

  private func deliver(_ action: TouchAction) {
    push(Self.event(for: action), at: action.time)
    let emulatesMouse = settings.withLock { $0.emulatesMouse }
    let (mouseAction, isPressed) = touches.withLock { desk in
      // A button that is down is released, whatever the property says meanwhile.
      (emulatesMouse || desk.mouse.isPressed ? desk.mouse.receive(action) : nil, desk.mouse.isPressed)
    }
    guard let mouseAction else { return }
    push(Self.event(for: mouseAction, isPressed: isPressed), at: action.time)
  }

  /// On the pad itself, below the base class, whose own functions concern the application's events.
  private func push(_ event: UnsafeMutablePointer<GstEvent>?, at time: Duration?) {
    guard let event else { return }
    event.pointee.timestamp = GstClockTime(clamping: (time ?? MonotonicClock.now).nanoseconds)
    counters.withLock { $0.navigationEvents += 1 }
    gst_event_ref(event)
    if gst_pad_push_event(cgst_base_sink_pad(element), event) == 0 {
      post(gst_navigation_message_new_event(gstElement.cast(), event))
    }
    gst_event_unref(event)
  }

  private static let noModifier = GST_NAVIGATION_MODIFIER_NONE
  /// The finger's pressure, which the head unit does not tell.
  private static let unknownPressure = Double.nan

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

  /// `sdl-gesture`: what fingers on the screen mean.
  private func postGesture(_ gesture: Gesture) {
    let message = Structure("sdl-gesture")
    func set(_ message: borrowing Structure, _ type: String, _ position: TouchPosition) {
      message.set("type", type)
      message.set("x", position.x)
      message.set("y", position.y)
    }
    switch gesture {
    case .tap(let position): set(message, "tap", position)
    case .doubleTap(let position): set(message, "double-tap", position)
    case .panStart(let position): set(message, "pan-start", position)
    case .pan(let from, let to):
      set(message, "pan", to)
      message.set("from-x", from.x)
      message.set("from-y", from.y)
    case .panEnd(let position): set(message, "pan-end", position)
    case .panCancel(let position): set(message, "pan-cancel", position)
    case .pinchStart(let center): set(message, "pinch-start", center)
    case .pinch(let center, let scale):
      set(message, "pinch", center)
      message.set("scale", scale)
    case .pinchEnd(let center): set(message, "pinch-end", center)
    case .pinchCancel(let center): set(message, "pinch-cancel", center)
    }
    post(gst_message_new_element(gstElement.cast(), message.take()))
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
