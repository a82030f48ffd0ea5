import Testing

@testable import SDLApp

/// What becomes of frames: policies × live sources and files × what driver, app and head unit do.
@Suite struct VideoNegotiationFramesTests {
  private static let size = VideoSize(320, 240)

  enum Situation: CaseIterable {
    /// The driver has never opened the app.
    case neverShown
    case neverInForeground
    case leftByDriver
    case leftByApp
    /// The app has left, and the session does not know yet.
    case leavingApp
    /// The driver shows the app, and the service has not begun.
    case starting
    case restarting
    case connectionLost
    case unsupported

    func reach(_ driver: NegotiationDriver) {
      switch self {
      case .neverShown: driver.show(.none)
      case .neverInForeground: driver.setAppState(.background)
      case .starting: break
      case .leftByDriver, .leftByApp, .leavingApp, .restarting, .connectionLost, .unsupported:
        driver.runSession()
        #expect(driver.frame() == "sent")
        reachFromStreaming(driver)
      }
      _ = driver.take()
    }

    private func reachFromStreaming(_ driver: NegotiationDriver) {
      switch self {
      case .leftByDriver: driver.show(.background)
      case .leftByApp, .leavingApp: driver.setAppState(.background)
      case .restarting: driver.stop(.headUnit)
      case .connectionLost: driver.loseConnection()
      default:
        driver.rejection = { _ in "no" }
        driver.choose(.ranges)
      }
      if self == .leftByDriver || self == .leftByApp || self == .unsupported { driver.runSession() }
    }
  }

  private static let drop = "dropped suspended"
  private static let early = "dropped notStreaming"

  /// What becomes of a frame, and whether the application of a file is asked for a pause.
  static let outcomes: [(Situation, frame: String, pauses: Bool)] = [
    (.neverShown, early, true), (.neverInForeground, drop, true), (.leftByDriver, drop, true),
    (.leftByApp, drop, true),
    // It may be back before the session knows.
    (.leavingApp, drop, false),
    (.starting, early, true), (.restarting, early, true), (.connectionLost, early, true),
    (.unsupported, "dropped wrongSize", false),
  ]

  @Test(arguments: Situation.allCases, SuspendPolicy.allCases) func policies(
    _ situation: Situation, policy: SuspendPolicy
  ) throws {
    let row = try #require(Self.outcomes.first { $0.0 == situation })
    for timing in [BufferTiming.live, .synchronized, .unsynchronized] {
      let driver = NegotiationDriver.playing([Self.size]) { $0.suspendPolicy = policy }
      situation.reach(driver)
      let pauses = row.pauses && policy == .auto && timing != .live
      let waits = timing == .unsynchronized && situation != .unsupported
      // The frame that asks waits for the pause.
      #expect(driver.frame(timing) == (waits || pauses ? "waits" : row.frame), "\(timing)")
      // It is asked once.
      #expect(driver.frame(timing) == (waits ? "waits" : row.frame), "\(timing)")
      #expect(driver.take() == (pauses ? ["pause"] : []), "\(timing)")
    }
  }

  @Test func nobodyIsAskedForAPauseInPaused() {
    let driver = NegotiationDriver.playing([Self.size])
    driver.change { $0.paused() }
    _ = driver.take()
    #expect(driver.frame(.synchronized) == Self.early && driver.take() == [])
    driver.change { $0.played() }
    #expect(driver.frame(.synchronized) == "waits" && driver.take() == ["pause"])
  }

  /// Nothing would end the pause.
  @Test func pauseEndsWhenTheAppSupportsNoDisplay() {
    let driver = NegotiationDriver.playing([Self.size])
    #expect(driver.frame(.synchronized) == "waits")
    _ = driver.take()
    driver.rejection = { _ in "no" }
    driver.choose(.ranges)
    #expect(driver.take().contains("play"))
  }

  /// The service is requested before PLAYING, so that a picture in PAUSED is shown.
  @Test func prerollRequestsTheService() {
    let driver = NegotiationDriver()
    driver.announce([Self.size])
    driver.input(Self.size, isRaw: true)
    driver.show()
    driver.runSession()
    #expect(driver.starts == [])
    driver.change { $0.prerolled() }
    driver.runSession()
    #expect(driver.starts == ["RAW 320×240"] && driver.negotiation.permission != nil)
  }

  struct Status: Sendable, CustomTestStringConvertible {
    var level: HMILevel
    var isStreamable: Bool
    var appState: AppState

