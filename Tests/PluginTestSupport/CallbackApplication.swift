import CGStreamerApp
import Foundation
import GStreamerKit
import SDLLink

/// An application that does something once inside a callback of its pipeline, on the thread that brings it.
///
/// GStreamer forbids a streaming thread to change states and to flush, and a thread on which an element changes its state
/// to free that element, and the sink forbids both in its signals: there, another thread does it, and the callback waits
/// for it a moment, as an application would that does not know better.
///
/// `@unchecked Sendable`: what changes is in a monitor, and GStreamer's objects have locks of their own.
final class CallbackApplication: @unchecked Sendable {
  /// What its callback is about.
  enum Trigger: Sendable {
    /// An element message with this name.
    case message(String)
    /// A message of this type.
    case type(GstMessageType)
    /// The notification of a property.
    case property(String)
    /// A signal whose only argument is an object.
    case signal(String)
    /// An event that goes upstream through the sink's pad.
    case event(GstEventType)
    /// A CAPS query that the sink's pad has answered.
    case capsQuery

    /// A signal comes in the midst of a frame, on any thread.
    fileprivate var isSignal: Bool { if case .signal = self { true } else { false } }
  }

  private struct State {
    var isArmed = false
    var isDone = false
    /// What another thread does on its behalf.
    var isHelping = false
    /// That of the application.
    var ownThread: pthread_t?
  }

  /// How long a callback waits for another thread.
  private static let patience = Duration.milliseconds(20)

  private let trigger: Trigger
  /// What it does, given a way to have something done that not every thread may do.
  private let action: (_ elsewhere: (@escaping @Sendable () -> Void) -> Void) -> Void
  private let state = Monitor(State())

  /// - Parameters:
  ///   - pipeline: whose bus is watched.
  ///   - sink: of which the properties, signals and the pad are watched.
  ///   - action: what it does.
  init(
    _ pipeline: UnsafeMutablePointer<GstElement>, _ sink: UnsafeMutablePointer<GstElement>, at trigger: Trigger,
    _ action: @escaping (_ elsewhere: (@escaping @Sendable () -> Void) -> Void) -> Void
  ) {
    self.trigger = trigger
    self.action = action
    let bus = gst_element_get_bus(pipeline)
    gst_bus_set_sync_handler(bus, handleMessage, Unmanaged.passRetained(self).toOpaque(), releaseApplication)
    gst_object_unref(bus)
    switch trigger {
    case .message, .type: break
    case .property(let name): connect(sink, "notify::\(name)")
    case .signal(let name): connect(sink, name)
    case .event: probe(sink, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM.rawValue)
    case .capsQuery:
      probe(sink, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_PULL.rawValue)
    }
  }

  private func connect(_ sink: UnsafeMutablePointer<GstElement>, _ signal: String) {
    let handler: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
      if let data { Unmanaged<CallbackApplication>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.fire() } }
    }
    g_signal_connect_data(
      sink, signal, unsafeBitCast(handler, to: GCallback.self), Unmanaged.passRetained(self).toOpaque(),
      { data, _ in releaseApplication(data) }, GConnectFlags(rawValue: 0))
  }

  private func probe(_ sink: UnsafeMutablePointer<GstElement>, _ type: UInt32) {
    guard let pad = gst_element_get_static_pad(sink, "sink") else { return }
    gst_pad_add_probe(
      pad, GstPadProbeType(type), handleProbe, Unmanaged.passRetained(self).toOpaque(), releaseApplication)
    gst_object_unref(pad)
  }

  /// The next callback counts. To be called by the thread that changes the states.
  func arm() {
    state.withLock { state in
      state.isArmed = true
      state.ownThread = pthread_self()
    }
  }

  private static var threadName: String? {
    (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8))?.trimmingCharacters(in: .newlines)
  }

  /// Waits until all that it does is done; false if something hangs.
  func waitForEnd() -> Bool {
    state.wait(atLatest: MonotonicClock.now + testTimeout) { $0.isDone && !$0.isHelping }
  }

  fileprivate func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    let isTrigger =
      switch trigger {
      case .message(let name):
        message.pointee.type == GST_MESSAGE_ELEMENT
          && gst_structure_has_name(gst_message_get_structure(message), name) != 0
      case .type(let type): message.pointee.type == type
      default: false
      }
    if isTrigger { fire() }
  }

  fileprivate func handle(_ info: UnsafeMutablePointer<GstPadProbeInfo>) {
    switch trigger {
    case .event(let type) where gst_pad_probe_info_get_event(info)?.pointee.type == type: fire()
    case .capsQuery where gst_pad_probe_info_get_query(info)?.pointee.type == GST_QUERY_CAPS: fire()
    default: break
    }
  }

  private func fire() {
    let isOwnThread: Bool? = state.withLock { state in
      guard state.isArmed else { return nil }
      state.isArmed = false
      return state.ownThread == pthread_self()
    }
    guard let isOwnThread else { return }
    let isFree = !trigger.isSignal && (isOwnThread || Self.threadName == "sdl-connection")
    action { work in isFree ? work() : self.help(with: work) }
    state.withLock { $0.isDone = true }
    state.broadcast()
  }

  private func help(with work: @escaping @Sendable () -> Void) {
    state.withLock { $0.isHelping = true }
    try? WorkerThread.detach(name: "helper") { [self] in
      work()
      state.withLock { $0.isHelping = false }
      state.broadcast()
    }
    state.wait(atLatest: MonotonicClock.now + Self.patience) { !$0.isHelping }
  }
}

/// Keeps no message, since each holds on to the element that posted it.
private func handleMessage(
  _ bus: UnsafeMutablePointer<GstBus>?, _ message: UnsafeMutablePointer<GstMessage>?, _ data: gpointer?
) -> GstBusSyncReply {
  guard let message, let data else { return GST_BUS_PASS }
  Unmanaged<CallbackApplication>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.handle(message) }
  gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
  return GST_BUS_DROP
}

private func handleProbe(
  _ pad: UnsafeMutablePointer<GstPad>?, _ info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
) -> GstPadProbeReturn {
  if let info, let data {
    Unmanaged<CallbackApplication>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.handle(info) }
  }
  return GST_PAD_PROBE_OK
}

private func releaseApplication(_ data: gpointer?) {
  if let data { Unmanaged<CallbackApplication>.fromOpaque(data).release() }
}
