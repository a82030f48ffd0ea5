import SDLApp
import Testing

/// HMI level × app state: the sixteen rows of the table in SDL-0033.
@Suite struct AppStateTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var number: Int
    var level: HMILevel
    var appState: AppState
    var opens: Bool
    /// The state of a service that exists already; nil: it is ended.
    var keeps: StreamState? = nil

    var testDescription: String { "row \(number): \(level.rawValue), \(appState)" }
  }

  private static let rows: [Row] = [
    Row(number: 1, level: .none, appState: .background, opens: false),
    Row(number: 2, level: .none, appState: .regaining, opens: false),
    Row(number: 3, level: .none, appState: .foreground, opens: false),
    Row(number: 4, level: .none, appState: .resigning, opens: false),
    Row(number: 5, level: .background, appState: .background, opens: false),
    Row(number: 6, level: .background, appState: .regaining, opens: false),
    Row(number: 7, level: .background, appState: .foreground, opens: false),
    Row(number: 8, level: .background, appState: .resigning, opens: false),
    Row(number: 9, level: .limited, appState: .background, opens: false, keeps: .suspended),
    Row(number: 10, level: .limited, appState: .regaining, opens: true, keeps: .streaming),
    Row(number: 11, level: .limited, appState: .foreground, opens: true, keeps: .streaming),
    Row(number: 12, level: .limited, appState: .resigning, opens: false, keeps: .suspended),
    Row(number: 13, level: .full, appState: .background, opens: false, keeps: .suspended),
    Row(number: 14, level: .full, appState: .regaining, opens: true, keeps: .streaming),
    Row(number: 15, level: .full, appState: .foreground, opens: true, keeps: .streaming),
    Row(number: 16, level: .full, appState: .resigning, opens: false, keeps: .suspended),
  ]

  @Test(arguments: rows) func opens(row: Row) {
    let driver = AppDriver.ready()
    driver.setAppState(row.appState)
    driver.status(row.level, .streamable)
    #expect(driver.take().contains("→ StartService video 800×480 RAW H264") == row.opens)
    #expect(driver.session.status.video.state == (row.opens ? .starting : .stopped))
  }

  /// With NOT_STREAMABLE every row is a BACKGROUND row.
  @Test(arguments: rows) func notStreamable(row: Row) {
    let driver = AppDriver.streaming()
    driver.setAppState(row.appState)
    driver.status(row.level, .notStreamable)
    #expect(driver.session.status.video.state == .stopping)
    driver.control(.endServiceACK, .video)
    driver.wait(.seconds(60))
    #expect(driver.session.status.video.state == .stopped)
  }

  /// From a stream, and from a suspended one; in either order of the two changes.
  @Test(arguments: rows, [AppState.foreground, .background]) func keeps(row: Row, before: AppState) {
    for appStateComesFirst in [true, false] {
      let driver = AppDriver.streaming()
      driver.setAppState(before)
      _ = driver.take()
      if appStateComesFirst { driver.setAppState(row.appState) }
      driver.status(row.level, .streamable)
      if !appStateComesFirst { driver.setAppState(row.appState) }
      #expect(driver.session.status.video.state == row.keeps ?? .stopping)
      #expect(driver.isStreaming == (row.keeps != nil))
      #expect(driver.take().contains("→ EndService video") == (row.keeps == nil))
      driver.wait(.seconds(60))
      #expect(!driver.take().contains { $0.hasPrefix("→") })
    }
  }

  /// Suspended and resumed on the same service.
  @Test func leavesAndReturns() {
    let driver = AppDriver.streaming()
    let grant = driver.session.status.video.grant
    driver.setAppState(.resigning)
    #expect(driver.take() == ["• suspended"])
    driver.setAppState(.background)
    driver.setAppState(.background)
    #expect(driver.take().isEmpty)
    #expect(driver.session.status.video.grant == grant)
    driver.setAppState(.regaining)
    #expect(driver.take() == ["• resumed"])
    driver.setAppState(.foreground)
    #expect(driver.take().isEmpty)
    #expect(driver.session.status.video.grant == grant)
  }

  /// The guide's "Yes/Yes": the service begins anew.
  @Test func restartsOnForeground() {
    var configuration = AppDriver.configuration
    configuration.restartsOnForeground = true
    let driver = AppDriver.streaming(configuration)
    driver.setAppState(.resigning)
    driver.setAppState(.background)
    _ = driver.take()
    driver.setAppState(.regaining)
    #expect(driver.take() == ["• stopped restarted", "→ EndService video"])
    driver.setAppState(.foreground)
    driver.control(.endServiceACK, .video)
    driver.acknowledgeVideo()
    #expect(driver.take() == ["→ StartService video 800×480 RAW H264", "• started 800×480 epoch 2"])
    driver.setAppState(.foreground)
    #expect(driver.take().isEmpty)
  }

  /// The driver's leaving ends a service that the app has suspended.
  @Test func headUnitLeavesWhileSuspended() {
    let driver = AppDriver.streaming()
    driver.setAppState(.background)
    driver.status(.none, .notStreamable)
    #expect(
      driver.take() == [
        "• suspended", "• status NONE NOT_STREAMABLE", "• stopped hmi-status", "→ EndService video",
      ])
    driver.control(.endServiceACK, .video)
    driver.status(.full, .streamable)
    // Nothing is opened before the app is back.
    #expect(driver.take() == ["• status FULL STREAMABLE"])
    driver.setAppState(.regaining)
    #expect(driver.take() == ["→ StartService video 800×480 RAW H264"])
  }

  @Test func leavesWhileStarting() {
    let driver = AppDriver.starting()
    driver.setAppState(.resigning)
    driver.acknowledgeVideo()
    #expect(driver.take() == ["• started 800×480 epoch 1", "• suspended"])
    #expect(driver.session.status.video.state == .suspended)
    driver.setAppState(.foreground)
    #expect(driver.take() == ["• resumed"])
  }

  @Test func nothingIsTriedInTheBackground() {
    let driver = AppDriver.starting()
    driver.refuseVideo()
    driver.setAppState(.background)
    _ = driver.take()
    driver.wait(.seconds(60))
    #expect(driver.take().isEmpty)
    driver.setAppState(.foreground)
    #expect(driver.take() == ["→ StartService video 800×480 RAW H264"])
  }

  @Test func appEndsWhileSuspended() {
    let driver = AppDriver.streaming()
    driver.setAppState(.background)
    driver.setVideoRequest(nil)
    #expect(driver.take() == ["• suspended", "• stopped app", "→ EndService video"])
  }
}
