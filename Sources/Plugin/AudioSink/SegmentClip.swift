import GStreamerKit
import SDLApp

/// The samples of a buffer that are in the segment.
struct SegmentClip {
  let range: Range<Int>
  /// The time of the first sample; nil if the buffer has no time stamp.
  let runningTime: Duration?

  /// Nil if no sample of the buffer is to be heard, as in reverse and at any other rate than 1: an element upstream, such
  /// as scaletempo, makes sound of that.
  init?(_ sink: AudioSink, buffer: UnsafeMutablePointer<GstBuffer>, count: Int, format: PCMFormat) {
    let segment = sink.baseSink.pointee.segment
    let start = buffer.pointee.pts
    guard segment.rate == 1 else { return nil }
    guard segment.format == GST_FORMAT_TIME, start != .max else {
      range = 0..<count
      runningTime = nil
      return
    }
    guard let part = sink.clip(start, .max) else { return nil }
    func samples(until time: GstClockTime) -> Int {
      time == .max ? count : min(format.sampleCount(in: .nanoseconds(Int64(clamping: time - start))), count)
    }
    let (first, end) = (samples(until: part.start), samples(until: part.end))
    guard first < end || count == 0 else { return nil }
    range = first..<end
    runningTime = sink.time(of: part.start)
  }
}

extension AudioSink {
  /// When the head unit must have a sample, and the present time, by the pipeline's clock; nil without one, and with
  /// sync=false.
  func schedule(of runningTime: Duration) -> (due: Duration, now: Duration)? {
    guard gst_base_sink_get_sync(baseSink) != 0, let clock = gst_element_get_clock(gstElement) else { return nil }
    defer { gst_object_unref(clock) }
    func duration(_ time: GstClockTime) -> Duration { .nanoseconds(Int64(clamping: UInt64(time))) }
    let due = duration(gst_element_get_base_time(gstElement)) + clockTime(of: runningTime)
    return (due, duration(gst_clock_get_time(clock)))
  }

  /// When a running time is due, relative to the base time, never before it, as in GstBaseSink.
  func clockTime(of runningTime: Duration) -> Duration {
    min(max(runningTime + offset, .zero), .nanoseconds(Int64(clamping: latestRunningTime)))
  }

  /// The part of a GAP event that is in the present segment; nil for none, and for one without a duration.
  func partOfSegment(_ event: UnsafeMutablePointer<GstEvent>) -> (start: GstClockTime, duration: Duration)? {
    var (start, duration) = (GstClockTime.max, GstClockTime.max)
    gst_event_parse_gap(event, &start, &duration)
    let (end, isCut) = start.addingReportingOverflow(duration)
    guard start != .max, duration != .max, !isCut, let part = clip(start, end), part.end > part.start
    else { return nil }
    return (part.start, .nanoseconds(Int64(clamping: part.end - part.start)))
  }

  /// The part of these times that is in the present segment; the end may be open (`GST_CLOCK_TIME_NONE`).
  fileprivate func clip(_ start: GstClockTime, _ end: GstClockTime) -> (start: GstClockTime, end: GstClockTime)? {
    var (first, last) = (GstClockTime.max, GstClockTime.max)
    let isInside = withUnsafePointer(to: baseSink.pointee.segment) {
      gst_segment_clip($0, GST_FORMAT_TIME, start, end, &first, &last) != 0
    }
    return isInside ? (first, last) : nil
  }

  /// The running time of a time stamp; nil for none.
  func time(of timeStamp: GstClockTime) -> Duration? {
    let result = runningTime(of: timeStamp)
    return result == .max ? nil : .nanoseconds(Int64(clamping: result))
  }
}
