import SDLHeadUnit

/// One direction of a ``ShapedLink``: a narrow place that takes bytes at a rate, and behind it the way to the other
/// end.
struct ShapedDirection {
  private struct Piece {
    var due: Duration
    var count: Int
  }

  /// At the narrow place, bytes enter the road in pieces that take so long, and of so many bytes.
  private static let pieceTime = Duration.milliseconds(10)
  private static let pieceByteCounts = 256...64 << 10
  /// How much of the time in which the reader was late it may make up for.
  private static let longestLateness = Duration.milliseconds(50)
  /// In bytes; a road of more delay at more speed does not reach its rate.
  static let maximumByteCount = 4 << 20
  private static let maximumPieceCount = 16 << 10
  /// Bytes that have been taken are removed when there are so many.
  private static let mostTakenBytes = 64 << 10

  private var rate: Int?
  private var delay = Duration.zero
  private var jitter = Duration.zero
  private var capacity = maximumByteCount
  private var pieceByteCount = pieceByteCounts.upperBound
  private var random: RoadNumbers
  private var bytes: [UInt8] = []
  private var pieces: [Piece] = []
  /// How much of ``bytes`` and ``pieces`` has been taken.
  private var takenByteCount = 0
  private var takenPieceCount = 0
  /// When the last byte leaves the narrow place.
  private var free = Duration.zero
  /// When the last byte arrives.
  private(set) var lastDue = Duration.zero

  /// A direction without any limit.
  init(seed: UInt64) {
    random = RoadNumbers(seed: seed)
  }

  /// Makes it another road; what is on the former arrives at once.
  /// - Parameter rate: in bits per second; nil has no limit.
  mutating func change(rate: Int?, _ shape: LinkShape, now: Duration) {
    (self.rate, delay, jitter) = (rate, shape.delay, shape.jitter)
    free = now
    lastDue = now
    pieces = isEmpty ? [] : [Piece(due: now, count: count)]
    takenPieceCount = 0
    pieceByteCount = Self.pieceByteCounts.upperBound
    capacity = Self.maximumByteCount
    guard rate != nil else { return }
    pieceByteCount = min(max(byteCount(of: Self.pieceTime), Self.pieceByteCounts.lowerBound), pieceByteCount)
    // The pieces at its beginning and its end do not make the road longer.
    capacity = min(byteCount(of: delay + jitter + Self.longestLateness * 2) + 2 * pieceByteCount, capacity)
  }

  var hasRate: Bool { rate != nil }

  /// Bytes on the road.
  var count: Int { bytes.count - takenByteCount }
  var isEmpty: Bool { count == 0 }
  private var isFull: Bool { count >= capacity || pieces.count - takenPieceCount >= Self.maximumPieceCount }

  /// When the first bytes arrive; nil without any.
  var nextDue: Duration? { takenPieceCount < pieces.count ? pieces[takenPieceCount].due : nil }

  /// When the narrow place takes bytes again; nil if it does already, or is closed until bytes have been taken.
  func freeTime(after now: Duration) -> Duration? { free > now && !isFull ? free : nil }

  /// Whether nothing has come for longer than the reader is late.
  func isIdle(at now: Duration) -> Bool { now - free > Self.longestLateness }

  /// How many bytes enter the road now.
  /// - Parameter lateness: whether bytes have waited for it until now, so that it makes up for a late call.
  func allowance(at now: Duration, lateness: Bool) -> Int {
    guard !isFull, rate == nil || free <= now else { return 0 }
    let late = rate == nil || !lateness ? 0 : byteCount(of: min(now - free, Self.longestLateness))
    return min(pieceByteCount + late, capacity - count)
  }

  /// Bytes enter the road. More than ``allowance(at:lateness:)`` wait in front of the narrow place.
  /// - Parameter hasWaited: as for the allowance.
  mutating func append(_ more: UnsafeRawBufferPointer, now: Duration, hasWaited: Bool = false) {
    if takenByteCount > Self.mostTakenBytes, takenByteCount >= count { removeTaken() }
    bytes.append(contentsOf: more)
    guard rate != nil else { return add(more.count, due: arrival(now: now)) }
    free = max(free, hasWaited ? now - Self.longestLateness : now)
    var rest = more.count
    while rest > 0 {
      let piece = min(rest, pieceByteCount)
      free += time(of: piece)
      add(piece, due: arrival(now: max(free, now)))
      rest -= piece
    }
  }

  /// When something arrives that leaves the narrow place now.
  mutating func arrival(now: Duration) -> Duration {
    max(lastDue, now + delay + (jitter > .zero ? jitter * random.share : .zero))
  }

  /// Removes the bytes that have arrived.
  mutating func take(atMost most: Int, now: Duration) -> [UInt8] {
    let start = takenByteCount
    while takenPieceCount < pieces.count, pieces[takenPieceCount].due <= now, takenByteCount - start < most {
      let taken = min(pieces[takenPieceCount].count, most - (takenByteCount - start))
      takenByteCount += taken
      pieces[takenPieceCount].count -= taken
      if pieces[takenPieceCount].count == 0 { takenPieceCount += 1 }
    }
    let arrived = Array(bytes[start..<takenByteCount])
    if isEmpty { removeTaken() }
    return arrived
  }

  private mutating func add(_ count: Int, due: Duration) {
    guard count > 0 else { return }
    lastDue = due
    if takenPieceCount < pieces.count, pieces[pieces.count - 1].due == due {
      pieces[pieces.count - 1].count += count
    } else {
      pieces.append(Piece(due: due, count: count))
    }
  }

  private mutating func removeTaken() {
    bytes.removeFirst(takenByteCount)
    pieces.removeFirst(takenPieceCount)
    (takenByteCount, takenPieceCount) = (0, 0)
  }

  private func byteCount(of time: Duration) -> Int {
    rate.map { Int((Double($0) / 8 * (time / .seconds(1))).rounded(.down)) } ?? 0
  }

  private func time(of byteCount: Int) -> Duration {
    rate.map { .nanoseconds(Int64(byteCount) * 8_000_000_000 / Int64($0)) } ?? .zero
  }
}

/// SplitMix64: the same numbers in each run, so that a road can be repeated.
struct RoadNumbers {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// 0..<1.
  var share: Double {
    mutating get {
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      return Double((word ^ (word >> 31)) >> 11) / 0x1p53
    }
  }
}
