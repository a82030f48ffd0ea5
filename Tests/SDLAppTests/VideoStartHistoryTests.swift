import Testing

@testable import SDLApp

private typealias VideoStartHistory = StreamStartHistory<VideoStartRequest>

/// When the next attempt to start video may be made.
@Suite struct VideoStartHistoryTests {
  private static let first = VideoStartRequest(size: VideoSize(800, 480))
  private static let refusal = VideoStartHistory.Refusal(first, reason: nil, isFinal: false)
  private static let second = VideoStartRequest(size: VideoSize(400, 240))

  @Test func nothingHasFailed() {
    #expect(VideoStartHistory().earliestStart(of: Self.first) == .zero)
  }

  @Test func pausesDoubleUpToTheLongest() {
    var history = VideoStartHistory()
    let pauses = (0..<2000).map { _ in history.failed(now: .seconds(1)) }
    #expect(Array(pauses.prefix(6)) == [2, 4, 8, 16, 30, 30].map(Duration.seconds))
    #expect(pauses.last == .seconds(30))
    #expect(history.earliestStart(of: Self.first) == .seconds(31))
  }

  @Test func refusedForGood() {
    var history = VideoStartHistory()
    history.refusedForGood(Self.first, now: .seconds(1))
    #expect(history.earliestStart(of: Self.first) == nil)
    // Any other request may be made at once.
    #expect(history.earliestStart(of: Self.second) == .zero)
    history.requestChanged(to: Self.second)
    #expect(history.earliestStart(of: Self.first) == .seconds(3))
    // Refused once more, it has to wait longer.
    history.refusedForGood(Self.first, now: .seconds(3))
    history.requestChanged(to: nil)
    #expect(history.earliestStart(of: Self.first) == .seconds(7))
    #expect(history.earliestStart(of: Self.second) == .zero)
  }

  @Test func streamThatHasEnded() {
    var history = VideoStartHistory()
    _ = history.failed(now: .zero)
    history.refusedForGood(Self.first, now: .zero)
    history.streamEnded(after: .seconds(29))
    #expect(history.earliestStart(of: Self.first) == .seconds(2))
    #expect(history.failed(now: .seconds(100)) == .seconds(4))
    history.streamEnded(after: .seconds(30))
    #expect(history.failed(now: .seconds(200)) == .seconds(2))
  }

