import Testing

@testable import SDLApp

/// Which of the head unit's displays is streamed.
@Suite struct VideoNegotiationChoiceTests {
  private static let wide = VideoSize(800, 380)
  private static let small = VideoSize(480, 320)
  private static let tiny = VideoSize(320, 200)

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var sizes: [VideoSize]
    /// Widths that the ranges reject.
    var rejected: Set<Int> = []
    /// Nil for any.
    var upstream: [VideoSize]?
    /// What upstream sends first, and what in the end.
    var input: VideoSize
    var final: VideoSize
    var request: String?
    var warnings = 0
  }

  static let rows = [
    Row(testDescription: "the first", sizes: [wide, small], input: wide, final: wide, request: "RAW 800×380"),
    Row(
      testDescription: "the first, although another is sent", sizes: [wide, small], input: small, final: wide,
      request: "RAW 800×380"),
    Row(
      testDescription: "what upstream has", sizes: [wide, small], upstream: [small], input: small, final: small,
      request: "RAW 480×320"),
    Row(
      testDescription: "the first that the ranges accept", sizes: [wide, small, tiny], rejected: [800], input: wide,
      final: small, request: "RAW 480×320"),
    Row(
      testDescription: "the first that both accept", sizes: [wide, small, tiny], rejected: [800],
      upstream: [tiny, wide], input: wide, final: tiny, request: "RAW 320×200"),
    Row(
      testDescription: "none", sizes: [wide, small], rejected: [800, 480], input: wide, final: wide, request: nil,
      warnings: 1),
    Row(testDescription: "any size", sizes: [], input: tiny, final: tiny, request: "RAW 320×200"),
  ]

  @Test(arguments: rows, [true, false]) func choice(_ row: Row, capsComeFirst: Bool) {
    let driver = NegotiationDriver()
    driver.rejection = { row.rejected.contains($0.size.width) ? "too wide" : nil }
    driver.upstreamSizes = row.upstream
    driver.change { $0.played() }
    driver.show()
    if capsComeFirst { driver.input(row.input) }
    driver.announce(row.sizes)
    if !capsComeFirst { driver.input(row.input) }
    // What has been chosen is asked for before its first frame comes, or when the first frame does.
    _ = driver.frame()
    driver.renegotiate()
    #expect(driver.negotiation.inputSize == row.final)
    #expect(driver.request.map(NegotiationDriver.text) == row.request)
    driver.runSession()
    #expect(driver.frame() == (row.request == nil ? "dropped wrongSize" : "sent"))
    #expect(driver.starts == [row.request].compactMap(\.self))
    let log = driver.take()
    #expect(log.count { $0 == "warning" } == row.warnings)
    #expect(log.count { $0.hasPrefix("started") } == (row.request == nil ? 0 : 1))
    let accepted = row.sizes.filter { !row.rejected.contains($0.width) }
    #expect(
      driver.supported.last?.compactMap(\.streamSize) == accepted.filter { row.upstream?.contains($0) ?? true })
  }

  /// Nothing is requested before pipeline, upstream and head unit have all spoken, in whatever order.
  @Test func everyOrderOfTheBeginning() {
    let steps: [(NegotiationDriver) -> Void] = [
      { $0.announce([Self.wide]) }, { $0.input(Self.wide) }, { driver in driver.change { $0.played() } },
    ]
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let driver = NegotiationDriver()
      for step in order {
        #expect(driver.request == nil, "\(order)")
        steps[step](driver)
      }
      #expect(driver.take() == ["request RAW 800×380"], "\(order)")
    }
  }

  @Test func noneIsSaidOnceAndAgainWhenItIsNew() {
    let driver = NegotiationDriver.playing([Self.wide])
    driver.rejection = { "width \($0.size.width) is too large" }
    driver.choose(.ranges)
    driver.choose(.ranges)
    #expect(driver.take().count { $0 == "warning" } == 1)
    #expect(driver.negotiation.supportsNone && driver.request == nil)
    driver.announce([Self.small])
    #expect(driver.take() == ["warning"])
    driver.rejection = { _ in nil }
    driver.choose(.ranges)
    driver.renegotiate()
    driver.wait(.seconds(1))
    #expect(driver.take() == ["reconfigure", "request RAW 480×320"])
    driver.rejection = { "width \($0.size.width) is too large" }
    driver.choose(.ranges)
    #expect(driver.take() == ["request nothing", "warning"])
  }

  /// Its display holds until the head unit announces other sizes.
  @Test func overriddenByTheAcknowledgement() {
    let driver = NegotiationDriver.playing([Self.wide, Self.small])
    driver.overridingSize = Self.tiny
    driver.runSession()
    // The service stays until upstream has been asked, and beyond, because upstream follows.
    #expect(driver.take() == ["request RAW 800×380", "started 320×200 first-start"])
    #expect(driver.negotiation.acceptedDisplays?.map(\.streamSize) == [Self.tiny])
    #expect(driver.frame() == "dropped wrongSize")
    driver.renegotiate()
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 800×380"])
    #expect(driver.take() == ["request RAW 320×200", "reconfigure"])
    driver.announce([Self.wide, Self.small])
    #expect(driver.negotiation.acceptedDisplays?.map(\.streamSize) == [Self.tiny])
    driver.overridingSize = nil
    driver.announce([Self.small])
    driver.renegotiate()
    driver.wait(.seconds(1))
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 800×380", "RAW 480×320"])
  }

  @Test func overriddenByASizeThatUpstreamLacks() {
    let driver = NegotiationDriver.playing([Self.wide])
    driver.upstreamSizes = [Self.wide]
    driver.overridingSize = Self.tiny
    driver.runSession()
    #expect(driver.frame() == "error")
    #expect(driver.error.map { "\($0)" }?.contains("320×200") == true)
    #expect(driver.request == nil)
  }

  @Test(
    arguments: [
      ([.raw], ["RTP"], true), ([.raw, .rtp], ["RTP"], false), (nil, ["RTP"], false), (nil, ["RTSP"], true),
    ] as [([VideoStreamingProtocol]?, [String], Bool)])
  func commonFormat(_ allowed: [VideoStreamingProtocol]?, offered: [String], fails: Bool) {
    let driver = NegotiationDriver { $0.streamingProtocols = allowed }
    driver.announce([], offered.map { VideoStreamingFormat(videoProtocol: $0, codec: "H264") })
    #expect((driver.error != nil) == fails)
    guard case .noCommonFormat? = driver.error else { return #expect(!fails) }
    #expect(driver.take() == ["error"])
  }

  @Test func protocolsInTheUsersOrder() {
    let driver = NegotiationDriver.playing([]) { $0.streamingProtocols = [.rtp, .raw] }
    driver.announce([Self.wide], over: [.raw, .rtp])
    driver.input(Self.wide)
    #expect(driver.request == VideoStartRequest(size: Self.wide, streamingProtocol: .rtp))
  }

  /// Rates are those of the display that is streamed.
  @Test func targetsOfTheStreamedDisplay() {
    let driver = NegotiationDriver.playing([])
    var first = VideoDisplay(size: Self.wide, frameRate: 15)
    first.maximumBitrate = 500
    var second = VideoDisplay(size: Self.small, frameRate: 60)
    second.maximumBitrate = 300
    driver.rejection = { $0.size == Self.wide ? "too wide" : nil }
    driver.announce([first, second])
    driver.input(Self.small)
    driver.runSession()
    let permission = driver.negotiation.permission
    #expect(permission?.targets.bitrate == 200 && permission?.frameRateLimit == Fraction(60, 1))
  }

  /// Two threads ask upstream at once: what was asked last counts, whoever is done first.
  @Test func laterQuestionsWin() throws {
    let driver = NegotiationDriver.playing([Self.wide])
    let former = try #require(driver.change { $0.beginChoice(.headUnit([VideoDisplay(size: Self.wide)])) })
    let later = try #require(driver.change { $0.beginChoice(.headUnit([VideoDisplay(size: Self.small)])) })
    driver.answer(later)
    driver.answer(former)
    #expect(driver.negotiation.acceptedDisplays?.map(\.streamSize) == [Self.small])
  }

  /// An answer about a head unit that is gone lets nothing begin on the next one.
  @Test func answerAfterTheLoss() throws {
    let driver = NegotiationDriver.playing([Self.wide])
    let question = try #require(driver.change { $0.beginChoice(.headUnit([VideoDisplay(size: Self.wide)])) })
    driver.loseConnection()
    driver.answer(question)
    #expect(driver.request == nil)
    driver.announce([Self.wide])
    #expect(driver.request == VideoStartRequest(size: Self.wide))
  }
}
