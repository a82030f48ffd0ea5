import GStreamerKit

/// Time that passes while the sink holds a file up.
extension VideoSink {
  /// The clock ran on meanwhile: what follows is shown that much later, instead of in a rush. For that the property
  /// `ts-offset` moves, on top of what the application has set.
  func shiftTime(by held: Duration) {
    let nanoseconds = held.nanoseconds
    guard nanoseconds > 0, gst_base_sink_get_sync(baseSink) != 0 else { return }
    let offset = gst_base_sink_get_ts_offset(baseSink)
    // An application that has set the property since meant its value to hold.
    let held = input.timeShift.flatMap { $0.offset == offset ? $0.held : nil } ?? 0
    let (shifted, overflow) = offset.addingReportingOverflow(nanoseconds)
    guard !overflow else { return }
    input.timeShift = TimeShift(held: held + nanoseconds, offset: shifted)
    gst_base_sink_set_ts_offset(baseSink, shifted)
  }

  /// Takes back what ``shiftTime(by:)`` did, because running time starts anew.
  func resetTime() {
    if let shift = input.timeShift, gst_base_sink_get_ts_offset(baseSink) == shift.offset {
      gst_base_sink_set_ts_offset(baseSink, shift.offset - shift.held)
    }
    input.timeShift = nil
  }
}

/// How `ts-offset` was moved, in nanoseconds.
struct TimeShift {
  /// In total.
  var held: Int
  /// The value that was set.
  var offset: Int
}
