import CGStreamerApp
import GStreamerKit
import SDLLink
import Synchronization
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Applications that stop and restart the filter from inside its callbacks: each run begins anew.
@Suite struct RangeFilterRestartTests {
  private static let rounds = 200

  /// A CAPS event that is refused, which posts an error on the streaming thread.
  @Test func inTheErrorOfRejectedCaps() throws {
    let filter = try RestartedFilter()
    filter.child("landscape") { $0.set("min-width", "500") }
    for round in 1...Self.rounds {
      filter.restarter.isArmed.store(true, ordering: .relaxed)
      filter.begin(width: 242 + round)
      #expect(filter.restarter.count == round && filter.push() == GST_FLOW_NOT_NEGOTIATED)
      filter.begin(width: 640)
      #expect(filter.push() == GST_FLOW_OK, "round \(round)")
    }
    #expect(filter.received == Self.rounds)
  }

  /// A value that is refused posts a warning on the application's thread.
  @Test func inTheWarningOfARefusedValue() throws {
    let filter = try RestartedFilter()
    for round in 1...Self.rounds {
      filter.begin(width: 640)
      #expect(filter.push() == GST_FLOW_OK, "round \(round)")
      filter.restarter.isArmed.store(true, ordering: .relaxed)
      filter.child("landscape") { $0.set("min-width", "-1") }
      #expect(filter.restarter.count == round)
    }
    filter.begin(width: 640)
    #expect(filter.push() == GST_FLOW_OK)
  }

  /// A change of the ranges sends a reconfigure event upstream, on the application's thread.
  @Test func inTheReconfigureEvent() throws {
    let filter = try RestartedFilter()
    filter.restarter.watch(filter.harness.pointee.srcpad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM)
    for round in 1...Self.rounds {
      filter.begin(width: 640)
      #expect(filter.push() == GST_FLOW_OK, "round \(round)")
      filter.restarter.isArmed.store(true, ordering: .relaxed)
      filter.child("landscape") { $0.set("max-width", "\(1000 + round)") }
      #expect(filter.restarter.count == round)
    }
    filter.begin(width: 640)
    #expect(filter.push() == GST_FLOW_OK)
  }

  /// The same change sends an event downstream, on a thread of GStreamer's pool.
  @Test func inTheEventOfChangedRanges() throws {
    let filter = try RestartedFilter()
    filter.restarter.watch(filter.harness.pointee.sinkpad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM)
    for round in 1...Self.rounds {
      filter.begin(width: 640)
      #expect(filter.push() == GST_FLOW_OK, "round \(round)")
      filter.restarter.isArmed.store(true, ordering: .relaxed)
      filter.child("portrait") { $0.set("max-width", "\(1000 + round)") }
      #expect(filter.restarter.wait(for: round))
    }
    filter.begin(width: 640)
    #expect(filter.push() == GST_FLOW_OK)
  }

  /// The former run's have caps, so that it looks no more.
  @Test func buffersWithoutCapsAfterSomeWithCaps() throws {
    let filter = try RestartedFilter()
    filter.child("landscape") { $0.set("min-width", "300") }
    filter.begin(width: 640)
    #expect(filter.push() == GST_FLOW_OK)
    filter.restarter.restart()
    filter.forgetCaps()
    filter.begin(width: nil)
    #expect(filter.push() == GST_FLOW_NOT_NEGOTIATED)
  }

  /// Caps that only an answer of the former run allowed are refused.
  @Test func formerAnswersAreForgotten() throws {
    let filter = try RestartedFilter()
    filter.child("landscape") { $0.set("min-width", "300") }
    filter.begin(width: 320)
    #expect(filter.push() == GST_FLOW_OK)
    filter.child("landscape") { $0.set("min-width", "500") }
    // Still allowed in this run.
    #expect(filter.push() == GST_FLOW_OK)
    filter.restarter.restart()
    filter.begin(width: 320)
    #expect(filter.push() == GST_FLOW_NOT_NEGOTIATED)
    filter.begin(width: 640)
    #expect(filter.push() == GST_FLOW_OK)
  }
}

