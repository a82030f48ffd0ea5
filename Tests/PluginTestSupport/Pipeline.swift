import CGStreamerApp
import GStreamerKit
@testable import Plugin
@testable import SDLLink
import Testing

/// A pipeline written as for gst-launch, whose sink under test has the name "sink".
final class Pipeline {
  let element: Element
  /// Every message that has been taken from the bus.
  private(set) var messages: [BusMessage] = []
  private let bus: UnsafeMutablePointer<GstBus>
  private var follower: BufferingFollower?

  init(_ description: String) throws {
    guard GStreamer.isReady else { throw TestFailure("GStreamer could not be set up") }
    var error: UnsafeMutablePointer<GError>?
    let parsed = gst_parse_launch(description, &error)
    defer { g_clear_error(&error) }
    guard error == nil, let parsed else {
      throw TestFailure(error.map { String(cString: $0.pointee.message) } ?? "no pipeline")
    }
    gst_object_ref_sink(parsed)
    element = Element(owning: parsed)
    guard let bus = gst_element_get_bus(parsed) else { throw TestFailure("no bus") }
    self.bus = bus
  }

  deinit {
    follower?.end()
    stop()
    gst_object_unref(bus)
  }

  subscript(_ name: String) -> Element {
    get throws {
      let bin: UnsafeMutablePointer<GstBin> = element.pointer.cast()
      guard let found = gst_bin_get_by_name(bin, name) else { throw TestFailure("no element \(name)") }
      return Element(owning: found)
    }
  }

  var sink: Element { get throws { try self["sink"] } }

  @discardableResult
  func setState(_ state: GstState) -> GstStateChangeReturn {
    // GStreamer goes on from PAUSED to PLAYING on a thread of its own. A pause just before that leaves the pipeline in
    // PAUSED until it is set to READY, with any sink.
    let pipeline = element.pointer
    if state == GST_STATE_PAUSED {
      let deadline = MonotonicClock.now + .seconds(1)
      while pipeline.pointee.pending_state == GST_STATE_PLAYING, MonotonicClock.now < deadline { g_usleep(1000) }
    }
    return gst_element_set_state(pipeline, state)
  }

  func play() throws {
    if setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE {
      throw TestFailure("the pipeline did not start: \(drain())")
    }
  }

  /// Pauses below 100 % BUFFERING from now on, as players do. A file loses pictures otherwise whenever the machine is so
  /// busy that the service starts late.
  func followBuffering() throws {
    if follower == nil { follower = try BufferingFollower(element.pointer) }
  }

  /// How late the player was altogether when BUFFERING asked for a pause.
  var pauseDelay: Duration { follower?.delay ?? .zero }

  /// Plays, and follows BUFFERING.
  func playAsAPlayer() throws {
    try followBuffering()
    try play()
  }

  /// Pauses playbin or playbin3, until it has taken its video sink, "sink". Of GStreamer 1.22 the latter sometimes loses a
  /// stream before that, with any sinks, and waits for it without end: then it begins again.
  func pausePlayer() throws {
    for _ in 0..<5 {
      setState(GST_STATE_PAUSED)
      let deadline = MonotonicClock.now + .seconds(10)
      if eventually({ (try? sink) != nil || MonotonicClock.now > deadline }), (try? sink) != nil { return }
      stop()
    }
    throw TestFailure("the player takes no sink: \(drain())")
  }

  /// Plays from when frames may be sent: a file without `sync` is over before that otherwise.
  func playFromStart() throws {
    setState(GST_STATE_PAUSED)
    try waitForElementMessage("sdl-stream-started")
    try reach(GST_STATE_PLAYING)
  }

  /// Waits until the state has been reached. Who follows BUFFERING may pause before that, and play again.
  func reach(_ state: GstState) throws {
    setState(state)
    var reached = GST_STATE_NULL
    let isReached = eventually {
      gst_element_get_state(element.pointer, &reached, nil, GstClockTime(testTimeout.nanoseconds))
        != GST_STATE_CHANGE_FAILURE && reached == state
    }
    guard isReached else {
      throw TestFailure("\(state) was not reached, but \(reached): \(drain())")
    }
  }

