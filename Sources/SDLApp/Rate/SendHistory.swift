/// The times when unacknowledged bytes were handed to the kernel: the age of the oldest ones is known even if the
/// transport measures no round-trip time.
struct SendHistory: Equatable, Sendable {
  /// Bytes that were handed over together.
  struct Mark: Equatable, Sendable {
    /// Just before they were handed over.
    fileprivate(set) var time: Duration
    /// All bytes before these.
    fileprivate(set) var start: UInt64
    /// All bytes up to and including these.
    fileprivate(set) var end: UInt64
    /// Whether nothing else was outstanding: the first acknowledgement then shows the delay of the path without any
    /// queue.
    fileprivate var showsPathDelay: Bool
  }

  /// Beyond this, the newest marks are merged, so that a peer that acknowledges nothing costs no memory.
  private static let capacity = 128

  private var marks: [Mark] = []

  init() {
    marks.reserveCapacity(Self.capacity)
  }

  /// The bytes that the peer has to acknowledge next.
  var oldest: Mark? { marks.first }

  /// Notes that bytes have been handed over since `time`; `showsPathDelay` if none before them are outstanding.
  mutating func append(_ bytes: Range<UInt64>, time: Duration, showsPathDelay: Bool) {
    if marks.count < Self.capacity {
      marks.append(Mark(time: time, start: bytes.lowerBound, end: bytes.upperBound, showsPathDelay: showsPathDelay))
    } else {
      marks[marks.count - 1].end = bytes.upperBound
    }
  }

  /// Forgets the first `acknowledged` of all bytes.
  ///
  /// - Returns: From handing bytes over to their first acknowledgement, if nothing else was outstanding then; otherwise
  ///   nil.
  mutating func acknowledge(_ acknowledged: UInt64, now: Duration) -> Duration? {
    var pathDelay: Duration?
    var finishedCount = 0
    for index in marks.indices {
      if marks[index].showsPathDelay, acknowledged > marks[index].start {
        pathDelay = now - marks[index].time
        marks[index].showsPathDelay = false
      }
      guard marks[index].end <= acknowledged else { break }
      finishedCount = index + 1
    }
    marks.removeFirst(finishedCount)
    return pathDelay
  }
}

/// How long unacknowledged bytes have been on their way: late sound of a live source is better left out, but the kernel
/// would take seconds of it.
package struct LinkDelay: Equatable, Sendable {
  private var history = SendHistory()
  private var handedByteCount: UInt64 = 0

  package init() {}

  /// The age of the oldest unacknowledged bytes, from the first sample with them on: before it, nothing may have been
  /// sent for minutes. Zero if the transport does not report acknowledgements.
  package mutating func age(_ sample: LinkSample) -> Duration {
    if sample.handedByteCount < handedByteCount { self = LinkDelay() }
    if sample.handedByteCount > handedByteCount {
      history.append(handedByteCount..<sample.handedByteCount, time: sample.time, showsPathDelay: false)
      handedByteCount = sample.handedByteCount
    }
    guard let acknowledged = sample.acknowledgedByteCount else { return .zero }
    _ = history.acknowledge(acknowledged, now: sample.time)
    return history.oldest.map { max(sample.time - $0.time, .zero) } ?? .zero
  }
}