    /// What `stream-state` becomes when there was no service, and when frames were being sent.
    var fromClosed: StreamState { fromOpen == .suspended ? .stopped : fromOpen }
    var fromOpen: StreamState {
      guard isStreamable, level == .full || level == .limited else { return .stopped }
      return appState.isInForeground ? .streaming : .suspended
    }
    var testDescription: String { "\(level) \(isStreamable ? "" : "not streamable ")\(appState)" }
  }

  static let statuses = HMILevel.allCases.flatMap { level in
    AppState.allCases.flatMap { appState in
      [true, false].map { Status(level: level, isStreamable: $0, appState: appState) }
    }
  }

  /// HMI status × app state, the table that SDL-0033 began; from nothing.
  @Test(arguments: statuses) func opens(_ given: Status) {
    let driver = NegotiationDriver()
    driver.announce([Self.size])
    driver.input(Self.size)
    driver.change { $0.played() }
    driver.setAppState(given.appState)
    driver.show(given.level, isStreamable: given.isStreamable)
    driver.runSession()
    #expect(driver.negotiation.streamState == given.fromClosed)
    #expect(driver.starts.count == (given.fromClosed == .streaming ? 1 : 0))
    driver.show(.full)
    driver.setAppState(.foreground)
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts.count == 1)
    #expect(driver.take().filter { $0.contains("320×240 ") } == ["started 320×240 first-start"])
  }

  /// The same from a stream that runs, and the way back.
  @Test(arguments: statuses, [true, false]) func keepsOrCloses(_ given: Status, appComesFirst: Bool) {
    let driver = NegotiationDriver.streaming([Self.size])
    if appComesFirst {
      driver.setAppState(given.appState)
      driver.runSession()
    }
    driver.show(given.level, isStreamable: given.isStreamable)
    driver.runSession()
    driver.setAppState(given.appState)
    driver.runSession()
    #expect(driver.negotiation.streamState == given.fromOpen)
    var messages: [String] = []
    let isClosed = given.fromOpen == .stopped
    if !given.appState.isInForeground, appComesFirst || !isClosed { messages.append("suspended app-state") }
    if isClosed { messages += ["stopped hmi-status", "suspension"] }
    #expect(driver.take() == messages)
    #expect(driver.frame() == (given.fromOpen == .streaming ? "sent" : Self.drop))
    driver.show(.full)
    driver.setAppState(.foreground)
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts.count == (isClosed ? 2 : 1))
    let reason = isClosed ? "restarted" : "resumed"
    #expect(driver.take() == (given.fromOpen == .streaming ? [] : ["started 320×240 \(reason)"]))
  }

  @Test func flush() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.change { $0.setFlushing(true) }
    #expect(driver.negotiation.isInterrupted && driver.frame() == "interrupted")
    driver.change { $0.setFlushing(false) }
    #expect(driver.frame() == "sent" && driver.take() == [])
  }

  /// A frame that waits gives way as well.
  @Test func flushOfAFrameThatWaits() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.show(.background)
    driver.runSession()
    #expect(driver.frame(.unsynchronized) == "waits")
    driver.change { $0.setFlushing(true) }
    #expect(driver.frame(.unsynchronized) == "interrupted")
  }

  @Test func framesFailOnceTheErrorIsPosted() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.change { $0.beginFailing() }
    #expect(!driver.negotiation.isUsable)
    #expect(driver.frame() == "sent")
    driver.change { $0.failed() }
    #expect(driver.frame() == "error" && driver.error == nil)
    driver.change { $0.beginFailing() }
    #expect(driver.frame() == "error")
    #expect(driver.negotiation.hasServiceEnded)
  }

  @Test func nothingIsSentOrRequestedAfterStop() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.change { $0.stop() }
    #expect(driver.frame() == "error" && driver.take() == ["request nothing"] && !driver.negotiation.isUsable)
    driver.announce([Self.size])
    driver.stop(.app)
    #expect(driver.request == nil && driver.take() == ["stopped app"])
  }

  /// The grant of a connection that is gone is never used, nor one for another size.
  @Test func grantsThatAreNotUsed() {
    let driver = NegotiationDriver.streaming([Self.size])
    #expect(!driver.negotiation.hasUnusedGrant)
    driver.input(VideoSize(160, 120))
    #expect(driver.frame() == "dropped wrongSize" && driver.negotiation.hasUnusedGrant)
    driver.input(Self.size)
    driver.runSession()
    #expect(driver.frame() == "sent")
    driver.loseConnection()
    #expect(driver.frame() == Self.early && driver.negotiation.grantWithTime == nil)
    driver.announce([Self.size])
    driver.show()
    #expect(driver.frame() == Self.early)
    driver.runSession()
    #expect(driver.frame() == "sent")
  }
}
