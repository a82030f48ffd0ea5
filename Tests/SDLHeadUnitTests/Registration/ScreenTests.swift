import SDLHeadUnit
import SDLMessages
import Testing

/// Several apps at one head unit.
@Suite struct ScreenTests {
  private func app(
    _ id: UInt8, _ level: HMILevel, role: AppSummary.Role = .navigation, isStreaming: Bool = false
  ) -> AppSummary {
    AppSummary(id: id, role: role, level: level, isStreaming: isStreaming)
  }

  @Test func lastOpenedAppWins() {
    var screen = HeadUnitScreen()
    #expect(screen.settle([app(1, .none), app(2, .none)]) == [])
    #expect(screen.appOnScreen == nil)
    #expect(screen.settle([app(1, .full), app(2, .none)]) == [])
    #expect(screen.appOnScreen == 1)
    #expect(
      screen.settle([app(1, .full), app(2, .full, role: .projection), app(3, .limited), app(4, .background)]) == [
        .giveWay(id: 1, to: .projection), .giveWay(id: 3, to: .projection),
      ])
    #expect(screen.appOnScreen == 2)
    #expect(screen.settle([app(1, .full), app(2, .limited)]) == [.giveWay(id: 2, to: .navigation)])
  }

  /// The states are compared again after each change, before the next one is made.
  @Test func openedAppStaysWhenTwoOthersGiveWay() {
    var screen = HeadUnitScreen()
    _ = screen.settle([app(3, .full, role: .other)])
    let opened = screen.settle([app(1, .limited), app(2, .full), app(3, .full, role: .other)])
    #expect(opened == [.giveWay(id: 3, to: .navigation), .giveWay(id: 1, to: .navigation)])
    #expect(screen.settle([app(1, .limited), app(2, .full), app(3, .limited, role: .other)]) == [])
    #expect(screen.appOnScreen == 2)
  }

  @Test func screenIsFreeAgainWhenTheAppIsGone() {
    var screen = HeadUnitScreen()
    _ = screen.settle([app(1, .full)])
    #expect(screen.settle([]) == [])
    #expect(screen.appOnScreen == nil)
    _ = screen.settle([app(1, .full)])
    #expect(screen.appOnScreen == 1)
  }

  @Test func oneStreamAtATime() {
    var screen = HeadUnitScreen()
    let first = app(1, .limited, isStreaming: true)
    #expect(screen.settle([first, app(2, .none)]) == [])
    #expect(screen.settle([first, app(2, .limited, isStreaming: true)]) == [.abortVideo(id: 1)])
    #expect(screen.settle([app(1, .limited), app(2, .limited, isStreaming: true)]) == [])
  }

  @Test(arguments: [
    ([HMILevel.none, .none], false), ([.none, .full], true), ([.none, .limited], true), ([.none, .background], true),
    ([.full], false),
  ])
  func appsThatWait(levels: [HMILevel], isTaken: Bool) {
    let apps = levels.enumerated().map { self.app(UInt8($0.offset + 1), $0.element) }
    var app = TestApp.registered()
    app.run { $0.setApps(apps, now: $1) }
    app.wait(.seconds(1))
    #expect(app.levels == (isTaken ? [] : [.full]))
  }

  @Test func appWaitsForTheDriverWhileTheScreenIsTaken() {
    var app = TestApp.registered()
    app.run { $0.setApps([self.app(2, .full)], now: $1) }
    app.wait(.seconds(1))
    #expect(app.levels == [])
    app.run { $0.activateApp(now: $1) }
    #expect(app.levels == [.full])
  }

  @Test func appIsOpenedWhenTheScreenIsFree() {
    var app = TestApp.registered()
    app.run { $0.setApps([self.app(2, .full)], now: $1) }
    app.run { $0.setApps([], now: $1) }
    #expect(app.levels == [])
    app.run { $0.setApps([self.app(2, .full)], now: $1) }
    app.wait(.seconds(1))
    app.run { $0.setApps([], now: $1) }
    #expect(app.levels == [.full])
    // Only once: the driver's choice stays.
    app.set(.none, .notStreamable)
    app.run { $0.setApps([self.app(2, .full)], now: $1) }
    app.run { $0.setApps([], now: $1) }
    #expect(app.levels == [.full, HMILevel.none])
  }

  @Test(arguments: [
    ("NAVIGATION", false, AppSummary.Role.navigation, HMILevel.background, AudioStreamingState.notAudible, false),
    ("NAVIGATION", false, .projection, .limited, .audible, false),
    ("NAVIGATION", false, .other, .limited, .audible, true),
    ("PROJECTION", false, .navigation, .background, .notAudible, false),
    ("PROJECTION", true, .navigation, .limited, .audible, false),
    ("PROJECTION", true, .projection, .background, .notAudible, false),
    ("PROJECTION", false, .other, .limited, .notAudible, true),
    ("PROJECTION", true, .other, .limited, .audible, true),
    ("DEFAULT", false, .navigation, .background, .notAudible, false),
    ("MEDIA", true, .navigation, .limited, .audible, false),
  ])
  func statusAfterAnotherAppIsOpened(
    type: String, isMedia: Bool, other: AppSummary.Role, level: HMILevel, audio: AudioStreamingState,
    isStreamable: Bool
  ) {
    var app = TestApp()
    app.startSession()
    app.register {
      $0["appHMIType"] = .array([.string(type)])
      $0["isMediaApplication"] = .bool(isMedia)
    }
    app.wait(.seconds(1))
    app.forget()
    app.run { $0.giveWay(to: other, now: $1) }
    app.run { $0.giveWay(to: .other, now: $1) }
    let expected = HMIStatus(
      level: level, audioStreamingState: audio, videoStreamingState: isStreamable ? .streamable : .notStreamable)
    #expect(app.rpcs.first?.parameters == expected.json)
  }

  @Test func noneStaysNone() {
    var app = TestApp.registered()
    app.run { $0.giveWay(to: .navigation, now: $1) }
    #expect(app.answers == [])
  }

  @Test func abortedVideo() {
    var app = TestApp.streaming()
    app.run { $0.endService(.video, .otherAppStarted, now: $1) }
    app.run { $0.endService(.video, .otherAppStarted, now: $1) }
    #expect(app.controls == ["video endService"])
    #expect(app.events == [.videoStopped(reason: .otherAppStarted)])
    #expect(app.session.summary == AppSummary(id: 1, role: .navigation, level: .full, isStreaming: false))
  }
}
