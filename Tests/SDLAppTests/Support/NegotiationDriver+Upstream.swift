@testable import SDLApp

/// What the head unit announces, and what ranges, caps and frames of upstream make of it.
extension NegotiationDriver {
  /// The head unit takes `sizes`; `fallbacks` are from a list that these have replaced.
  func announce(_ sizes: [VideoSize], fallbacks: [VideoSize] = [], over protocols: [VideoStreamingProtocol] = [.raw]) {
    let formats = protocols.map { VideoStreamingFormat(videoProtocol: $0.rawValue, codec: "H264") }
    announce(sizes.map { VideoDisplay(size: $0) }, fallbacks: fallbacks.map { VideoDisplay(size: $0) }, formats)
  }

  func announce(_ displays: [VideoDisplay], fallbacks: [VideoDisplay] = [], _ formats: [VideoStreamingFormat]? = nil) {
    var capability = displays.first.map(Self.entry) ?? VideoStreamingCapability()
    capability.supportedFormats = formats
    capability.additionalCapabilities = displays.dropFirst().map(Self.entry)
    capability.formerCapabilities = fallbacks.map(Self.entry)
    announcedProtocols.formUnion(VideoStreamingProtocol.choices(offered: formats))
    publish { $0.videoCapability = AppSession.VideoCapability(capability: capability, fallbackSize: nil) }
  }

  private static func entry(_ display: VideoDisplay) -> VideoStreamingCapability {
    var entry = VideoStreamingCapability()
    entry.preferredResolution = display.size
    entry.scale = display.scale
    entry.diagonalScreenSize = display.diagonal
    entry.pixelPerInch = display.pixelsPerInch
    entry.preferredFPS = display.frameRate
    entry.maxBitrate = display.maximumBitrate
    entry.supportedFormats = display.formats
    return entry
  }

  func choose(_ cause: VideoNegotiation.ChoiceCause) {
    guard let question = change({ $0.beginChoice(cause) }) else { return }
    answer(question)
  }

  /// Answers for ranges and caps of upstream.
  func answer(_ question: VideoNegotiation.RangesQuestion) {
    let reasons = question.displays.enumerated().compactMap { index, display in rejection(display).map { (index, $0) } }
    let choice = VideoChoice(question.displays, reasons: Dictionary(uniqueKeysWithValues: reasons))
    let supported = choice.acceptedDisplays.filter { $0.streamSize.map(canSend) ?? false }
    do throws(VideoProblem) {
      let mustAsk = try change { negotiation throws(VideoProblem) in
        try negotiation.choose(choice, supported: supported, question, now: now)
      }
      if mustAsk { askUpstream() }
    } catch { fail(error) }
  }

  private func canSend(_ size: VideoSize) -> Bool { upstreamSizes?.contains(size) ?? true }

  /// Caps come from upstream.
  func input(_ size: VideoSize?, isRaw: Bool = true) {
    choose(.caps)
    change { $0.inputChanged(size, isRaw: isRaw, now: now) }
  }

  @discardableResult
  func askUpstream(_ question: VideoNegotiation.UpstreamQuestion? = nil) -> VideoNegotiation.UpstreamAnswer {
    let displays = (negotiation.acceptedDisplays ?? []) + negotiation.rejectedDisplays
    let present = negotiation.isInputRefused ? [negotiation.inputSize].compactMap(\.self) : []
    let sizes = (displays.compactMap(\.streamSize) + present).filter(canSend)
    let answer = change { $0.upstreamAnswered(question ?? $0.upstreamQuestion, sizes) }
    if answer == .changes {
      log.append("reconfigure")
      mustRenegotiate = true
    }
    return answer
  }

  /// Session and upstream follow a resize, after the settling time.
  func follow() {
    runSession()
    renegotiate()
    wait(VideoNegotiation.settlingTime)
    runSession()
  }

  /// Upstream negotiates anew, if it was asked to, and brings the first size that both sides have.
  func renegotiate() {
    guard mustRenegotiate else { return }
    mustRenegotiate = false
    let isRaw = negotiation.isInputRaw
    let sizes = (negotiation.acceptedDisplays ?? []).compactMap(\.streamSize).filter(canSend)
    if let size = sizes.first ?? negotiation.inputSize { input(size, isRaw: isRaw) }
  }
}

extension NegotiationDriver {
  /// What becomes of a frame: "sent", "dropped REASON", "waits", "interrupted" or "error".
  func frame(_ timing: BufferTiming = .live) -> String {
    for _ in 0..<10 {
      let decision = negotiation.decide(timing, now: now)
      apply()
      switch decision {
      case .send(let permission):
        if queuedEpoch != permission.grant.epoch {
          queuedEpoch = permission.grant.epoch
          _ = change { $0.firstFrameQueued(of: permission.grant, now: now) }
        }
        return "sent"
      case .drop(let reason): return drop(reason)
      case .askUpstream(let question, let dropsFrame):
        if askUpstream(question) != .stays, dropsFrame { return drop(.wrongSize) }
      case .wait: return "waits"
      case .interrupted: return "interrupted"
      case .fail(let problem):
        fail(problem)
        return "error"
      }
    }
    return "undecided"
  }

  private func drop(_ reason: FrameDropReason) -> String {
    negotiation.lostFrames += 1
    return "dropped \(reason)"
  }

  /// What becomes of so many frames.
  func frames(_ count: Int, _ timing: BufferTiming = .live) -> [String] { (0..<count).map { _ in frame(timing) } }
}
