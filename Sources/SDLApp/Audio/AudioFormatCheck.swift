/// Whether sound has the format that the head unit plays, and how long upstream has had to change it.
public struct AudioFormatCheck: Sendable {
  /// What becomes of samples.
  public enum Result: Equatable, Sendable {
    case played
    /// Not sent: upstream is to be asked for the head unit's format.
    case ask(PCMFormat)
    /// Not sent: upstream has been asked.
    case wait
    /// Not sent: upstream has had its time.
    case failed
  }

  /// How long upstream may take, and how much sound may come until then: during a pause none comes, and a file that is
  /// not waited for brings much at once.
  private static let limit = Duration.seconds(5)

  /// What upstream sends.
  public let format: PCMFormat
  private var isPlayed = false
  /// Since the first samples that the head unit does not play; nil if it plays the last ones.
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
  ///   - headUnit: what the head unit plays; nil if that is not known.
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
