/// Whether sound has the format that the head unit plays, and how long upstream has had to change it.
public struct AudioFormatCheck: Sendable {
  /// What happens to samples.
  public enum Result: Equatable, Sendable {
    case played
    /// Not sent: ask upstream for the head unit's format.
    case ask(PCMFormat)
    /// Not sent: upstream has been asked.
    case wait
    /// Not sent: upstream has had its time.
    case failed
  }

  /// How long upstream may take, and how much sound may come until then: none comes during a pause, and much at once
  /// from a file without sync.
  private static let limit = Duration.seconds(5)

  public let format: PCMFormat
  private var isPlayed = false
  /// Since the first samples in another format; nil if the last ones had the head unit's.
  private var mismatch: (headUnit: PCMFormat, began: Duration, sampleCount: Int)?

  public init(format: PCMFormat) {
    self.format = format
  }

  /// Why the last samples were not sent; nil if they were.
  public var problem: AudioProblem? { mismatch.map { .wrongFormat(input: format, headUnit: $0.headUnit) } }

  /// A head unit has registered the app.
  public mutating func headUnitChanged() {
    isPlayed = false
  }

  public mutating func flush() {
    mismatch = nil
  }

  /// - Parameters:
  ///   - sampleCount: of the samples at hand.
  ///   - headUnit: the head unit's format; nil if that is not known.
  public mutating func check(
    _ sampleCount: Int, headUnit: @autoclosure () -> PCMFormat?, now: @autoclosure () -> Duration
  ) -> Result {
    guard !isPlayed else { return .played }
    let (headUnit, now) = (headUnit(), now())
    guard let headUnit, format != headUnit else {
      mismatch = nil
      isPlayed = headUnit != nil
      return .played
    }
    let former = mismatch
    let (began, sum) = (former?.began ?? now, (former?.sampleCount ?? 0) + sampleCount)
    mismatch = (headUnit, began, sum)
    if former == nil { return .ask(headUnit) }
    return min(now - began, format.duration(ofSampleCount: sum)) > Self.limit ? .failed : .wait
  }
}
