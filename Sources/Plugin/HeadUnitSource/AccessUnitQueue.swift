import GStreamerKit
import H264
import SDLWire

/// An access unit on its way to the streaming thread.
struct QueuedAccessUnit: Sendable {
  var bytes: [UInt8]
  /// When its last bytes came, by ``MonotonicClock``.
  var arrival: Duration
  /// In 90 kHz; nil unless it came over RTP.
  var timestamp: UInt32?
  var summary: AccessUnitSummary
  /// It is the first of an app's stream.
  var isStart = false
  /// Access units are missing before it.
  var isDiscontinuous = false
}

/// The video of the app on the screen, between the server's thread and the streaming thread.
///
/// A decoder can always continue with its contents: streams begin with parameter sets and a key frame, and after a gap
/// a key frame comes first. It is bounded: when it is full, access units are dropped up to the next key frame. Bursts,
/// as a film's pictures after a seek, are kept longer than live pictures, which would only be shown too late.
struct AccessUnitQueue: Sendable {
  /// Two groups of pictures of the length that `sdlvideosink` sends again at once.
  static let maximumCount = 1200
  /// The most live access units, unless they came within ``longestLiveSpan``.
  static let maximumLiveCount = 60
  static let longestLiveSpan = Duration.seconds(2)
  /// Without the last access unit.
  static let maximumByteCount = 8 << 20
  /// How long a picture is held whose end is not certain.
  static let longestWait = Duration.milliseconds(200)

  private enum Need {
    case nothing
    case keyFrame
    /// A key frame with its parameter sets.
    case start
  }

  /// Frames are access units; `framesIn` is the sum of all other counters and ``count``.
  struct Counters: Equatable, Sendable {
    var framesIn: UInt64 = 0
    var framesOut: UInt64 = 0
    var keyFramesOut: UInt64 = 0
    var bytesIn: UInt64 = 0
    /// Downstream was too slow.
    var droppedFull: UInt64 = 0
    /// They can't be decoded before the next key frame.
    var droppedWaiting: UInt64 = 0
    /// The element stopped, or was flushed, before they were pushed.
    var droppedDiscarded: UInt64 = 0
    var discontinuities: UInt64 = 0
  }

  private(set) var counters: Counters
  private var units = FIFO<QueuedAccessUnit>()
  private var byteCount = 0
  private var need = Need.start
  private var assembler = AccessUnitAssembler()
  private var lastArrival = Duration.zero

  /// - Parameter counters: the counters of earlier runs.
  init(_ counters: Counters = Counters()) {
    self.counters = counters
  }

  var count: Int { units.count }

  /// When ``flushPending(now:)`` is due; nil when nothing waits for its end.
  var flushDeadline: Duration? { assembler.hasPendingPicture ? lastArrival + Self.longestWait : nil }

  /// Another stream begins. The rest of the last one is still pushed.
  mutating func beginStream(ofSameApp isSameApp: Bool, now: Duration) {
    flushPending(now: now)
    if isSameApp { assembler.beginStream() } else { assembler = AccessUnitAssembler() }
    need = .start
  }

  /// Access units were lost: the next one must be a key frame.
  mutating func noteGap(now: Duration) {
    flushPending(now: now)
    if need == .nothing { need = .keyFrame }
  }

  /// Takes an app's message of a byte stream, or an access unit with its RTP timestamp.
  mutating func append(_ bytes: [UInt8], timestamp: UInt32?, now: Duration) {
    counters.bytesIn &+= UInt64(bytes.count)
    lastArrival = now
    guard timestamp == nil else { return enqueue(bytes, timestamp: timestamp, now: now) }
    assembler.append(bytes)
    // One at a time, so that dropped ones do not add up in memory.
    while let unit = assembler.next() { enqueue(unit, timestamp: nil, now: now) }
  }

  /// Takes the waiting access unit as it is.
  mutating func flushPending(now: Duration) {
    if let unit = assembler.flush() { enqueue(unit, timestamp: nil, now: lastArrival) }
  }