  /// The longest that going to NULL may take, wherever the element is. The elements give up after 1.6 s; on a busy
  /// machine their threads come late. A stop that is not bounded takes as long as the connection's own time-outs.
  static let stopLimit = Duration.seconds(5)

  /// Goes to NULL, in time.
  func stop(within limit: Duration = stopLimit, sourceLocation: SourceLocation = #_sourceLocation) {
    expectReturn("the pipeline does not stop", within: limit, sourceLocation: sourceLocation) {
      gst_element_set_state($0, GST_STATE_NULL)
    }
  }

  /// Goes to NULL, with the messages of that still on the bus.
  func stopKeepingMessages() throws {
    element.set("auto-flush-bus", "false")
    stop()
  }

  /// Does something with the pipeline that must return in time. A deadlock fails the test instead of stopping all of
  /// them.
  func expectReturn(
    _ failure: String, within limit: Duration = stopLimit, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (UnsafeMutablePointer<GstElement>) -> Void
  ) {
    let isDone = Monitor(false)
    let began = MonotonicClock.now
    let pointer = element.pointer
    gst_object_ref(pointer)
    nonisolated(unsafe) let pipeline = pointer
    guard
      (try? WorkerThread.detach(name: "stop") {
        body(pipeline)
        isDone.withLock { $0 = true }
        isDone.broadcast()
        gst_object_unref(pipeline)
      }) != nil,
      isDone.wait(atLatest: began + testTimeout, until: { $0 })
    else {
      Issue.record("\(failure)", sourceLocation: sourceLocation)
      return
    }
    #expect(MonotonicClock.now - began < limit, sourceLocation: sourceLocation)
  }

  /// The next message, or nil when none comes within `timeout`.
  func next(within timeout: Duration) -> BusMessage? {
    guard let message = gst_bus_timed_pop(bus, GstClockTime(max(timeout, .zero).nanoseconds)) else { return nil }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self)) }
    let value = BusMessage(message)
    messages.append(value)
    return value
  }

  /// Everything that is on the bus now, and what came before.
  @discardableResult
  func drain() -> [BusMessage] {
    while next(within: .zero) != nil {}
    return messages
  }

  /// Takes everything from the bus and clears ``messages``, for tests that measure memory.
  func forgetMessages() {
    drain()
    messages = []
  }

  /// The states of the pipeline and its elements, for failures.
  private var states: String {
    var elements = [element.pointer]
    var child = UnsafeMutableRawPointer(element.pointer).assumingMemoryBound(to: GstBin.self).pointee.children
    while let node = child {
      elements.append(node.pointee.data.assumingMemoryBound(to: GstElement.self))
      child = node.pointee.next
    }
    return elements.map { pointer in
      let name = String(cString: UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstObject.self).pointee.name)
      let state = pointer.pointee
      return "\(name): \(state.current_state), next \(state.next_state), pending \(state.pending_state), "
        + "target \(state.target_state), last returned \(state.last_return)"
    }.joined(separator: "; ")
  }

  /// Waits until `match` returns a value for a message; others are kept in ``messages``. The first error ends
  /// the wait.
  @discardableResult
  func wait<R>(for what: String, _ match: (BusMessage) -> R?) throws -> R {
    let deadline = MonotonicClock.now + testTimeout
    while let message = next(within: deadline - MonotonicClock.now) {
      if let result = match(message) { return result }
      if message.error != nil, messages.count(where: { $0.error != nil }) == 1 { break }
    }
    throw TestFailure("no \(what) in \(states), among: \(messages.map { "\n  \($0)" }.joined())")
  }

  @discardableResult
  func waitForElementMessage(_ name: String) throws -> [String: String] {
    try wait(for: name) { $0.isElement(name) ? $0.fields : nil }
  }

  func waitForError() throws -> BusMessage.Fault { try wait(for: "error") { $0.error } }

  func waitForWarning() throws -> BusMessage.Fault { try wait(for: "warning") { $0.warning } }

  /// Waits for a PROGRESS message of the wait for a driver who opens the app.
  func waitForDriverRequest(_ type: GstProgressType) throws {
    try wait(for: "progress of the driver") { message -> Bool? in
      guard case .progress(type, code: "activate", _) = message.kind else { return nil }
      return true
    }
  }

  func waitForEnd() throws { try wait(for: "EOS") { $0.kind == .endOfStream ? true : nil } }
}
