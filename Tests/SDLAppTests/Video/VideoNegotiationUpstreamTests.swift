import Testing

@testable import SDLApp

/// Upstream sends a size that the head unit does not take, or prefers another to.
@Suite struct VideoNegotiationUpstreamTests {
  private static let wide = VideoSize(800, 380)
  private static let small = VideoSize(480, 320)
  private static let tiny = VideoSize(320, 200)

  /// A stream in PLAYING whose input is not what the head unit takes.
  private func mismatched(isRaw: Bool, upstream: [VideoSize]?) -> NegotiationDriver {
    let driver = NegotiationDriver.playing([Self.wide], isRaw: isRaw)
    driver.upstreamSizes = upstream
    driver.input(Self.tiny, isRaw: isRaw)
    _ = driver.take()
    return driver
  }

  struct Overdue: Sendable {
    var isRaw: Bool
    var upstream: [VideoSize]?
    /// How long upstream may take to change; zero when it can't.
    var time: Duration
  }

  /// Raw video that is promised may wait in long queues; encoders and parsers can promise nothing.
  @Test(arguments: [
    Overdue(isRaw: true, upstream: nil, time: .seconds(10)),
    Overdue(isRaw: true, upstream: [tiny], time: .zero),
    Overdue(isRaw: false, upstream: nil, time: .seconds(2)),
    Overdue(isRaw: false, upstream: [tiny], time: .seconds(2)),
  ])
  func upstreamThatDoesNotChange(_ given: Overdue) {
    let driver = mismatched(isRaw: given.isRaw, upstream: given.upstream)
    guard given.time > .zero else {
      #expect(driver.frame() == "error" && driver.take() == ["error"])
      return
    }
    #expect(driver.frames(8) == Array(repeating: "dropped wrongSize", count: 8))
    // It is asked once.
    #expect(driver.take().filter { $0 == "reconfigure" } == ["reconfigure"])
    driver.wait(given.time - .milliseconds(1))
    #expect(driver.frame() == "dropped wrongSize" && driver.error == nil)
    driver.wait(.milliseconds(1))
    #expect(driver.frame() == "error")
    for part in ["320×200", "800×380", given.isRaw ? "put videoconvertscale before sdlvideosink" : "encode the stream"]
    {
      #expect(driver.error.map { "\($0)" }?.contains(part) == true)
    }
    #expect(driver.frame() == "error" && driver.take().filter { $0 == "error" } == ["error"])
  }

  /// So many frames come in any case before it is an error, however slow they are.
  @Test func slowFrames() {
    let driver = mismatched(isRaw: false, upstream: nil)
    for _ in 0..<4 {
      #expect(driver.frame() == "dropped wrongSize")
      driver.wait(.seconds(20))
    }
    #expect(driver.frame() == "error")
  }

  @Test func sizeThatTheRangesRejectIsNamedWithItsReason() {
    let driver = NegotiationDriver.playing([Self.wide, Self.tiny])
    driver.upstreamSizes = [Self.tiny]
    driver.rejection = { $0.size == Self.tiny ? "width 320 is below landscape::min-width 400" : nil }
    driver.choose(.ranges)
    driver.input(Self.tiny)
    #expect(driver.frame() == "error")
    #expect(driver.error.map { "\($0)" }?.contains("width 320 is below landscape::min-width 400") == true)
  }

  @Test(arguments: [true, false]) func changeInTimeIsNoError(isRaw: Bool) {
    let driver = mismatched(isRaw: isRaw, upstream: nil)
    #expect(driver.frames(4) == Array(repeating: "dropped wrongSize", count: 4))
    driver.wait(.seconds(60))
    driver.renegotiate()
    #expect(driver.negotiation.finalMismatch == nil)
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 800×380"] && driver.error == nil)
  }

  /// The end of the stream is an error if its last frames had a size that could not be sent.
  @Test func endAfterAMismatch() {
    let driver = mismatched(isRaw: true, upstream: nil)
    #expect(driver.negotiation.finalMismatch == nil)
    _ = driver.frame()
    #expect(driver.negotiation.finalMismatch != nil)
    driver.change { $0.flushed() }
    #expect(driver.negotiation.finalMismatch == nil)
  }

