import GStreamerKit
import Glibc
import SDLLink
import Testing

/// An application that restarts its pipeline from inside a callback, on whatever thread that comes, and records the
/// callbacks that still arrive on that thread afterwards.
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

    var testDescription: String {
      switch self {
      case .element(let name): name
      case .type(let type): gst_message_type_get_name(type).map { String(cString: $0) } ?? "?"
      case .property(let name): "notify::\(name)"
      }
    }
  }

  private enum Progress {
    case idle, armed
    /// In the callback.
    case restarting
    /// On this thread.
    case restarted(pthread_t)
  }

  private struct State {
    var progress = Progress.idle
    /// What came on the thread of a callback after that had restarted the pipeline.
    var late: [String] = []
    var endOfStreamCount = 0
  }

  private let pipeline: UnsafeMutablePointer<GstElement>
  private let trigger: Trigger
  private let waitsForStop: Bool
  private let state = Monitor(State())

  /// - Parameters:
  ///   - pipeline: what is restarted; has to stay while this object is there.
  ///   - source: the element with the property of the trigger.
  ///   - waitsForStop: whether it restarts no earlier than another thread has begun to stop the source.
  init(
    _ pipeline: UnsafeMutablePointer<GstElement>, _ source: UnsafeMutablePointer<GstElement>, at trigger: Trigger,
    waitsForStop: Bool = false
  ) {
    self.pipeline = pipeline
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
    state.withLock { $0.progress = .armed }
  }

  /// Clears the thread of the restart: another may get the same identity once that has ended.
  func disarm() {
    state.withLock { $0.progress = .idle }
  }

  var hasRestarted: Bool { state.withLock { if case .restarted = $0.progress { true } else { false } } }

  /// The callbacks that came after a restart, from inside the callback that restarted.
  var late: [String] { state.withLock { $0.late } }
  var endOfStreamCount: Int { state.withLock { $0.endOfStreamCount } }

  func wait() throws {
    let deadline = MonotonicClock.now + testTimeout
    guard state.wait(until: deadline, for: { if case .restarted = $0.progress { true } else { nil } }) != nil else {
      throw TestFailure("no \(trigger.testDescription), or no end of the restart")
    }
  }

  /// Waits until it is in the callback.
  func waitForTrigger() throws {
    let deadline = MonotonicClock.now + testTimeout
    guard state.wait(until: deadline, for: { if case .restarting = $0.progress { true } else { nil } }) != nil else {
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
    if type == GST_MESSAGE_EOS { state.withLock { $0.endOfStreamCount += 1 } }
    let isTrigger =
      switch trigger {
      case .element(let wanted): type == GST_MESSAGE_ELEMENT && name == wanted
      case .type(let wanted): type == wanted && isFromSource(message)
      case .property: false
      }
    note(name, isTrigger: isTrigger)
  }

  /// Sinks post messages of their own, such as LATENCY.
  private func isFromSource(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    guard let name = message.pointee.src.flatMap({ gst_object_get_name($0) }) else { return false }
    defer { g_free(name) }
    return String(cString: name) == "src"
  }

  private func handle(notificationOf property: String) {
    let isTrigger = if case .property(property) = trigger { true } else { false }
    note("notify::\(property)", isTrigger: isTrigger)
  }

  private func note(_ name: String, isTrigger: Bool) {
    let restarts = state.withLock { state in
      switch state.progress {
      // GObject restarts a notification (G_SIGNAL_NO_RECURSE) if the property changes during it; `apps` does at a stop.
      case .restarted(let thread) where pthread_equal(thread, pthread_self()) != 0 && !isTrigger:
        state.late.append(name)
      case .armed where isTrigger:
        state.progress = .restarting
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
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    state.withLock { $0.progress = .restarted(pthread_self()) }
    state.broadcast()
  }
}