/// A harness whose element can be restarted by the handlers of its bus and pads.
private final class RestartedFilter {
  let harness: UnsafeMutablePointer<GstHarness>
  let restarter: Restarter
  private let element: Element
  private let bus: UnsafeMutablePointer<GstBus>
  /// References to the element, while nothing else uses it.
  private let referenceCount: guint

  init() throws {
    element = try Element("sdlrangefilter")
    harness = try nonNull(gst_harness_new_with_element(element.pointer, "sink", "src"))
    bus = try nonNull(gst_bus_new())
    restarter = Restarter(element.pointer)
    gst_element_set_bus(element.pointer, bus)
    gst_bus_set_sync_handler(
      bus,
      { _, message, data in
        if let data, [GST_MESSAGE_WARNING, GST_MESSAGE_ERROR].contains(message?.pointee.type) {
          Unmanaged<Restarter>.fromOpaque(data).takeUnretainedValue().restartIfArmed()
        }
        gst_message_unref(message)
        return GST_BUS_DROP
      }, Unmanaged.passUnretained(restarter).toOpaque(), nil)
    gst_harness_play(harness)
    referenceCount = element.pointer.pointee.object.object.ref_count
  }

  deinit {
    // The harness's pad has no functions for an event that is still on its way.
    #expect(eventually { element.pointer.pointee.object.object.ref_count == referenceCount })
    gst_harness_teardown(harness)
    gst_element_set_state(element.pointer, GST_STATE_NULL)
    gst_element_set_bus(element.pointer, nil)
    gst_object_unref(bus)
  }

  func child(_ name: String, _ body: (Child) -> Void) {
    do { body(try Child(name, of: element)) } catch { Issue.record(error) }
  }

  /// Upstream has started again, too.
  func forgetCaps() {
    for isActive in [gboolean(0), 1] { gst_pad_set_active(harness.pointee.srcpad, isActive) }
  }

  /// Begins a stream, without caps if `width` is nil. Whether they are accepted is seen by the first buffer, since
  /// sticky events always succeed.
  func begin(width: Int?) {
    let pad = harness.pointee.srcpad
    gst_pad_push_event(pad, gst_event_new_stream_start("test"))
    if let width, let caps = Caps(Picture.caps(width, 240)) {
      gst_pad_push_event(pad, gst_event_new_caps(caps.pointer))
    }
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    gst_pad_push_event(pad, gst_event_new_segment(&segment))
  }

  func push() -> GstFlowReturn { gst_harness_push(harness, gst_buffer_new()) }

  var received: Int { Int(gst_harness_buffers_received(harness)) }
}

/// Stops the element and starts it again, on the thread of the callback.
private final class Restarter: Sendable {
  // The test keeps the element as long as this.
  nonisolated(unsafe) private let element: UnsafeMutablePointer<GstElement>
  let isArmed = Atomic(false)
  private let restarts = Monitor(0)

  init(_ element: UnsafeMutablePointer<GstElement>) {
    self.element = element
  }

  var count: Int { restarts.withLock { $0 } }

  func restart() {
    gst_element_set_state(element, GST_STATE_READY)
    gst_element_set_state(element, GST_STATE_PLAYING)
    restarts.withLock { $0 += 1 }
    restarts.broadcast()
  }

  func restartIfArmed() {
    if isArmed.exchange(false, ordering: .relaxed) { restart() }
  }

  func wait(for number: Int) -> Bool {
    restarts.wait(atLatest: MonotonicClock.now + testTimeout) { $0 >= number }
  }

  /// Restarts in the next event on a pad that is one of the filter's own.
  func watch(_ pad: UnsafeMutablePointer<GstPad>, _ type: GstPadProbeType) {
    gst_pad_add_probe(
      pad, type,
      { _, info, data in
        guard let data, let event = gst_pad_probe_info_get_event(info) else { return GST_PAD_PROBE_OK }
        if event.pointee.type == GST_EVENT_RECONFIGURE || RangesQuery.isChange(event) {
          Unmanaged<Restarter>.fromOpaque(data).takeUnretainedValue().restartIfArmed()
        }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
  }
}
