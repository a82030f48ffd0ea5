import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin

/// What the application is told of the driver.
@Suite struct DriverMessageTests {
  private func messages(_ drive: Drive, _ name: String) -> [[String: String]] {
    drive.pipeline.drain().filter { $0.isElement(name) }.map(\.fields)
  }

  private func distract(_ drive: Drive, _ isLimited: Bool, dismissal: Bool? = nil, text: String? = nil) throws {
    drive.headUnit.server.perform(
      .driverDistraction(
        OnDriverDistraction(
          isDistractionLimited: isLimited, lockScreenDismissalEnabled: dismissal, lockScreenDismissalWarning: text)))
  }

  @Test func hmiStatus() throws {
    let drive = try Drive(.small(activation: nil))
    try drive.prepare()
    try drive.show(HMIStatus(level: .full, audioStreamingState: .audible, videoStreamingState: .streamable))
    try drive.wait(forStreamState: "streaming")
    try drive.show(HMIStatus(level: .limited, audioStreamingState: .attenuated, videoStreamingState: .notStreamable))
    try drive.wait(forStreamState: "stopped")
    try drive.settle()
    let all = messages(drive, "sdl-hmi-status")
    #expect(all.map { $0["level"] } == ["none", "full", "limited"])
    #expect(all.map { $0["video-streaming-state"] } == ["not-streamable", "streamable", "not-streamable"])
    #expect(all.map { $0["audio-streaming-state"] } == ["not-audible", "audible", "attenuated"])
    #expect(all.allSatisfy { $0["system-context"] == "main" })
  }

  @Test func driverDistraction() throws {
    let drive = try Drive(.small(activation: nil))
    try drive.prepare()
    try distract(drive, true)
    try distract(drive, true, dismissal: true, text: "Swipe “up” to dismiss, ünder your own risk")
    try distract(drive, false, dismissal: false)
    try drive.settle()
    let all = messages(drive, "sdl-driver-distraction").prefix(3)
    #expect(all.map { $0["limited"] } == ["true", "true", "false"])
    #expect(all.map { $0["dismissal-enabled"] } == [nil, "true", "false"])
    #expect(all.map { $0["text"] } == [nil, "Swipe “up” to dismiss, ünder your own risk", nil])
  }

  /// Each change once.
  @Test func lockScreen() throws {
    let drive = try Drive(.small(activation: nil))
    try drive.prepare()
    func statuses() throws -> [String?] {
      try drive.settle()
      return messages(drive, "sdl-lock-screen").map { $0["status"] }
    }
    // The driver must not be distracted: `settle` says so as well.
    #expect(try statuses() == [])
    try drive.show(.full)
    #expect(try statuses() == ["required"])
    try drive.show(.limited)
    #expect(try statuses() == ["required"])
    try drive.show(.background)
    #expect(try statuses() == ["required"])
    try drive.show(.none)
    #expect(try statuses() == ["required", "off"])
    try drive.show(.background)
    #expect(try statuses() == ["required", "off"])
    try drive.show(.full)
    #expect(try statuses() == ["required", "off", "required"])
    try distract(drive, false)
    #expect(try statuses() == ["required", "off", "required", "optional", "required"])
  }

  @Test func lockScreenHasTheText() throws {
    let drive = try Drive()
    try drive.start()
    try distract(drive, false)
    try drive.pipeline.wait(for: "optional") {
      $0.isElement("sdl-lock-screen") && $0.fields["status"] == "optional" ? true : nil
    }
    try distract(drive, true, dismissal: true, text: "Swipe")
    let fields = try drive.pipeline.waitForElementMessage("sdl-lock-screen")
    #expect(fields["status"] == "required" && fields["text"] == "Swipe")
  }
}
