import SDLHeadUnit
import SDLLink

/// One connection's bytes on a slow road: takes them with the time, and returns those that have arrived.
///
/// Bytes from the app wait in the kernel, where they slow the app down, until the road takes them
/// (``allowance(at:)``); then they are on the road for the delay. A stall lets nothing onto the road, and nothing off
/// it.
struct ShapedLink {
  /// From the app.
  private(set) var up: ShapedDirection
  /// To the app.
  private(set) var down: ShapedDirection
  private var stalls: StallSchedule?
  /// How the app's bytes end, and when that arrives.
  private var ending: (transfer: Socket.Transfer, due: Duration)?
  /// Whether what is on the road arrives at once, and what comes later, too.
  private(set) var isOpen = true
  /// Since when more bytes have waited for the road than it takes; nil while none wait.
  private var crowdedSince: Duration?

  /// What has waited for less does not matter to the rates and deadlines of an app.
  private static let noticeableWait = Duration.milliseconds(100)

  /// The time of the queue in front of a slow road, as routers have it, and the bounds of its bytes.
  private static let kernelTime = Duration.milliseconds(250)
  private static let kernelByteCounts = 8 << 10...256 << 10

  /// How many bytes of the app the kernel should hold in front of a road with this rate, in bits per second. By itself
  /// it holds up to 6 MiB (`tcp_rmem`), 80 s of video at 600 kbit/s, which an app takes for sent.
  static func kernelByteCount(of rate: Int) -> Int32 {
    let count = Int(Double(rate) / 8 * (kernelTime / .seconds(1)))
    return Int32(min(max(count, kernelByteCounts.lowerBound), kernelByteCounts.upperBound))
  }

  /// An open road.
  init() {
    up = ShapedDirection(seed: 1)
    down = ShapedDirection(seed: 2)
  }

  /// Makes it another road, on which the bytes of the former arrive at once; nil opens it.
  /// - Parameter start: the beginning of the stalls' schedule, which is the same for all connections of the road.
  mutating func change(to shape: LinkShape?, since start: Duration, now: Duration) {
    isOpen = shape == nil
    let shape = shape ?? LinkShape()
    up.change(rate: shape.up, shape, now: now)
    down.change(rate: shape.down, shape, now: now)
    stalls = shape.stalls.map { StallSchedule($0, since: start) }
    ending?.due = now
    advance(to: now)
  }

  /// Has to be called before ``nextDeadline(at:takesInput:)``.
  mutating func advance(to now: Duration) { stalls?.advance(to: now) }

  func isStalled(at now: Duration) -> Bool { stalls?.stall.contains(now) ?? false }

  var isEmpty: Bool { up.isEmpty && down.isEmpty && ending == nil }

  /// Whether bytes have arrived.
  /// - Parameter takesInput: whether those of the app count.
  func isDue(at now: Duration, takesInput: Bool = true) -> Bool {
    !isStalled(at: now) && (arrival(takesInput: takesInput).map { $0 <= now } ?? false)
  }

  /// Until when nothing happens, unless the app sends bytes and the road takes some (``allowance(at:)``).
  func nextDeadline(at now: Duration, takesInput: Bool) -> Duration? {
    if let stalls, isStalled(at: now) { return stalls.stall.upperBound }
    let free = takesInput && ending == nil ? up.freeTime(after: now) : nil
    return [stalls?.stall.lowerBound, arrival(takesInput: takesInput), free].compactMap(\.self).min()
  }

  private func arrival(takesInput: Bool) -> Duration? {
    let input = takesInput ? up.nextDue ?? ending?.due : nil
    return [input, down.nextDue].compactMap(\.self).min()
  }

  // MARK: From the app

  /// How many bytes the road takes now.
  func allowance(at now: Duration) -> Int {
    ending != nil || isStalled(at: now) ? 0 : up.allowance(at: now, lateness: waitingSince(at: now) != nil)
  }

  /// The road is asked as soon as it takes bytes, so that those that come later have not waited.
  private func waitingSince(at now: Duration) -> Duration? { up.isIdle(at: now) ? nil : crowdedSince }

  /// Bytes were read from the app.
  /// - Parameter isCrowded: whether these are as many as allowed, so that there may be more.
  /// - Returns: since when bytes have had to wait, so that the app is not to blame for coming late; nil if that is not
  ///   worth mentioning, or was returned before.
  mutating func receive(_ bytes: UnsafeRawBufferPointer, isCrowded: Bool, now: Duration) -> Duration? {
    let since = waitingSince(at: now)
    up.append(bytes, now: now, hasWaited: since != nil)
    guard isCrowded, up.hasRate else {
      crowdedSince = nil
      return nil
    }
    guard let since, now - since >= Self.noticeableWait else {
      crowdedSince = since ?? now
      return nil
    }
    crowdedSince = now
    return since
  }

  /// Nothing more comes from the app, or its connection has failed; the first of these counts.
  mutating func end(_ transfer: Socket.Transfer, now: Duration) {
    if ending == nil { ending = (transfer, up.arrival(now: now)) }
  }

  /// Bytes of the app that have arrived, as many as fit; then the end, if it has.
  mutating func takeReceived(into buffer: UnsafeMutableRawBufferPointer, now: Duration) -> Socket.Transfer {
    guard !isStalled(at: now) else { return .wouldBlock }
    let bytes = up.take(atMost: buffer.count, now: now)
    if !bytes.isEmpty {
      buffer.copyBytes(from: bytes)
      return .bytes(bytes.count)
    }
    guard up.isEmpty, let ending, ending.due <= now else { return .wouldBlock }
    return ending.transfer
  }

  // MARK: To the app

  mutating func send(_ bytes: [UInt8], now: Duration) {
    bytes.withUnsafeBytes { down.append($0, now: now) }
  }

  /// What has arrived at the app's end.
  mutating func takeSent(now: Duration) -> [UInt8] {
    isStalled(at: now) ? [] : down.take(atMost: .max, now: now)
  }
}

/// The times in which nothing passes.
struct StallSchedule {
  /// The present one, or the next.
  private(set) var stall: Range<Duration>
  private let stalls: LinkShape.Stalls
  private var random = RoadNumbers(seed: 3)

  init(_ stalls: LinkShape.Stalls, since start: Duration) {
    self.stalls = stalls
    stall = start..<start
    stall = next
  }

  /// Skips the stalls that have ended.
  mutating func advance(to now: Duration) {
    while stall.upperBound <= now { stall = next }
  }

  private var next: Range<Duration> {
    mutating get {
      let start = stall.lowerBound + stalls.interval * (0.5 + random.share)
      return start..<start + stalls.duration
    }
  }
}
