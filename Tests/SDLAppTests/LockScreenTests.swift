import SDLApp
import Testing

@Suite struct LockScreenTests {
  enum Step: Sendable {
    case level(HMILevel)
    case distraction(Bool)
  }

  @Test(
    arguments: [
      ([], .off), ([.level(.none)], .off), ([.distraction(true)], .off), ([.level(.full)], .required),
      ([.level(.limited)], .required), ([.level(.full), .distraction(true)], .required),
      ([.level(.full), .distraction(false)], .optional), ([.distraction(false), .level(.limited)], .optional),
      ([.level(.background)], .off), ([.level(.full), .level(.background)], .required),
      ([.level(.full), .level(.background), .distraction(false)], .off),
      ([.level(.full), .level(.none), .level(.background)], .off), ([.level(.full), .level(.none)], .off),
    ] as [([Step], LockScreen.Status)])
  func follows(steps: [Step], expected: LockScreen.Status) {
    var lockScreen = LockScreen()
    for step in steps {
      switch step {
      case .level(let level): lockScreen.receive(HMIStatus(level: level, videoStreamingState: .streamable))
      case .distraction(let isLimited): lockScreen.receive(OnDriverDistraction(isDistractionLimited: isLimited))
      }
    }
    #expect(lockScreen.status == expected)
  }

  @Test func unknownLevelsChangeNothing() {
    var lockScreen = LockScreen()
    lockScreen.receive(HMIStatus(level: .full, videoStreamingState: .streamable))
    lockScreen.receive(HMIStatus(level: nil, videoStreamingState: .streamable))
    #expect(lockScreen.status == .required)
  }
}
