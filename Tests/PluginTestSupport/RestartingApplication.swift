import GStreamerKit
import Glibc
import SDLLink
import Testing

/// An application that restarts its pipeline from inside a callback, on the thread of that, and notes what it
/// is still told on that thread afterwards.
///
/// `@unchecked Sendable`: what changes is in a monitor, and GStreamer's objects have locks of their own.
final class RestartingApplication: @unchecked Sendable {
  /// The callback from inside which it restarts.
  enum Trigger: Sendable, CustomTestStringConvertible {
    /// An element message with this name.
    case element(String)
    /// Any message of this type.
    case type(GstMessageType)
    /// The notification of a property.
    case property(String)
    /// A navigation event that goes upstream; see ``handleNavigation()``.
    case navigation

    var testDescription: String {
      switch self {
      case .element(let name): name
      case .type(let type): gst_message_type_get_name(type).map { String(cString: $0) } ?? "?"
      case .property(let name): "notify::\(name)"
      case .navigation: "navigation"
      }
    }
  }

  private enum Phase {
    case idle, armed
    /// In the callback.
    case restarting
    /// On this thread.
    case restarted(pthread_t)
  }

  private struct State {
    var phase = Phase.idle
    /// What came on the thread of a callback after that had restarted the pipeline.
    var late: [String] = []
    var endOfStreamCount = 0
    /// Of the element, since it was last stopped from inside a callback, on any thread.
    var progress: [GstProgressType] = []
    var errors: [String] = []
    /// GStreamer's own threads, on which an application must not stop the pipeline.
    var streamingThreads: Set<pthread_t> = []
    /// That of the application, from which the callbacks are not those of the element's threads.
    var ownThread: pthread_t?

    var isOnOtherThread: Bool { ownThread == pthread_self() || streamingThreads.contains(pthread_self()) }
  }

  private let pipeline: UnsafeMutablePointer<GstElement>
  private let source: UnsafeMutablePointer<GstElement>
  private let trigger: Trigger
  private let waitsForStop: Bool
  private let skipsOtherThreads: Bool
  private let state = Monitor(State())

  /// - Parameters:
  ///   - pipeline: what is restarted; has to stay while this object is there.
  ///   - source: the element with the property of the trigger, which has to stay as well.
  ///   - waitsForStop: whether it restarts no earlier than another thread has begun to stop the source.
  ///   - skipsOtherThreads: whether callbacks on the thread that arms it, and on streaming threads, are passed over.
  init(
    _ pipeline: UnsafeMutablePointer<GstElement>, _ source: UnsafeMutablePointer<GstElement>, at trigger: Trigger,
    waitsForStop: Bool = false, skipsOtherThreads: Bool = false
  ) {
    self.pipeline = pipeline
    self.source = source
    self.skipsOtherThreads = skipsOtherThreads
    self.waitsForStop = waitsForStop
    self.trigger = trigger
    let bus = gst_element_get_bus(pipeline)
    gst_bus_set_sync_handler(
      bus,
      { _, message, data in
        if let message { RestartingApplication.from(data)?.handle(message) }
        return GST_BUS_PASS
      }, Unmanaged.passRetained(self).toOpaque(),
      { if let data = $0 { Unmanaged<RestartingApplication>.fromOpaque(data).release() } })
    gst_object_unref(bus)
    let handler: @convention(c) (gpointer?, UnsafeMutablePointer<GParamSpec>?, gpointer?) -> Void = {
      _, property, data in
      guard let property else { return }
      RestartingApplication.from(data)?.handle(notificationOf: String(cString: property.pointee.name))
    }
    g_signal_connect_data(
      source, "notify", unsafeBitCast(handler, to: GCallback.self), Unmanaged.passRetained(self).toOpaque(),
      { data, _ in if let data { Unmanaged<RestartingApplication>.fromOpaque(data).release() } },
      GConnectFlags(rawValue: 0))
  }

  /// Restarts the pipeline at the next trigger.
  func arm() {
    state.withLock { state in
      state.phase = .armed
      state.ownThread = pthread_self()
    }
  }

  /// Forgets on which thread it has restarted: another may get the same identity once that has ended.
  func disarm() {
    state.withLock { $0.phase = .idle }
  }

  var hasRestarted: Bool { state.withLock { if case .restarted = $0.phase { true } else { false } } }

  /// What it was told after restarts from inside the same callbacks.
  var late: [String] { state.withLock { $0.late } }
  var endOfStreamCount: Int { state.withLock { $0.endOfStreamCount } }

