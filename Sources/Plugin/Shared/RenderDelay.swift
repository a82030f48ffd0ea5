import GStreamerKit

/// The time for which the sink held up a file while the clock ran: later frames are shown that much later. For that it
/// changes the property `ts-offset`, on top of the application's value.
///
/// Otherwise everything after the wait would be late by its length: raw pictures and sound would be dropped, all of
/// them if the wait was longer than the rest of the file, and H.264 would come in a burst
/// (`BlockedFileTests.losesNothing`).
struct RenderDelay {
  private struct Shift {
    /// In total, in nanoseconds.
    var held: Int
    /// The value that was set.
    var offset: Int
  }

  private var shift: Shift?

  /// A frame, or sound, was held up for so long.
  mutating func extend(by time: Duration, _ sink: UnsafeMutablePointer<GstBaseSink>) {
    let nanoseconds = time.nanoseconds
    guard nanoseconds > 0, gst_base_sink_get_sync(sink) != 0 else { return }
    let offset = gst_base_sink_get_ts_offset(sink)
    // If the application has set the property since, its value counts.
    let held = shift.flatMap { $0.offset == offset ? $0.held : nil } ?? 0
    let (shifted, overflow) = offset.addingReportingOverflow(nanoseconds)
    guard !overflow else { return }
    shift = Shift(held: held + nanoseconds, offset: shifted)
    gst_base_sink_set_ts_offset(sink, shifted)
  }

  /// Restores the application's value, because running time starts at 0 again.
  mutating func reset(_ sink: UnsafeMutablePointer<GstBaseSink>) {
    guard let shift = shift.take(), gst_base_sink_get_ts_offset(sink) == shift.offset else { return }
    gst_base_sink_set_ts_offset(sink, shift.offset - shift.held)
  }
}

/// Whether upstream is live: its time stamps continue while the sink holds it up. Queried once.
struct UpstreamLiveness {
  private var known: Bool?

  /// Before upstream answers, as before it is linked, it counts as not live.
  mutating func isLive(at pad: UnsafeMutablePointer<GstPad>) -> Bool {
    if let known { return known }
    // GstBaseSink does not send the query before it has prerolled.
    let query = Query.latency()
    guard query.askPeer(of: pad) else { return false }
    known = query.isUpstreamLive
    return query.isUpstreamLive
  }
}
