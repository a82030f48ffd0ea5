import GStreamerKit

/// Where a frame of H.264 stands in a segment, from which follows what becomes of it.
enum SegmentPlace: Equatable {
  /// It is shown at its time.
  case inside
  /// It is not shown, but those that are depend on it: it has to be decoded before.
  case ahead
  /// Only key frames are shown, and this is none.
  case skipped
  /// Nothing in the segment depends on it.
  case outside

  /// Faster than this a frame would be shown for less than the time that a head unit has for one.
  private static let fastestRate = 2.0

  /// - Parameters:
  ///   - duration: `GST_CLOCK_TIME_NONE` if not known, as the time stamps.
  ///   - beginsAnew: the pipeline was flushed, and nothing of the segment has been shown.
  ///   - mayBeReordered: the picture at the start may still come behind pictures that are shown later.
  init(
    of segment: GstSegment, presentation: UInt64, decoding: UInt64, duration: UInt64,
    isKeyFrame: @autoclosure () -> Bool, beginsAnew: Bool, mayBeReordered: Bool
  ) {
    let none = UInt64.max
    let (start, stop) = (UInt64(segment.start), UInt64(segment.stop))
    guard segment.format == GST_FORMAT_TIME, presentation != none else {
      self = .inside
      return
    }
    let isBehind = stop != none && presentation >= stop
    if Self.showsOnlyKeyFrames(segment) {
      guard isKeyFrame() else {
        self = .skipped
        return
      }
      if segment.rate < 0 {
        self = isBehind || Self.ends(presentation, duration, before: start) ? .outside : .inside
        return
      }
    }
    if isBehind {
      // In decoding order it may come before pictures that are shown.
      self = decoding != none && decoding < stop ? .ahead : .outside
    } else if Self.ends(presentation, duration, before: start) {
      self = .ahead
    } else if beginsAnew, decoding != none, Self.ends(decoding, duration, before: start) {
      // The picture at the start comes only behind this one, which is shown later.
      self = .ahead
    } else if beginsAnew, decoding == none, mayBeReordered, presentation > start {
      // Without decoding times, as in Matroska files, the stream says how many such pictures there are.
      self = .ahead
    } else {
      self = .inside
    }
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
