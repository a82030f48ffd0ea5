import SDLMessages

/// The positions of buffers in a stream of samples, by running time: a gap between them becomes silence, an overlap is
/// left out.
///
/// Times are computed from the samples since the last correction, so that rounding never adds up. Time stamps that
/// jitter are not followed; clocks that drift apart are, by a correction each time they are ``tolerance`` apart.
package struct SampleTimeline: Equatable, Sendable {
  package struct Placement: Equatable, Sendable {
    /// Samples that are missing in front of the buffer.
    package var silence = 0
    /// Samples at its start to leave out.
    package var overlap = 0
    /// It neither continues the last buffer nor is bridged to it.
    package var isJump = false

    /// In place, without corrections.
    package init(silence: Int = 0, overlap: Int = 0, isJump: Bool = false) {
      self.silence = silence
      self.overlap = overlap
      self.isJump = isJump
    }
  }

  /// GstAudioBaseSink's alignment threshold.
  package static let tolerance = Duration.milliseconds(40)
  /// A longer gap is a pause, in which nothing is sent.
  package static let longestSilence = Duration.seconds(10)
  /// Time stamps that go back further start a new count.
  private static let longestOverlap = Duration.seconds(1)

  package let format: PCMFormat
  /// Running time of the sample from which samples are counted.
  private var origin: Duration?
  private var count = 0

  /// Begins with the first buffer.
  package init(format: PCMFormat) {
    self.format = format
  }

  /// Running time of the sample that comes next; nil before the first.
  package var end: Duration? { origin.map { $0 + format.duration(ofSampleCount: count) } }

  /// Places a buffer; count its samples with ``advance(by:)``.
  ///
  /// - Parameters:
  ///   - time: running time of its first sample; nil continues the count.
  ///   - now: the present running time, for a stream that begins without time stamps.
  package mutating func place(at time: Duration?, now: @autoclosure () -> Duration) -> Placement {
    guard let end else {
      begin(at: time ?? now())
      return Placement(isJump: true)
    }
    guard let time else { return Placement() }
    let deviation = time - end
    if deviation > Self.longestSilence || deviation < .zero - Self.longestOverlap {
      begin(at: time)
      return Placement(isJump: true)
    }
    if deviation >= Self.tolerance { return Placement(silence: format.sampleCount(in: deviation)) }
    if deviation <= .zero - Self.tolerance {
      return Placement(overlap: format.sampleCount(in: .zero - deviation))
    }
    return Placement()
  }

  /// Counts samples of silence or of a buffer, but not those of ``Placement/overlap``.
  package mutating func advance(by sampleCount: Int) {
    let (sum, isTooLarge) = count.addingReportingOverflow(max(sampleCount, 0))
    count = isTooLarge ? .max : sum
  }

  package mutating func reset() {
    origin = nil
    count = 0
  }

  private mutating func begin(at time: Duration) {
    origin = time
    count = 0
  }
}
