import GStreamerKit
import SDLApp

/// What upstream is asked: which displays the app's ranges accept, and which pictures it can send. Without locks.
extension VideoStreamRun {
  /// The choice has to be made anew. On the connection thread, the streaming thread, or that of a filter whose ranges
  /// have changed.
  func choose(_ cause: VideoNegotiation.ChoiceCause) {
    choose(.success(update { $0.beginChoice(cause) }))
  }

  /// Asks the range filters upstream which displays they reject, and has the negotiation choose.
  func choose(_ question: Result<VideoNegotiation.RangesQuestion?, VideoProblem>) {
    let asked: VideoNegotiation.RangesQuestion
    switch question {
    case .success(let question):
      guard let question else { return }
      asked = question
    case .failure(let problem): return failConnection(problem)
    }
    let choice = VideoChoice(asked.displays, reasons: RangesQuery.ask(sink.pad, asked.displays))
    let supported = possible(choice.acceptedDisplays)
    let lostFrames = sink.counters.withLock { $0.framesLost }
    let now = time.now
    let mustAsk = change { negotiation in
      Result { () throws(VideoProblem) in
        try negotiation.choose(choice, supported: supported, asked, lostFrames: lostFrames, now: now)
      }
    }
    sink.log(GST_LEVEL_INFO, "to be streamed: \(choice.acceptedDisplays), not: \(choice.rejections)")
    switch mustAsk {
    case .success(let mustAsk): if mustAsk { askUpstream() }
    case .failure(let problem): failConnection(problem)
    }
  }

  /// Those of `displays` whose size upstream can send.
  private func possible(_ displays: [VideoDisplay]) -> [VideoDisplay] {
    guard !displays.isEmpty else { return displays }
    let offer = SinkCaps.offer(displays, maximumRate: sink.settings.withLock { $0.maxFrameRate })
    guard let answer = Caps.peerQuery(sink.pad, filter: offer) else { return displays }
    let sizes = CapsSizes.sizes(in: answer.pointer, among: displays.compactMap(\.streamSize))
    return displays.filter { $0.streamSize.map(sizes.contains) ?? false }
  }

  /// Asks upstream for pictures of the head unit's choice.
  func askUpstream() {
    _ = askUpstream(state.withLock { $0.upstreamQuestion })
  }

  /// Asks which of the accepted sizes upstream can send, and has it negotiate anew if there is a better one.
  func askUpstream(_ question: VideoNegotiation.UpstreamQuestion) -> VideoNegotiation.UpstreamAnswer {
    // A callback may have ended the stream meanwhile; upstream serves the next one then.
    guard !hasEnded else { return .stays }
    let sizes = sizesUpstreamCanSend()
    let isFinal = !UpstreamPath.mayChange(sink.pad, to: question.displays)
    let answer = change { $0.upstreamAnswered(question, sizes, isFinal: isFinal) }
    guard answer == .changes, !hasEnded else { return answer }
    sink.log(GST_LEVEL_INFO, "asking upstream for another size, of \(sizes)")
    unlocked { _ = Event.reconfigure()?.push(on: sink.pad) }
    return answer
  }

  /// In the order in which upstream would choose.
  private func sizesUpstreamCanSend() -> [VideoSize] {
    guard let pointer = sink.caps(filter: nil) else { return [] }
    let caps = Caps(taking: pointer)
    guard let answer = Caps.peerQuery(sink.pad, filter: caps) else { return [] }
    let possible = caps.intersected(with: answer)
    return (0..<possible.count).compactMap { index in
      guard let structure = possible.structure(at: index), let width = structure.integer("width"),
        let height = structure.integer("height")
      else { return nil }
      return VideoSize(Int(width), Int(height))
    }
  }
}
