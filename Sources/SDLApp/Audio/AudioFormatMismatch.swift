import SDLMessages

/// Sound of another format than the head unit plays, until upstream follows.
public struct AudioFormatMismatch: Equatable, Sendable {
  /// How long upstream may take, and how much sound may come until then: during a pause none comes, and a file that is not waited
  /// for brings much at once.
  private static let limit = Duration.seconds(5)

  private let format: PCMFormat
  private let began: Duration
  private var sampleCount = 0

  /// Begins now, with the first samples of `format`.
  public init(format: PCMFormat, now: Duration) {
    self.format = format
    began = now
  }

  /// Counts samples that are not sent.
  public mutating func add(_ count: Int) {
    sampleCount += count
  }

  /// Whether upstream has had its time.
  public func isOver(now: Duration) -> Bool {
    min(now - began, format.duration(ofSampleCount: sampleCount)) > Self.limit
  }
}