  @Test func manyRefusalsAreFinal() {
    var history = VideoStartHistory()
    let consequences = (1...8).map { _ in history.refused(Self.refusal, now: .zero) }
    #expect(
      consequences == [2, 4, 8, 16, 30, 30, 30].map { .retry(after: .seconds($0)) } + [.refusedForGood(count: 8)])
    #expect(history.earliestStart(of: Self.first) == nil)
    history.requestChanged(to: nil)
    #expect(history.earliestStart(of: Self.first) == .seconds(30))
    #expect(history.failed(now: .seconds(30)) == .seconds(2), "pauses begin anew")
  }

  /// More than two seconds after a refusal.
  @Test func driverLeaves() {
    var history = VideoStartHistory()
    history.limits.longestPause = .seconds(5)
    _ = history.unanswered(now: .zero)
    history.refusedForGood(Self.first, now: .zero)
    _ = history.refused(Self.refusal, now: .zero)
    #expect(history.levelLost(isStarting: false, now: .seconds(3)) == nil)
    history.levelAllowsStream()
    var expected = VideoStartHistory()
    expected.limits.longestPause = .seconds(5)
    #expect(history == expected)
  }

  /// Three refusals that take the level away are as good as eight that don't.
  @Test(arguments: [true, false]) func refusalsThatCostTheLevel(isLevelFirst: Bool) {
    var history = VideoStartHistory()
    for round in 1...3 {
      let now = Duration.seconds(100 * round)
      var last: (refusal: VideoStartHistory.Refusal, count: Int)?
      if isLevelFirst {
        #expect(history.levelLost(isStarting: true, now: now) == nil)
        let consequence = history.refused(Self.refusal, now: now + .seconds(1))
        #expect(consequence == (round < 3 ? .retry(after: .seconds(2)) : .refusedForGood(count: 3)))
      } else {
        #expect(history.refused(Self.refusal, now: now) == .retry(after: .seconds(2)))
        last = history.levelLost(isStarting: false, now: now + .milliseconds(1999))
      }
      #expect(last?.count == (isLevelFirst || round < 3 ? nil : 3))
      #expect(last?.refusal.request == (isLevelFirst || round < 3 ? nil : Self.first))
      // The level may be said again, and ends the pauses.
      #expect(history.levelLost(isStarting: false, now: now + .seconds(2)) == nil)
      #expect(history.earliestStart(of: Self.first) == .zero)
      history.levelAllowsStream()
    }
    #expect(history == VideoStartHistory())
  }

  /// With streams in between it is the driver who takes it away.
  @Test func refusalsBetweenStreamsThatCostTheLevel() {
    var history = VideoStartHistory()
    for round in 1...6 {
      let now = Duration.seconds(100 * round)
      #expect(history.refused(Self.refusal, now: now) == .retry(after: .seconds(2)))
      #expect(history.levelLost(isStarting: false, now: now + .seconds(1)) == nil)
      history.levelAllowsStream()
      history.accepted()
      history.streamEnded(after: .seconds(60))
    }
  }

  /// Any answer shows that the head unit does not need the longer time for the next one.
  @Test(arguments: ["accepted", "refused", "refused for good"]) func answerAfterNone(answer: String) {
    var history = VideoStartHistory()
    _ = history.unanswered(now: .zero)
    #expect(history.wasUnanswered)
    switch answer {
    case "accepted": history.accepted()
    case "refused": _ = history.refused(Self.refusal, now: .seconds(1))
    default: history.refusedForGood(Self.first, now: .seconds(1))
    }
    #expect(!history.wasUnanswered)
  }

  /// Seven are in a row only until a start is accepted.
  @Test func acceptedBetweenRefusals() {
    var history = VideoStartHistory()
    for _ in 1...3 {
      for number in 1...7 {
        guard case .retry = history.refused(Self.refusal, now: .zero) else {
          Issue.record("refusal \(number) is final")
          return
        }
      }
      history.accepted()
    }
  }

  /// Only before a stream has run, a refusal is one more of the same request.
  @Test func refusedAgainAfterAStream() {
    var history = VideoStartHistory()
    history.refusedForGood(Self.first, now: .zero)
    history.streamEnded(after: .seconds(1))
    #expect(history.earliestStart(of: Self.first) == .zero)
    history.refusedForGood(Self.first, now: .seconds(10))
    history.requestChanged(to: nil)
    #expect(history.earliestStart(of: Self.first) == .seconds(12))
  }

  /// What the head unit refuses by its parameters is not refused once more because that costs the level.
  @Test func finalRefusalsThatCostTheLevel() {
    var history = VideoStartHistory()
    let refusal = VideoStartHistory.Refusal(Self.first, reason: nil, isFinal: true)
    for round in 1...5 {
      let now = Duration.seconds(100 * round)
      #expect(history.refused(refusal, now: now) == .refusedForGood(count: 1))
      #expect(history.levelLost(isStarting: false, now: now + .seconds(1)) == nil)
      history.levelAllowsStream()
    }
  }

  /// The loss of its transport ends a stream as anything else does.
  @Test func refusalBeforeALostTransport() {
    var lifecycle = StreamLifecycle<VideoStartRequest>()
    _ = lifecycle.reconcile(.stream(Self.first), now: .zero)
    _ = lifecycle.refused(ServiceRejection(rejectedParameters: ["width"]), .stream(Self.first), now: .zero)
    #expect(lifecycle.reconcile(.stream(Self.second), now: .seconds(1)) == [.sendStartService(Self.second)])
    _ = lifecycle.acknowledged(VideoServiceParameters(), .stream(Self.second), now: .seconds(1))
    #expect(lifecycle.transportLost(now: .milliseconds(1500)) == [.stopped(.transportLost)])
    #expect(lifecycle.reconcile(.stream(Self.first), now: .milliseconds(1500)) == [.sendStartService(Self.first)])
  }

  @Test func noStartRightBehindARefusal() {
    var history = VideoStartHistory()
    let refusal = VideoStartHistory.Refusal(Self.first, reason: nil, isFinal: true)
    #expect(history.refused(refusal, now: .seconds(10)) == .refusedForGood(count: 1))
    #expect(history.earliestStart(of: Self.second) == .seconds(10) + .milliseconds(250))
    #expect(history.isShortlyAfterRefusal(now: .seconds(11)) && !history.isShortlyAfterRefusal(now: .seconds(12)))
    history.accepted()
    #expect(history.earliestStart(of: Self.second) == .zero)
  }
}
