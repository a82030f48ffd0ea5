import TestSupport

@testable import SDLApp

/// A bottleneck with one queue, and senders that share it; time passes in steps of a millisecond.
///
/// Each sender has a kernel with a window: what is beyond it is unsent, and beyond `sendBuffer` the kernel takes no
/// more.
final class SimulatedLink {
  /// Bits per second, as a function of seconds.
  var rate: (Double) -> Double
  /// Milliseconds in each direction.
  var propagation = 3
  /// Milliseconds by which the peer delays an acknowledgement that would come at the given one.
  var acknowledgementDelay: (Int) -> Int = { _ in 0 }
  private(set) var now = 0
  private(set) var senders: [SimulatedSender] = []
  private var queue: [Packet] = []
  private var queueStart = 0
  private var credit = 0.0
  /// Bits per second of a flow that does not react.
  var competingRate = 0.0
  private var competingCredit = 0.0

  struct Packet {
    var sender: Int?
    var byteCount: Int
    var sentAt: Int
    /// The picture that ends with this packet.
    var picture: Int?
  }

  init(rate: @escaping (Double) -> Double) {
    self.rate = rate
  }

  var seconds: Double { Double(now) / 1000 }

  func add(_ sender: SimulatedSender) {
    sender.index = senders.count
    senders.append(sender)
  }

  func run(for seconds: Double) {
    let end = now + Int(seconds * 1000)
    while now < end { step() }
  }

  func enqueue(_ packet: Packet) { queue.append(packet) }

  private func step() {
    now += 1
    for sender in senders { sender.receiveAcknowledgements(at: now) }
    for sender in senders { sender.step(at: now, link: self) }
    competingCredit += competingRate / 8000
    while competingCredit >= 1400 {
      competingCredit -= 1400
      queue.append(Packet(sender: nil, byteCount: 1400, sentAt: now, picture: nil))
    }
    credit += rate(seconds) / 8000
    while queueStart < queue.count, Double(queue[queueStart].byteCount) <= credit {
      let packet = queue[queueStart]
      queueStart += 1
      credit -= Double(packet.byteCount)
      guard let index = packet.sender else { continue }
      let acknowledged = now + 2 * propagation + acknowledgementDelay(now + 2 * propagation)
      senders[index].delivered(packet, at: now + propagation, acknowledgedAt: acknowledged)
    }
    // An idle link saves nothing up.
    if queueStart == queue.count {
      credit = 0
      queue.removeAll(keepingCapacity: true)
      queueStart = 0
    }
  }
}

/// An app that encodes live pictures by the targets of its controller.
final class SimulatedSender {
  /// What is measured of one picture, in milliseconds.
  struct Picture {
    var captured: Int
    var byteCount: Int
    var shown: Int?
  }

  var controller: RateController
  let framesPerSecond: Double
  /// How much of its bits the encoder uses.
  var usage = 1.0
  var hasTCPInfo = true
  var knowsUnacknowledged = true
  /// Whether pictures wait for the link at all.
  var isGated = true
  /// Milliseconds between key frames.
  var keyFrameInterval = 2000
  /// What a key frame has, in other pictures.
  var keyFrameSize = 4.0
  /// Of the number of bytes, to both sides.
  var noise = 0.3
  /// The encoder is upstream: each picture is encoded when it comes, and one that would come too late is dropped up to
  /// the next key frame, for which the encoder is asked.
  var isEncoderUpstream = false
  /// Whether it makes key frames when it is asked.
  var answersRequests = true
  /// When pictures were dropped, in milliseconds.
  private(set) var drops: [Int] = []
  private var needsKeyFrame = false
  private var isKeyFrameRequested = false
  private var lastSent = 0
  /// What the application has set the encoder to, and when.
  private var followed: (bitrate: Int, time: Int)?
  var window = 64 << 10
  var sendBuffer = 128 << 10

  var index = 0
  private(set) var pictures: [Picture] = []
  /// The target at each millisecond, in bits per second.
  private(set) var rates: [Double] = []
  private var random: SeededGenerator
  private var handed: UInt64 = 0
  private var acknowledged: UInt64 = 0
  private var inFlight = 0
  private var unsent: [SimulatedLink.Packet] = []
  private var unsentByteCount = 0
  private var waitingByteCount: Int { inFlight + unsentByteCount }
  private var acknowledgements: [(time: Int, byteCount: Int, roundTrip: Int)] = []
  private var smoothedRoundTrip: Double?
  private var minimumRoundTrip = Int.max
  private var nextPicture = 0.0
  /// Milliseconds from picture to picture; no two clocks are equally fast.
  private let interval: Double
  private var pending: Int?
  private var retryAt = 0
  private var nextDue = 0.0
  private var lastKeyFrame = Int.min / 2
  private var encoderRate: Double?
  /// Time that the clock of the app has jumped.
  var clockOffset = Duration.zero

