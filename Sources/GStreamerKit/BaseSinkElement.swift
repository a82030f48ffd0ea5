/// A GstBaseSink whose virtual functions are methods. The default implementations chain up, or do as GstBaseSink does
/// without the function.
///
/// GStreamer calls them on the threads that its documentation names, and never after the element is finalized.
package protocol BaseSinkElement: GStreamerElement, PropertyOwner {
  var baseSink: UnsafeMutablePointer<GstBaseSink> { get }

  // GstElement's.
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn
  /// Takes an event of the application, with its reference.
  func sendEvent(_ event: UnsafeMutablePointer<GstEvent>) -> Bool
  func answerApplication(_ query: UnsafeMutablePointer<GstQuery>) -> Bool
  // GstBaseSink's.
  func caps(filter: UnsafeMutablePointer<GstCaps>?) -> UnsafeMutablePointer<GstCaps>?
  /// The answer to an ACCEPT_CAPS query.
  func accepts(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool
  func setCaps(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool
  /// Answers a query of the element's own; false for any other.
  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool
  func proposeAllocation(_ query: UnsafeMutablePointer<GstQuery>) -> Bool
  /// Takes an event on the pad, with its reference.
  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool
  func wait(for event: UnsafeMutablePointer<GstEvent>) -> GstFlowReturn
  /// When a buffer begins and ends, in the present segment.
  func getTimes(
    of buffer: UnsafeMutablePointer<GstBuffer>, _ start: inout GstClockTime, _ end: inout GstClockTime)
  /// `unlock` and `unlock_stop`.
  func setFlushing(_ isFlushing: Bool)
  func preroll(with buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn
  func render(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn

  // Before the base class gets the pad's events.
  /// Why caps can't be used. The core refuses caps outside the template before the element sees them; here it can give
  /// the reason (`RejectedCapsTests`).
  func rejectionReason(of caps: UnsafeMutablePointer<GstCaps>) -> ElementError?
  /// Posts an error and makes all later buffers and caps fail.
  func fail(_ error: ElementError)
}

nonisolated(unsafe) private let baseSinkClass: UnsafeMutablePointer<GstBaseSinkClass> =
  retainedClass(gst_base_sink_get_type())

extension BaseSinkElement {
  package var gstElement: UnsafeMutablePointer<GstElement> { baseSink.cast() }
  package var pad: UnsafeMutablePointer<GstPad> { cgst_base_sink_pad(baseSink) }

  package func sendEvent(_ event: UnsafeMutablePointer<GstEvent>) -> Bool { sendParentEvent(event) }
  package func answerApplication(_ query: UnsafeMutablePointer<GstQuery>) -> Bool { answerApplicationByParent(query) }
  package func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool { false }
  package func proposeAllocation(_ query: UnsafeMutablePointer<GstQuery>) -> Bool { false }
  package func getTimes(
    of buffer: UnsafeMutablePointer<GstBuffer>, _ start: inout GstClockTime, _ end: inout GstClockTime
  ) {
    getParentTimes(of: buffer, &start, &end)
  }

  /// The parent's `change_state`.
  package func changeParentState(_ transition: GstStateChange) -> GstStateChangeReturn {
    baseSinkClass.pointee.parent_class.change_state(gstElement, transition)
  }

  /// The parent's `send_event`, which takes the event's reference.
  package func sendParentEvent(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    baseSinkClass.pointee.parent_class.send_event(gstElement, event) != 0
  }

  /// The parent's `query` of the element.
  package func answerApplicationByParent(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    baseSinkClass.pointee.parent_class.query(gstElement, query) != 0
  }

  /// The parent's `event`, which takes the event's reference.
  package func handleByParent(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    baseSinkClass.pointee.event(baseSink, event) != 0
  }

  /// The parent's `wait_event`.
  package func waitByParent(for event: UnsafeMutablePointer<GstEvent>) -> GstFlowReturn {
    baseSinkClass.pointee.wait_event(baseSink, event)
  }

  /// The parent's `get_times`.
  package func getParentTimes(
    of buffer: UnsafeMutablePointer<GstBuffer>, _ start: inout GstClockTime, _ end: inout GstClockTime
  ) {
    baseSinkClass.pointee.get_times(baseSink, buffer, &start, &end)
  }

  /// The running time of a time stamp in the present segment; `GST_CLOCK_TIME_NONE` if the segment is not one of times,
  /// as with `multifilesrc caps=video/x-raw,…`, or the result is after ``latestRunningTime``.
  package func runningTime(of time: GstClockTime) -> GstClockTime {
    let result = unlimitedRunningTime(of: time)
    return result > latestRunningTime ? .max : result
  }

  /// GstBaseSink's property: the time from the arrival of a buffer in the car until it is seen or heard.
  package var renderDelay: Duration { .nanoseconds(Int64(clamping: UInt64(gst_base_sink_get_render_delay(baseSink)))) }

  /// From the running time of a buffer to the time at which the head unit must have it.
  package var offset: Duration {
    .nanoseconds(Int64(clamping: UInt64(gst_base_sink_get_latency(baseSink))))
      + .nanoseconds(Int64(gst_base_sink_get_ts_offset(baseSink))) - renderDelay
  }

  /// The running time of the buffer that the head unit must have now; zero without a clock.
  package var presentTime: Duration {
    let time = UInt64(gst_element_get_current_running_time(gstElement))
    return time == .max ? .zero : max(.nanoseconds(Int64(clamping: time)) - offset, .zero)
  }

  /// Whether the base class waits for the time of a buffer with this time stamp, if that is in the segment.
  package func isSynchronized(_ time: GstClockTime) -> Bool {
    time != .max && baseSink.pointee.segment.format == GST_FORMAT_TIME && hasClock
  }

  /// Whether there is a clock to wait for, and the application wants that (property `sync`).
  package var hasClock: Bool {
    gst_base_sink_get_sync(baseSink) != 0 && UInt64(gst_element_get_current_running_time(gstElement)) != .max
  }

  /// Whether a time stamp is in the segment, but after ``latestRunningTime``.
  fileprivate func isTooLate(_ time: GstClockTime) -> Bool {
    let result = unlimitedRunningTime(of: time)
    return result > latestRunningTime && result != .max
  }

  private func unlimitedRunningTime(of time: GstClockTime) -> GstClockTime {
    withUnsafePointer(to: baseSink.pointee.segment) { segment in
      guard segment.pointee.format == GST_FORMAT_TIME else { return .max }
      return GstClockTime(gst_segment_to_running_time(segment, GST_FORMAT_TIME, guint64(time)))
    }
  }
}

/// 146 years; a time stamp after that counts as none. Such a time plus the base time may exceed the 63 bits of
/// GstSystemClock, whose wait would then spin, and ignore flushes and state changes. GStreamer's live sources make such
/// time stamps when they read the base time while the state changes.
package let latestRunningTime = GstClockTime(Int64.max / 2)

/// The fields of an instance after GstBaseSink's.
package struct BaseSinkInstance {
  package let sink: any BaseSinkElement
}

package typealias BaseSinkType = ObjectType<GstBaseSink, GstBaseSinkClass, BaseSinkInstance>

extension BaseSinkType {
  /// Registers a type that is derived from GstBaseSink.
  package static func register(
    _ name: StaticString, initClass: GClassInitFunc, initInstance: GInstanceInitFunc
  ) -> GType {
    register(name, derivedFrom: gst_base_sink_get_type(), initClass: initClass, initInstance: initInstance)
  }

  /// Gives a new instance its object, which gets from now on what comes to the pad.
  package static func begin(_ instance: UnsafeMutableRawPointer?, with sink: any BaseSinkElement) {
    attach(BaseSinkInstance(sink: sink), to: instance)
    gst_pad_add_probe(
      sink.pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      { _, info, sink in
        BaseSinkType.sink(sink).see(info.unsafelyUnwrapped.pointee)
        return GST_PAD_PROBE_OK
      }, instance, nil)
    gst_pad_add_probe(
      sink.pad, GST_PAD_PROBE_TYPE_BUFFER,
      { _, info, sink in BaseSinkType.sink(sink).take(&info.unsafelyUnwrapped.pointee) }, instance, nil)
  }

  @inline(__always)
  fileprivate static func sink(_ instance: UnsafeMutableRawPointer?) -> any BaseSinkElement {
    object(of: instance).sink
  }

  package static func install<Sink: BaseSinkElement>(
    on sinkClass: UnsafeMutableRawPointer?, _ properties: PropertyList<Sink>, _ details: ElementDetails,
    _ signals: [ActionSignal<Sink>] = []
  ) {
    install(on: sinkClass, properties, details, installFunctions)
    guard let type = sinkClass?.assumingMemoryBound(to: GTypeClass.self).pointee.g_type else { return }
    for signal in signals { signal.install(on: type) { sink($0) as? Sink } }
  }

  // GStreamer passes no NULL to them.
  private static func installFunctions(_ sinkClass: UnsafeMutablePointer<GstBaseSinkClass>) {
    let objectClass: UnsafeMutablePointer<GObjectClass> = sinkClass.cast()
    objectClass.pointee.set_property = { sink, id, value, _ in
      BaseSinkType.sink(sink).setProperty(id, value.unsafelyUnwrapped)
    }
    objectClass.pointee.get_property = { sink, id, value, _ in
      BaseSinkType.sink(sink).getProperty(id, value.unsafelyUnwrapped)
    }
    objectClass.pointee.finalize = { sink in
      _ = BaseSinkType.detach(from: sink)
      baseSinkClass.pointee.parent_class.parent_class.parent_class.finalize(sink)
    }

    let elementClass: UnsafeMutablePointer<GstElementClass> = sinkClass.cast()
    elementClass.pointee.change_state = { BaseSinkType.sink($0).changeState($1) }
    elementClass.pointee.send_event = { BaseSinkType.sink($0).sendEvent($1.unsafelyUnwrapped) ? 1 : 0 }
    elementClass.pointee.query = { BaseSinkType.sink($0).answerApplication($1.unsafelyUnwrapped) ? 1 : 0 }

    sinkClass.pointee.get_caps = { BaseSinkType.sink($0).caps(filter: $1) }
    sinkClass.pointee.set_caps = { BaseSinkType.sink($0).setCaps($1.unsafelyUnwrapped) ? 1 : 0 }
    sinkClass.pointee.query = { BaseSinkType.sink($0).answerPad($1.unsafelyUnwrapped) ? 1 : 0 }
    sinkClass.pointee.propose_allocation = {
      BaseSinkType.sink($0).proposeAllocation($1.unsafelyUnwrapped) ? 1 : 0
    }
    sinkClass.pointee.event = { BaseSinkType.sink($0).handle($1.unsafelyUnwrapped) ? 1 : 0 }
    sinkClass.pointee.wait_event = { BaseSinkType.sink($0).wait(for: $1.unsafelyUnwrapped) }
    sinkClass.pointee.get_times = { sink, buffer, start, end in
      let (sink, start) = (BaseSinkType.sink(sink), start.unsafelyUnwrapped)
      sink.getTimes(of: buffer.unsafelyUnwrapped, &start.pointee, &end.unsafelyUnwrapped.pointee)
      if sink.isTooLate(start.pointee) { start.pointee = .max }
    }
    sinkClass.pointee.unlock = {
      BaseSinkType.sink($0).setFlushing(true)
      return 1
    }
    sinkClass.pointee.unlock_stop = {
      BaseSinkType.sink($0).setFlushing(false)
      return 1
    }
    sinkClass.pointee.preroll = { BaseSinkType.sink($0).preroll(with: $1.unsafelyUnwrapped) }
    sinkClass.pointee.render = { BaseSinkType.sink($0).render($1.unsafelyUnwrapped) }
  }
}

extension BaseSinkElement {
  /// Answers a query that has come to the pad. The parent takes only the caps of its CAPS answer.
  fileprivate func answerPad(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    if answer(query) { return true }
    guard query.pointee.type == GST_QUERY_ACCEPT_CAPS else { return baseSinkClass.pointee.query(baseSink, query) != 0 }
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_accept_caps(query, &caps)
    guard let caps else { return false }
    gst_query_set_accept_caps_result(query, accepts(caps) ? 1 : 0)
    return true
  }

  /// An event has come to the pad.
  fileprivate func see(_ info: GstPadProbeInfo) {
    guard let event = info.data?.assumingMemoryBound(to: GstEvent.self), event.pointee.type == GST_EVENT_CAPS else {
      return
    }
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_event_parse_caps(event, &caps)
    if let caps, let reason = rejectionReason(of: caps) { fail(reason) }
  }

  /// A buffer has come to the pad. One outside the segment that is not dropped is rendered at once, because others depend
  /// on it. Before 1.24 the base class did that; since then it prerolls with it instead of the first one in the segment.
  fileprivate func take(_ info: inout GstPadProbeInfo) -> GstPadProbeReturn {
    guard gst_base_sink_get_drop_out_of_segment(baseSink) == 0,
      let buffer = info.data?.assumingMemoryBound(to: GstBuffer.self), isOutOfSegment(buffer)
    else { return GST_PAD_PROBE_OK }
    cgst_base_sink_preroll_lock(baseSink)
    info.ABI.abi.flow_ret = baseSink.pointee.flushing == 0 ? render(buffer) : GST_FLOW_FLUSHING
    cgst_base_sink_preroll_unlock(baseSink)
    gst_buffer_unref(buffer)
    return GST_PAD_PROBE_HANDLED
  }

  private func isOutOfSegment(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    var (start, end) = (GstClockTime.max, GstClockTime.max)
    getTimes(of: buffer, &start, &end)
    return withUnsafePointer(to: baseSink.pointee.segment) { segment in
      segment.pointee.format == GST_FORMAT_TIME
        && gst_segment_clip(segment, GST_FORMAT_TIME, guint64(start), guint64(end), nil, nil) == 0
    }
  }
}
