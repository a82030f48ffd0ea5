import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// A head unit whose own software fails at the configuration of video: SDL Core refuses the start, naming nothing, and
/// sets the app to HMI level NONE each time. A start without parameters needs no configuration.
@Suite struct RefusalAndLevelTests {
  @Test func startWithoutParametersIsReached() throws {
    let configuration = HeadUnitConfiguration.small().with {
      $0.behaviour.videoStarts = [.reject([]), .reject([]), .reject([]), .regular]
    }
    let harness = try SinkHarness(configuration, isTapped: true)
    try harness.pipeline.play()
    harness.pushPicture()
    for round in 1...3 {
      try harness.headUnit.wait(for: "refusal \(round)") { $0.refusals == round ? true : nil }
      try harness.headUnit.wait(for: "NONE") { record -> Bool? in
        guard case .hmiStatusSent(let status)? = record.events.last(where: Self.isStatus) else { return nil }
        return status.level == HMILevel.none ? true : nil
      }
      #expect(harness.tap?.requests == [String](repeating: "RAW 320×240", count: round))
      let warning = try harness.pipeline.waitForWarning()
      #expect(warning.text.contains("when the driver opens the app again"), "\(warning)")
      if round == 3 {
        let last = try harness.pipeline.waitForWarning()
        #expect(last.text.contains("refused to start video 3 times"), "\(last)")
        #expect(last.text.contains("a start without parameters, 320×240 when the driver opens"), "\(last)")
      }
      try harness.show(.full)
    }
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    try harness.deliver(2)
    #expect(harness.tap?.requests.last == "bare" && harness.tap?.requests.count == 4)
    #expect(try harness.statistics["stream-start-failures"] == 4)
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil })
  }

  private static func isStatus(_ event: HeadUnitSession.Event) -> Bool {
    if case .hmiStatusSent = event { true } else { false }
  }
}