  init(_ controller: RateController, seed: UInt64) {
    self.controller = controller
    framesPerSecond = controller.limits.frameRate
    random = SeededGenerator(seed: seed)
    nextPicture = .random(in: 0..<30, using: &random)
    interval = 1000 / framesPerSecond * .random(in: 0.998...1.002, using: &random)
  }

  func delivered(_ packet: SimulatedLink.Packet, at time: Int, acknowledgedAt: Int) {
    if let picture = packet.picture { pictures[picture].shown = time }
    // Acknowledgements are cumulative, so none overtakes another.
    let ordered = max(acknowledgedAt, acknowledgements.last?.time ?? 0)
    acknowledgements.append((ordered, packet.byteCount, ordered - packet.sentAt))
  }

  func receiveAcknowledgements(at now: Int) {
    while let first = acknowledgements.first, first.time <= now {
      acknowledgements.removeFirst()
      acknowledged += UInt64(first.byteCount)
      inFlight -= first.byteCount
      minimumRoundTrip = min(minimumRoundTrip, first.roundTrip)
      smoothedRoundTrip = smoothedRoundTrip.map { $0 + (Double(first.roundTrip) - $0) / 8 } ?? Double(first.roundTrip)
    }
  }

  func step(at now: Int, link: SimulatedLink) {
    if Double(now) >= nextPicture {
      nextPicture += interval * .random(in: 0.9...1.1, using: &random)
      // The newest one takes the place of the one that waits; thinning is even.
      let targets = controller.targets
      if Double(now) >= nextDue - 500 / framesPerSecond {
        nextDue = max(nextDue, Double(now) - 1000 / targets.frameRate) + 1000 / targets.frameRate
        pending = now
        retryAt = now
      }
    }
    if isEncoderUpstream {
      if pending != nil { offerEncoded(at: now) }
    } else if pending != nil, now >= retryAt {
      offer(at: now)
    }
    send(link)
    rates.append(Double(controller.targets.sentBitrate))
  }

  private func sample(at now: Int) -> LinkSample {
    LinkSample(
      time: .milliseconds(now) + clockOffset, handedByteCount: handed,
      unacknowledgedByteCount: knowsUnacknowledged ? handed - acknowledged : nil,
      unsentByteCount: hasTCPInfo ? UInt64(unsentByteCount) : nil, isBlocked: waitingByteCount > sendBuffer,
      roundTrip: hasTCPInfo
        ? smoothedRoundTrip.map {
          LinkSample.RoundTrip(
            smoothed: .microseconds(Int($0 * 1000)), minimum: .milliseconds(minimumRoundTrip))
        } : nil)
  }

  private func offer(at now: Int) {
    let targets = controller.update(sample(at: now))
    if isGated, case .wait(let time) = controller.readiness {
      retryAt = now + max(Int(time.seconds * 1000), 1)
      return
    }
    guard waitingByteCount <= sendBuffer, let captured = pending else { return }
    pending = nil
    encode(targets, captured: captured, now: now)
    _ = controller.update(sample(at: now))
  }

  /// The picture at hand comes encoded; it goes at once, or never.
  private func offerEncoded(at now: Int) {
    defer { pending = nil }
    let targets = controller.update(sample(at: now))
    // `target-bitrate` changes a few times per second at most.
    if followed.map({ abs(targets.bitrate - $0.bitrate) > $0.bitrate / 20 && now - $0.time >= 300 }) ?? true {
      followed = (targets.bitrate, now)
    }
    let isKeyFrame = now - lastKeyFrame >= keyFrameInterval || isKeyFrameRequested && answersRequests
    let byteCount = byteCount(
      rate: Double(followed?.bitrate ?? targets.bitrate), frameRate: framesPerSecond, isKeyFrame: isKeyFrame, now: now)
    if controller.isLate(isKeyFrameNeeded: needsKeyFrame, sinceSent: .milliseconds(now - lastSent)) {
      isKeyFrameRequested = false
      needsKeyFrame = true
    } else if needsKeyFrame, !isKeyFrame {
      isKeyFrameRequested = true
    } else if waitingByteCount > sendBuffer {
      needsKeyFrame = true
    } else {
      needsKeyFrame = false
      isKeyFrameRequested = false
      lastSent = now
      hand(over: byteCount, captured: now)
      _ = controller.update(sample(at: now))
      return
    }
    drops.append(now)
    _ = controller.update(sample(at: now))
  }