  /// PROGRESS messages of the run that a callback has started.
  var progress: [GstProgressType] { state.withLock { $0.progress } }
  /// Error messages of that run.
  var errors: [String] { state.withLock { $0.errors } }

  func wait() throws {
    let deadline = MonotonicClock.now + testTimeout
    guard state.wait(atLatest: deadline, until: { if case .restarted = $0.phase { true } else { false } }) else {
      throw TestFailure("no \(trigger.testDescription), or no end of the restart")
    }
  }

  /// Waits until it is in the callback.
  func waitForTrigger() throws {
    let deadline = MonotonicClock.now + testTimeout
    guard state.wait(atLatest: deadline, until: { if case .restarting = $0.phase { true } else { false } }) else {
      throw TestFailure("no \(trigger.testDescription)")
    }
  }

  private static func from(_ data: gpointer?) -> RestartingApplication? {
    data.map { Unmanaged<RestartingApplication>.fromOpaque($0).takeUnretainedValue() }
  }

  private func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    let structure = gst_message_get_structure(message)
    let name = structure.flatMap { gst_structure_get_name($0) }.map { String(cString: $0) } ?? ""
    let type = message.pointee.type
    record(message)
    let isTrigger =
      switch trigger {
      case .element(let wanted): type == GST_MESSAGE_ELEMENT && name == wanted
      case .type(let wanted): type == wanted && isFromSource(message)
      case .property, .navigation: false
      }
    guard isTrigger || isFromSource(message) && !Self.isOfStateChange(type) else { return }
    note(name, isTrigger: isTrigger)
  }

  /// What may come from GstBin's or the streaming thread, which may have got the identity of one that has ended.
  private static func isOfStateChange(_ type: GstMessageType) -> Bool {
    [GST_MESSAGE_STATE_CHANGED, GST_MESSAGE_ASYNC_START, GST_MESSAGE_ASYNC_DONE].contains(type)
  }

  private func record(_ message: UnsafeMutablePointer<GstMessage>) {
    let value = BusMessage(message)
    state.withLock { state in
      switch message.pointee.type {
      case GST_MESSAGE_EOS: state.endOfStreamCount += 1
      case GST_MESSAGE_ERROR: state.errors.append(value.description)
      case GST_MESSAGE_PROGRESS: if let type = value.progress { state.progress.append(type) }
      case GST_MESSAGE_STREAM_STATUS:
        var type = GST_STREAM_STATUS_TYPE_CREATE
        gst_message_parse_stream_status(message, &type, nil)
        if type == GST_STREAM_STATUS_TYPE_ENTER { state.streamingThreads.insert(pthread_self()) }
        if type == GST_STREAM_STATUS_TYPE_LEAVE { state.streamingThreads.remove(pthread_self()) }
      default: break
      }
    }
  }

  /// Other elements post messages of their own, such as LATENCY.
  private func isFromSource(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    message.pointee.src.map { UnsafeMutableRawPointer($0) == UnsafeMutableRawPointer(source) } ?? false
  }

  /// Called for each navigation event, on the thread that brings it.
  func handleNavigation() {
    let isTrigger = if case .navigation = trigger { true } else { false }
    note("navigation", isTrigger: isTrigger)
  }

  private func handle(notificationOf property: String) {
    let isTrigger = if case .property(property) = trigger { true } else { false }
    note("notify::\(property)", isTrigger: isTrigger)
  }

  private func note(_ name: String, isTrigger: Bool) {
    let isProperty = if case .property = trigger { isTrigger } else { false }
    let restarts = state.withLock { state in
      switch state.phase {
      // GObject begins a notification anew (G_SIGNAL_NO_RECURSE) during which the property changes, as apps do at the
      // stop.
      // A streaming thread may have got the identity of the one that has ended.
      case .restarted(let thread)
      where pthread_equal(thread, pthread_self()) != 0 && !isProperty
        && !state.streamingThreads.contains(pthread_self()):
        state.late.append(name)
      case .armed where isTrigger && !(skipsOtherThreads && state.isOnOtherThread):
        state.phase = .restarting
        return true
      default: break
      }
      return false
    }
    guard restarts else { return }
    state.broadcast()
    // The pending state is set with the state lock held.
    if waitsForStop { _ = eventually { self.pipeline.pointee.pending_state == GST_STATE_NULL } }
    gst_element_set_state(pipeline, GST_STATE_NULL)
    state.withLock { state in
      state.progress = []
      state.errors = []
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    state.withLock { $0.phase = .restarted(pthread_self()) }
    state.broadcast()
  }
}
