/// What happens to a stream when the head unit resizes the picture.
package enum ResizePolicy: Int32, CaseIterable, Sendable {
  /// The service ends, and one of the new size begins.
  case renegotiate
  /// The service keeps its size until it ends; the next one has the new size.
  case keep
  case error
}

/// The change from one size of the stream to another.
///
/// A resize begins with the first update that makes the present size unwanted. Further sizes belong to the same resize,
/// until a frame of one of them completes it, or the old size is wanted again.
package struct VideoResize: Equatable, Sendable {
  package struct Completed: Equatable, Sendable {
    package var former: VideoSize
    package var present: VideoSize
    /// From the first update to the first frame.
    package var duration: Duration
    /// Frames that came, or waited, during the resize, and were not sent.
    package var lostFrames: UInt64
  }

  private struct Beginning: Equatable, Sendable {
    var time: Duration
    var lostFrames: UInt64
  }

  /// The size of the frames that were sent last; nil before the first.
  package private(set) var size: VideoSize?
  private var beginning: Beginning?

  package init() {}

  /// The present size is not wanted any more.
  package var isUnderWay: Bool { beginning != nil }

  /// Another size is wanted than the present one. `lostFrames` counts the frames that viewers have missed so far.
  package mutating func begin(now: Duration, lostFrames: UInt64) {
    guard size != nil, beginning == nil else { return }
    beginning = Beginning(time: now, lostFrames: lostFrames)
  }

  /// The present size stays after all.
  package mutating func callOff() {
    beginning = nil
  }

  /// A service has got its first frame. Returns the resize that this completes, if it has another size than those
  /// before.
  package mutating func sentFirst(of newSize: VideoSize, now: Duration, lostFrames: UInt64) -> Completed? {
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
  /// has resized a stream of `size`. Encoded video stays as it is while its size is accepted at all.
  package static func affects(_ size: VideoSize, former: [VideoSize], present: [VideoSize], isRaw: Bool) -> Bool {
    guard let preferred = present.first else { return false }
    return !present.contains(size) || (isRaw && preferred != size && former.first == size)
  }
}
