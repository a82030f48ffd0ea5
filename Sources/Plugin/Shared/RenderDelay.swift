import GStreamerKit

/// Time that passed while the sink held a file up: the clock ran on meanwhile, and what follows is shown that much
/// later. For that the property `ts-offset` moves, on top of what the application has set.
///
/// Without it everything that follows is late by the time of the wait: raw pictures and sound are then dropped for
/// lateness, all of them where the wait was longer than the rest of the file, and H.264 comes in a rush
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
    // An application that has set the property since meant its value to hold.
    let held = shift.flatMap { $0.offset == offset ? $0.held : nil } ?? 0
    let (shifted, overflow) = offset.addingReportingOverflow(nanoseconds)
    guard !overflow else { return }
    shift = Shift(held: held + nanoseconds, offset: shifted)
    gst_base_sink_set_ts_offset(sink, shifted)
  }

  /// Takes back what was moved, because running time starts anew.
  mutating func reset(_ sink: UnsafeMutablePointer<GstBaseSink>) {
    guard let shift = shift.take(), gst_base_sink_get_ts_offset(sink) == shift.offset else { return }
    gst_base_sink_set_ts_offset(sink, shift.offset - shift.held)
  }
}

/// Whether upstream is live: its time stamps go on while the sink holds it up. Asked for once.
struct UpstreamLiveness {
  private var known: Bool?

  /// Before upstream answers, as before it is linked, it counts as not live.
  mutating func isLive(at pad: UnsafeMutablePointer<GstPad>) -> Bool {
    if let known { return known }
    // GstBaseSink does not ask before it has prerolled.
    let query = Query.latency()
    guard query.askPeer(of: pad) else { return false }
    known = query.isUpstreamLive
    return query.isUpstreamLive
  }
}