  /// Whatever else becomes of the frame: time and frames are counted anew.
  @Test func headUnitThatComesBackToTheSize() {
    let driver = mismatched(isRaw: false, upstream: nil)
    _ = driver.frames(10)
    driver.wait(.seconds(1))
    driver.announce([Self.tiny])
    #expect(driver.frame() == "dropped notStreaming")
    driver.announce([Self.wide])
    driver.wait(.milliseconds(1500))
    #expect(driver.frames(10).allSatisfy { $0 == "dropped wrongSize" })
  }

  /// Raw input in an accepted size that is not the first choice: it is asked once, and stays if it can't change.
  @Test func preferenceThatUpstreamLacks() {
    let driver = NegotiationDriver.playing([])
    driver.upstreamSizes = [Self.tiny]
    driver.announce([Self.small, Self.tiny])
    driver.input(Self.tiny)
    #expect(driver.frame() == "dropped notStreaming")
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 320×200"])
  }

  /// H.264 in an accepted size stays as it is, lest its first key frame be lost.
  @Test func encodedInputIsNotAskedForThePreferredSize() {
    let driver = NegotiationDriver.playing([Self.small, Self.tiny], isRaw: false)
    driver.input(Self.tiny, isRaw: false)
    driver.runSession()
    #expect(driver.frame() == "sent" && !driver.take().contains("reconfigure"))
    #expect(driver.starts == ["RAW 320×200"])
  }

  /// The service is requested in the size that is to come; frames that are under way are dropped.
  @Test func outdatedFrames() {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.wide, Self.tiny])
    driver.input(Self.tiny)
    #expect(driver.frame() == "dropped wrongSize")
    #expect(driver.request == VideoStartRequest(size: Self.wide))
    driver.runSession()
    #expect(driver.frames(2) == ["dropped notStreaming", "dropped notStreaming"])
    driver.renegotiate()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 800×380"])
  }

  /// Upstream promised and stayed: three frames on, its size is taken for the answer.
  @Test func outdatedFramesThatWereTheAnswer() {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.wide, Self.tiny])
    driver.input(Self.tiny)
    #expect(driver.frames(4) == ["dropped wrongSize"] + Array(repeating: "dropped notStreaming", count: 3))
    #expect(driver.request == VideoStartRequest(size: Self.tiny))
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 320×200"])
  }

  @Test func answerToAFormerQuestion() {
    let driver = NegotiationDriver.streaming([Self.tiny])
    let question = driver.negotiation.upstreamQuestion
    driver.announce([Self.wide])
    _ = driver.take()
    #expect(driver.askUpstream(question) == .outdated && driver.take() == [])
    #expect(driver.askUpstream() == .isChanging)
  }

  /// The thread of the connection asks after a resize, and that of a frame in the former size when it sees that; whoever
  /// is second tells upstream nothing.
  @Test(arguments: [true, false]) func changeThatTwoThreadsAskFor(isRaw: Bool) {
    let driver = NegotiationDriver.streaming([Self.wide], isRaw: isRaw)
    driver.announce([Self.tiny])
    #expect(driver.take().count { $0 == "reconfigure" } == 1)
    #expect(driver.frame() == "dropped wrongSize")
    #expect(driver.askUpstream() == .isChanging)
    #expect(driver.frame() == "dropped wrongSize" && !driver.take().contains("reconfigure"))
    // A pad that flushes takes no event.
    driver.change { $0.flushed() }
    #expect(driver.frame() == "dropped wrongSize" && driver.take().count { $0 == "reconfigure" } == 1)
    // A size that is not accepted either is another matter.
    driver.input(Self.small, isRaw: isRaw)
    #expect(driver.frame() == "dropped wrongSize" && driver.take().count { $0 == "reconfigure" } == 1)
    driver.input(Self.wide, isRaw: isRaw)
    #expect(driver.frame() == "dropped wrongSize" && driver.take().count { $0 == "reconfigure" } == 1)
  }

  @Test func inputOfUnknownSize() {
    let driver = NegotiationDriver.playing([Self.wide], isRaw: false)
    driver.input(nil, isRaw: false)
    #expect(driver.request == nil && driver.frame() == "dropped noPicture")
    driver.input(Self.wide, isRaw: false)
    #expect(driver.request == VideoStartRequest(size: Self.wide))
  }

  @Test func kindOfInputChangesWithinTheService() {
    let driver = NegotiationDriver.streaming([Self.wide])
    for isRaw in [false, true, false] {
      driver.input(Self.wide, isRaw: isRaw)
      driver.runSession()
      #expect(driver.frame() == "sent")
    }
    #expect(driver.take() == [] && driver.starts.count == 1)
  }
}