  private func encode(_ targets: RateTargets, captured: Int, now: Int) {
    let isKeyFrame = now - lastKeyFrame >= keyFrameInterval
    var size = byteCount(
      rate: Double(targets.sentBitrate), frameRate: targets.frameRate, isKeyFrame: isKeyFrame, now: now)
    if let bound = targets.maximumPictureBits { size = min(size, bound / 8) }
    hand(over: max(size, 60), captured: captured)
  }

  /// What a picture has at a bitrate.
  private func byteCount(rate: Double, frameRate: Double, isKeyFrame: Bool, now: Int) -> Int {
    let wanted = rate * usage
    // x264 needs a few pictures for another bitrate.
    let rate = encoderRate.map { $0 + 0.5 * (wanted - $0) } ?? wanted
    encoderRate = rate
    if isKeyFrame { lastKeyFrame = now }
    let perInterval = Double(keyFrameInterval) / 1000 * frameRate
    let average = rate / 8 / frameRate * perInterval / (perInterval - 1 + keyFrameSize)
    return max(
      Int(average * (isKeyFrame ? keyFrameSize : .random(in: (1 - noise)...(1 + noise), using: &random))), 60)
  }

  private func hand(over byteCount: Int, captured: Int) {
    pictures.append(Picture(captured: captured, byteCount: byteCount))
    handed += UInt64(byteCount)
    var rest = byteCount
    while rest > 0 {
      let part = min(rest, 1448)
      rest -= part
      unsent.append(.init(sender: index, byteCount: part, sentAt: 0, picture: rest == 0 ? pictures.count - 1 : nil))
      unsentByteCount += part
    }
  }

  private func send(_ link: SimulatedLink) {
    var count = 0
    while count < unsent.count, inFlight + unsent[count].byteCount <= window {
      var packet = unsent[count]
      packet.sentAt = link.now
      inFlight += packet.byteCount
      unsentByteCount -= packet.byteCount
      link.enqueue(packet)
      count += 1
    }
    unsent.removeFirst(count)
  }
}

// MARK: What a viewer sees

extension SimulatedSender {
  /// From capture to the head unit, in milliseconds, of the pictures that were captured within `range` of seconds.
  func delays(_ range: ClosedRange<Double>) -> [Int] {
    pictures.filter { range.contains(Double($0.captured) / 1000) }.compactMap { picture in
      picture.shown.map { $0 - picture.captured }
    }.sorted()
  }

  /// The longest time without a new picture within `range` of seconds, in milliseconds.
  func longestFreeze(_ range: ClosedRange<Double>) -> Int {
    let start = Int(range.lowerBound * 1000)
    let end = Int(range.upperBound * 1000)
    let times = [start] + pictures.compactMap(\.shown).filter { (start...end).contains($0) } + [end]
    return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
  }

  /// Pictures that arrive per second.
  func picturesPerSecond(_ range: ClosedRange<Double>) -> Double {
    Double(delays(range).count) / (range.upperBound - range.lowerBound)
  }

  /// Bits per second that arrive.
  func throughput(_ range: ClosedRange<Double>) -> Double {
    let bytes = pictures.filter { $0.shown.map { range.contains(Double($0) / 1000) } ?? false }
      .reduce(0) { $0 + $1.byteCount }
    return Double(bytes) * 8 / (range.upperBound - range.lowerBound)
  }

  /// The targets within `range` of seconds, in bits per second.
  func targets(_ range: ClosedRange<Double>) -> ArraySlice<Double> {
    rates[min(Int(range.lowerBound * 1000), rates.count)..<min(Int(range.upperBound * 1000), rates.count)]
  }
}

extension [Int] {
  /// Of sorted numbers.
  func percentile(_ share: Double) -> Int {
    isEmpty ? .max : self[Swift.min(Int(Double(count) * share), count - 1)]
  }
}
