import GStreamerKit

/// The progress of an H.264 stream to the picture that a seek has requested.
struct SeekProgress: ~Copyable {
  /// The first picture that is shown, with which the base class prerolls.
  enum Preroll {
    /// It has not come since the stream began.
    case first
    /// It has not come since the pipeline was flushed.
    case seek
    case done
  }

  private(set) var preroll = Preroll.first
  /// How many frames that are shown later were sent before the sought one.
  private(set) var reorderedCount = 0
  private var hasSkipped = false
  /// The frame that was shown before the base class prerolled with it.
  private var shownBuffer: UnsafeMutablePointer<GstBuffer>?

  deinit {
    if let shownBuffer { gst_buffer_unref(shownBuffer) }
  }

  /// Whether a frame may need another treatment than being shown at its time.
  func concerns(_ buffer: UnsafeMutablePointer<GstBuffer>, _ segment: GstSegment) -> Bool {
    let (time, stop) = (buffer.pointee.pts, segment.stop)
    return preroll != .done || hasSkipped || time < segment.start || (time >= stop && stop != .max)
      || SegmentPlace.showsOnlyKeyFrames(segment)
  }

  mutating func flushed() {
    forgetShown()
    preroll = .seek
    reorderedCount = 0
  }

  /// The next frame has come.
  ///
  /// - Parameter isShownLater: whether it is shown after the sought one.
  /// - Returns: whether it depends on frames that were skipped, unless it stands alone.
  mutating func note(_ place: SegmentPlace, isShownLater: Bool) -> Bool {
    if place == .ahead, isShownLater { reorderedCount += 1 }
    defer { hasSkipped = place == .skipped }
    return hasSkipped && place != .skipped
  }

  /// The first picture has come, and was shown already if it is given.
  mutating func prerolled(with buffer: UnsafeMutablePointer<GstBuffer>?) {
    preroll = .done
    forgetShown()
    guard let buffer else { return }
    gst_buffer_ref(buffer)
    shownBuffer = buffer
  }

  /// Whether the frame was shown before its time.
  mutating func takeShown(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    guard let shownBuffer else { return false }
    forgetShown()
    return shownBuffer == buffer
  }

  private mutating func forgetShown() {
    if let buffer = shownBuffer.take() { gst_buffer_unref(buffer) }
  }
}

/// The place of an H.264 frame in a segment, which determines its treatment.
enum SegmentPlace: Equatable {
  /// It is shown at its time.
  case inside
  /// It is not shown, but shown frames depend on it: it has to be decoded first.
  case ahead
  /// Only key frames are shown, and this is none.
  case skipped
  /// No frame in the segment depends on it.
  case outside

  /// At a higher rate a frame would be shown for less time than a head unit needs for one.
  private static let fastestRate = 2.0

  /// - Parameters:
  ///   - duration: like the time stamps, `GST_CLOCK_TIME_NONE` if not known.
  ///   - beginsAnew: the pipeline was flushed, and no frame of the segment has been shown.
  ///   - mayBeReordered: the picture at the start may still come after pictures that are shown later.
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
    if isAfterStop {
      // In decoding order it may come before pictures that are shown.
      self = decoding != none && decoding < stop ? .ahead : .outside
    } else if Self.ends(presentation, duration, before: start) {
      self = .ahead
    } else if beginsAnew, decoding != none, Self.ends(decoding, duration, before: start) {
      // The picture at the start comes only after this one, which is shown later.
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
