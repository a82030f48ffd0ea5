import SDLMessages
import Testing

@testable import SDLApp

/// The head unit refuses starts: what is requested next, and when what was refused is forgotten.
@Suite struct VideoNegotiationRefusalTests {
  private static let wide = VideoSize(800, 380)
  private static let small = VideoSize(480, 320)
  private static let tiny = VideoSize(320, 200)
  private static let height = ["height"]
  private static let width = ["width"]
  private static let videoProtocol = ["videoProtocol"]

  /// Sends frames and lets upstream change, until the stream stands or has failed.
  private func settle(_ driver: NegotiationDriver) {
    for _ in 0..<20 {
      driver.runSession()
      let outcome = driver.frame()
      if outcome == "sent" || outcome == "error" || driver.error != nil { break }
      driver.renegotiate()
      driver.wait(.milliseconds(200))
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var sizes = [wide, small]
    var fallbacks: [VideoSize] = []
    var formats: [VideoStreamingProtocol] = [.rtp, .raw]
    var upstream: [VideoSize]?
    var isRaw = true
    /// Of the starts in order; the one after the last is accepted.
    var refusals: [[String]?]
    /// Starts that the head unit was asked for; with "error" when nothing is left.
    var starts: [String]
  }

  /// ``VideoStartLadderTests`` has the orders of refusals.
  static let rows = [
    Row(
      testDescription: "everything refused", refusals: [videoProtocol, height, height, []],
      starts: ["RTP 800×380", "RAW 800×380", "RAW 480×320", "bare 480×320", "error"]),
    Row(
      testDescription: "upstream has one size", upstream: [wide], refusals: [height],
      starts: ["RTP 800×380", "bare 800×380"]),
    Row(
      testDescription: "upstream has one size, all refused", upstream: [wide], refusals: [height, []],
      starts: ["RTP 800×380", "bare 800×380", "error"]),
    Row(
      testDescription: "upstream lacks the second", sizes: [wide, small, tiny], upstream: [wide, tiny],
      refusals: [height], starts: ["RTP 800×380", "RTP 320×200"]),
    Row(
      testDescription: "encoded input can't change", isRaw: false, refusals: [width],
      starts: ["RTP 800×380", "bare 800×380"]),
    Row(
      testDescription: "encoded input, another protocol", isRaw: false, refusals: [videoProtocol],
      starts: ["RTP 800×380", "RAW 800×380"]),
    Row(
      testDescription: "fallbacks come last", sizes: [small], fallbacks: [wide, tiny], formats: [.raw],
      refusals: [height, width], starts: ["RAW 480×320", "RAW 800×380", "RAW 320×200"]),
    Row(
      testDescription: "fallbacks in both formats", sizes: [small], fallbacks: [tiny],
      refusals: [videoProtocol, height], starts: ["RTP 480×320", "RAW 480×320", "RAW 320×200"]),
    Row(
      testDescription: "fallbacks, all refused", sizes: [small], fallbacks: [tiny], formats: [.raw],
      refusals: [height, height, []], starts: ["RAW 480×320", "RAW 320×200", "bare 320×200", "error"]),
    Row(
      testDescription: "fallbacks that upstream lacks", sizes: [small], fallbacks: [wide, tiny], formats: [.raw],
      upstream: [small, tiny], refusals: [height], starts: ["RAW 480×320", "RAW 320×200"]),
    Row(
      testDescription: "any size", sizes: [], refusals: [videoProtocol, videoProtocol],
      starts: ["RTP 800×380", "RAW 800×380", "bare 800×380"]),
  ]

  @Test(arguments: rows) func requests(_ row: Row) {
    let driver = NegotiationDriver.playing([])
    driver.announce(row.sizes, fallbacks: row.fallbacks, over: row.formats)
    driver.upstreamSizes = row.upstream
    driver.refusals = row.refusals
    driver.input(row.sizes.first ?? Self.wide, isRaw: row.isRaw)
    settle(driver)
    let hasFailed = row.starts.last == "error"
    #expect(driver.starts + (hasFailed ? ["error"] : []) == row.starts)
    #expect((driver.error != nil) == hasFailed && hasFailed == (driver.running == nil))
    let warnings = driver.take().count { $0 == "warning" }
    #expect(warnings == row.refusals.count - (hasFailed ? 1 : 0))
  }

  /// The old list's sizes must pass the ranges as well.
  @Test func fallbacksThatTheRangesReject() {
    let driver = NegotiationDriver.streaming([Self.wide, Self.tiny])
    driver.rejection = { $0.size == Self.tiny ? "too small" : nil }
    driver.announce([Self.small], fallbacks: [Self.tiny, Self.wide])
    driver.renegotiate()
    driver.wait(.seconds(1))
    driver.refusals = [Self.height]
    settle(driver)
    #expect(driver.starts == ["RAW 800×380", "RAW 480×320", "RAW 800×380"])
  }

  /// They are no choice of their own: what the head unit announces now must be accepted in the first place.
  @Test func fallbacksDoNotReplaceWhatTheRangesReject() {
    let driver = NegotiationDriver.streaming([Self.wide])
    driver.rejection = { $0.size == Self.small ? "too small" : nil }
    driver.announce([Self.small], fallbacks: [Self.wide])
    driver.runSession()
    #expect(driver.take() == ["request nothing", "warning", "stopped out-of-range"])
    #expect(driver.frame() == "dropped wrongSize" && driver.error == nil)
  }

  @Test func fallbacksAreNotOfferedBeforeARefusal() {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.small], fallbacks: [Self.wide])
    driver.input(Self.wide)
    #expect(driver.request == nil && driver.negotiation.acceptedDisplays?.map(\.streamSize) == [Self.small])
    #expect(driver.frame() == "dropped wrongSize")
    driver.renegotiate()
    #expect(driver.request == VideoStartRequest(size: Self.small, streamingProtocol: .raw))
  }

  /// After a success in RAW 480×320 the next start begins again with the first choice.
  @Test(arguments: [StreamStopReason.hmiStatus, .headUnit, .connectionLost, .restarted])
  func whatWasRefusedIsForgottenAfterASuccess(reason: StreamStopReason) {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.wide, Self.small], over: [.rtp, .raw])
    driver.refusals = [Self.videoProtocol, Self.width]
    driver.input(Self.wide)
    settle(driver)
    let first = ["RTP 800×380", "RAW 800×380", "RAW 480×320"]
    #expect(driver.starts == first)
    switch reason {
    case .hmiStatus: driver.show(.background)
    case .connectionLost: driver.loseConnection()
    default: driver.stop(reason)
    }
    if reason != .connectionLost { driver.runSession() }
    driver.renegotiate()
    if reason == .connectionLost { driver.announce([Self.wide, Self.small], over: [.rtp, .raw]) }
    driver.show(.full)
    settle(driver)
    #expect(driver.starts == first + ["RTP 800×380"])
  }

  /// On another transport the stream goes on as it was.
  @Test(arguments: [StreamStopReason.moved, .transportLost])
  func whatWasRefusedCountsAfterAMove(reason: StreamStopReason) {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.wide, Self.small], over: [.rtp, .raw])
    driver.refusals = [Self.videoProtocol, Self.width]
    driver.input(Self.wide)
    settle(driver)
    let first = ["RTP 800×380", "RAW 800×380", "RAW 480×320"]
    _ = driver.take()
    driver.stop(reason)
    settle(driver)
    #expect(driver.starts == first + ["RAW 480×320"])
    #expect(driver.take() == ["stopped \(reason.rawValue)", "started 480×320 moved"])
  }

  /// Refusals in a row are remembered, whoever leaves meanwhile.
  @Test func refusalsInARowAreRemembered() {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.wide], over: [.rtp, .raw])
    driver.input(Self.wide)
    driver.refuse(
      VideoStartRequest(size: Self.wide, streamingProtocol: .rtp),
      .refused(rejectedParameters: Self.videoProtocol, reason: nil))
    driver.show(.background)
    driver.runSession()
    driver.setAppState(.background)
    driver.setAppState(.foreground)
    driver.show(.full)
    #expect(driver.request == VideoStartRequest(size: Self.wide, streamingProtocol: .raw))
  }

  /// What the head unit prefers may change while a stream runs, which goes on. The next one is what it prefers then.
  @Test func anotherOrderOfFormatsCountsForTheNextStream() {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.wide], over: [.raw, .rtp])
    driver.input(Self.wide)
    settle(driver)
    driver.announce([Self.wide], over: [.rtp, .raw])
    settle(driver)
    #expect(driver.starts == ["RAW 800×380"])
    driver.show(.background)
    driver.runSession()
    driver.show(.full)
    settle(driver)
    #expect(driver.starts == ["RAW 800×380", "RTP 800×380"])
  }

  /// A service that ends before its first frame is no success.
  @Test func serviceWithoutAFrameIsNoSuccess() {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.wide], over: [.rtp, .raw])
    driver.refusals = [Self.videoProtocol]
    driver.input(Self.wide)
    driver.runSession()
    #expect(driver.starts == ["RTP 800×380", "RAW 800×380"])
    driver.stop(.headUnit)
    #expect(driver.request == VideoStartRequest(size: Self.wide, streamingProtocol: .raw))
    driver.runSession()
    #expect(driver.frame() == "sent")
    driver.stop(.headUnit)
    #expect(driver.request == VideoStartRequest(size: Self.wide, streamingProtocol: .rtp))
  }

  @Test func aNewListOfSizesForgetsRefusals() {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.wide, Self.small], over: [.rtp, .raw])
    driver.refusals = [Self.videoProtocol, Self.width]
    driver.input(Self.wide)
    driver.runSession()
    #expect(driver.request == nil)
    driver.announce([Self.wide, Self.tiny], over: [.rtp, .raw])
    #expect(driver.request == VideoStartRequest(size: Self.wide, streamingProtocol: .rtp))
  }

  /// The running size's scale changes: what was refused stays refused, and is not requested again although the stream
  /// restarts, until the next stream.
  @Test(arguments: [[VideoStreamingProtocol.raw], [.rtp, .raw]])
  func anotherScaleForgetsNoRefusals(_ protocols: [VideoStreamingProtocol]) {
    let formats = protocols.map { VideoStreamingFormat(videoProtocol: $0.rawValue, codec: "H264") }
    let driver = NegotiationDriver.playing([])
    func announce(scale: Double) {
      let displays = [
        VideoDisplay(size: Self.wide), VideoDisplay(size: Self.tiny, scale: scale), VideoDisplay(size: Self.small),
      ]
      driver.announce(displays, formats)
    }
    announce(scale: 1)
    driver.refusals = protocols.count > 1 ? [Self.videoProtocol, Self.width] : [Self.width]
    driver.input(Self.wide)
    settle(driver)
    #expect(driver.starts.last == "RAW 320×200")
    driver.starts = []
    announce(scale: 2)
    driver.wait(.seconds(1))
    settle(driver)
    #expect(driver.starts == ["RAW 160×100"])
    driver.show(.background)
    driver.runSession()
    driver.renegotiate()
    driver.show(.full)
    settle(driver)
    #expect(driver.starts == ["RAW 160×100", "\(protocols[0].rawValue) 800×380"])
  }

  /// A refusal that names nothing may be the moment: the same is requested later.
  @Test func refusalWithoutParameters() {
    let driver = NegotiationDriver.playing([Self.wide])
    let request = VideoStartRequest(size: Self.wide)
    _ = driver.take()
    driver.refuse(request, .refused(rejectedParameters: [], reason: nil), retryAfter: .seconds(2))
    #expect(driver.take() == ["warning"] && driver.request == request)
    driver.refuse(request, .keptRefusing(count: 8, reason: nil))
    #expect(driver.take() == ["request bare 800×380", "warning"])
  }

  /// The override is taken back with the refusal of its size.
  @Test func overriddenSizeThatIsRefused() {
    let driver = NegotiationDriver.playing([Self.wide, Self.small])
    driver.overridingSize = Self.tiny
    driver.runSession()
    _ = driver.frame()
    driver.renegotiate()
    driver.overridingSize = nil
    driver.show(.background)
    driver.runSession()
    driver.show(.full)
    driver.refusals = [Self.width]
    settle(driver)
    #expect(driver.starts == ["RAW 800×380", "RAW 320×200", "RAW 800×380"])
  }

  /// Once everything is refused, the error names what was tried.
  @Test func exhaustion() {
    let driver = NegotiationDriver.playing([Self.wide, Self.small])
    driver.upstreamSizes = [Self.wide]
    driver.refusals = [Self.width, []]
    settle(driver)
    for part in ["RAW, 800×380 (rejected: width)", "480×320", "can't change"] {
      #expect(driver.error.map { "\($0)" }?.contains(part) == true, "\(part)")
    }
  }
}