  mutating func take() -> QueuedAccessUnit? {
    guard let unit = units.popFirst() else { return nil }
    byteCount -= unit.bytes.count
    counters.framesOut &+= 1
    if unit.summary.isKeyFrame { counters.keyFramesOut &+= 1 }
    return unit
  }

  /// Forgets access units that have not been pushed.
  mutating func discard() {
    counters.droppedDiscarded &+= UInt64(units.count)
    units.removeAll()
    byteCount = 0
    assembler = AccessUnitAssembler()
    need = .start
  }

  private mutating func enqueue(_ bytes: [UInt8], timestamp: UInt32?, now: Duration) {
    counters.framesIn &+= 1
    let summary = bytes.withUnsafeBytes { AccessUnitSummary(scanning: $0) }
    if isFull(with: bytes.count, now: now) { makeRoom(for: summary) }
    guard satisfies(summary) else {
      counters.droppedWaiting &+= 1
      return
    }
    var unit = QueuedAccessUnit(bytes: bytes, arrival: now, timestamp: timestamp, summary: summary)
    unit.isStart = need == .start
    unit.isDiscontinuous = need != .nothing
    if unit.isDiscontinuous { counters.discontinuities &+= 1 }
    need = .nothing
    units.append(unit)
    byteCount += bytes.count
  }

  private func satisfies(_ summary: AccessUnitSummary) -> Bool {
    switch need {
    case .nothing: true
    case .keyFrame: summary.isKeyFrame
    case .start: summary.startsStream
    }
  }

  private func isFull(with size: Int, now: Duration) -> Bool {
    guard let first = units.first else { return false }
    return units.count >= Self.maximumCount || byteCount + size > Self.maximumByteCount
      || (units.count >= Self.maximumLiveCount && now - first.arrival >= Self.longestLiveSpan)
  }

  /// Drops up to the last key frame in the queue; all, if that is the first one, or the new access unit is a key frame.
  private mutating func makeRoom(for summary: AccessUnitSummary) {
    let last = summary.isKeyFrame ? 0 : units.lastIndex { $0.summary.isKeyFrame } ?? 0
    let dropped = last > 0 ? last : units.count
    // The start of a stream is kept as such, so that nothing is pushed without its parameter sets.
    let isStartDropped = units[..<dropped].contains(where: \.isStart)
    guard last > 0, !isStartDropped || units[last].summary.startsStream else {
      drop(units.count)
      need = isStartDropped ? .start : .keyFrame
      return
    }
    drop(last)
    units[0].isDiscontinuous = true
    units[0].isStart = units[0].isStart || isStartDropped
    counters.discontinuities &+= 1
  }

  private mutating func drop(_ count: Int) {
    counters.droppedFull &+= UInt64(count)
    for _ in 0..<count { byteCount -= units.popFirst()?.bytes.count ?? 0 }
  }
}

extension AccessUnitSummary {
  /// Whether a new decoder can begin here.
  fileprivate var startsStream: Bool { isKeyFrame && hasSequenceParameterSet && hasPictureParameterSet }
}

/// Keeps the bytes of an access unit where they are, while a buffer refers to them.
final class AccessUnitBytes: Sendable {
  private let bytes: [UInt8]
  /// The elements of an array are in one block of memory that is not moved or changed while the array is held here.
  private nonisolated(unsafe) let start: UnsafeRawPointer?

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    start = bytes.withUnsafeBytes { $0.baseAddress }
  }

  /// A buffer that refers to `bytes`, without a copy; nil when GStreamer has no memory for it.
  static func makeBuffer(_ bytes: [UInt8]) -> Buffer? {
    let holder = AccessUnitBytes(bytes)
    let owner = Unmanaged.passRetained(holder)
    let buffer = gst_buffer_new_wrapped_full(
      GST_MEMORY_FLAG_READONLY, UnsafeMutableRawPointer(mutating: holder.start), gsize(bytes.count), 0,
      gsize(bytes.count), owner.toOpaque(), releaseAccessUnit)
    if buffer == nil { owner.release() }
    return Buffer(owning: buffer)
  }
}

private func releaseAccessUnit(_ owner: UnsafeMutableRawPointer?) {
  guard let owner else { return }
  Unmanaged<AccessUnitBytes>.fromOpaque(owner).release()
}
