/// What becomes of a stream whose head unit resizes the picture.
public enum ResizePolicy: Int32, CaseIterable, Sendable {
  /// The service ends, and one of the new size begins.
  case renegotiate
  /// The service goes on in its size for as long as it lasts; the next one has the new size.
  case keep
  /// It is an error.
  case error
}

/// The way from one size of the stream to another.
///
/// A resize begins with the first news that makes the present size unwanted. Whatever other sizes follow belong to it,
/// until the first frame of one of them completes it, or the old size is wanted again.
public struct VideoResize: Equatable, Sendable {
  /// One that has come to its end.
  public struct Completed: Equatable, Sendable {
    public var former: VideoSize
    public var present: VideoSize
    /// From the first news to the first frame.
    public var duration: Duration
    /// Frames that came meanwhile, or waited then, and were not sent.
    public var lostFrames: UInt64
  }

  private struct Beginning: Equatable, Sendable {
    var time: Duration
    var lostFrames: UInt64
  }

  /// Of the frames that were sent last; nil before the first.
  public private(set) var size: VideoSize?
  private var beginning: Beginning?

  /// Nothing has been sent.
  public init() {}

  /// The present size is not wanted any more.
  public var isUnderWay: Bool { beginning != nil }

  /// Another size is wanted than the present one. `lostFrames` counts all frames so far that were not sent.
  public mutating func begin(now: Duration, lostFrames: UInt64) {
    guard size != nil, beginning == nil else { return }
    beginning = Beginning(time: now, lostFrames: lostFrames)
  }

  /// The present size stays after all.
  public mutating func callOff() {
    beginning = nil
  }

  /// A service has got its first frame. Returns the resize that this completes, if it has another size than those
  /// before.
  public mutating func sentFirst(of newSize: VideoSize, now: Duration, lostFrames: UInt64) -> Completed? {
    defer {
      size = newSize
      beginning = nil
    }
    guard let size, size != newSize else { return nil }
    let beginning = beginning ?? Beginning(time: now, lostFrames: lostFrames)
    return Completed(
      former: size, present: newSize, duration: now - beginning.time,
      lostFrames: lostFrames - min(lostFrames, beginning.lostFrames))
  }

  /// Whether a head unit that took the sizes `former`, and now takes `present`, both in its order and empty for any,
  /// has resized a stream of `size`. Encoded video stays as it is while it is taken at all.
  public static func affects(_ size: VideoSize, former: [VideoSize], present: [VideoSize], isRaw: Bool) -> Bool {
    guard let preferred = present.first else { return false }
    return !present.contains(size) || (isRaw && preferred != size && former.first == size)
  }
}
