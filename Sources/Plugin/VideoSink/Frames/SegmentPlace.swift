import GStreamerKit

/// The place of an H.264 frame in a segment, which determines its treatment.
enum SegmentPlace: Equatable {
  /// It is shown at its time, or, if that is not in the segment, others that are shown depend on it.
  case inside
  /// Only key frames are shown, and this is none.
  case skipped
  /// No frame in the segment depends on it.
  case outside

  /// At a higher rate a frame would be shown for less time than a head unit needs for one.
  private static let fastestRate = 2.0

  /// - Parameter duration: like the time stamps, `GST_CLOCK_TIME_NONE` if not known.
  init(
    of segment: GstSegment, presentation: UInt64, decoding: UInt64, duration: UInt64,
    isKeyFrame: @autoclosure () -> Bool
  ) {
    let none = UInt64.max
    let (start, stop) = (UInt64(segment.start), UInt64(segment.stop))
    guard segment.format == GST_FORMAT_TIME, presentation != none else {
      self = .inside
      return
    }
    let isAfterStop = stop != none && presentation >= stop
    if Self.showsOnlyKeyFrames(segment) {
      guard isKeyFrame() else {
        self = .skipped
        return
      }
      if segment.rate < 0 {
        self = isAfterStop || Self.ends(presentation, duration, before: start) ? .outside : .inside
        return
      }
    }
    // In decoding order one after the stop may come before pictures that are shown.
    self = isAfterStop && (decoding == none || decoding >= stop) ? .outside : .inside
  }

  /// In reverse each group of pictures comes forwards, so only its key frame can be shown at its time.
  static func showsOnlyKeyFrames(_ segment: GstSegment) -> Bool {
    func has(_ flag: GstSegmentFlags) -> Bool { segment.flags.rawValue & flag.rawValue != 0 }
    return segment.rate < 0 || has(GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS)
      || (has(GST_SEGMENT_FLAG_TRICKMODE) && segment.rate > fastestRate)
  }

  private static func ends(_ time: UInt64, _ duration: UInt64, before start: UInt64) -> Bool {
    guard duration != .max else { return time < start }
    let (end, overflow) = time.addingReportingOverflow(duration)
    return !overflow && end <= start
  }
}
