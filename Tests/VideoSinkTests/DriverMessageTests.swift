import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Messages about the HMI status, driver distraction and the lock screen.
@Suite struct DriverMessageTests {
  private func messages(_ harness: SinkHarness, _ name: String) -> [[String: String]] {
    harness.pipeline.drain().filter { $0.isElement(name) }.map(\.fields)
  }

  private func distract(_ harness: SinkHarness, _ isLimited: Bool, dismissal: Bool? = nil, text: String? = nil) throws {
    harness.headUnit.server.perform(
      .driverDistraction(
        OnDriverDistraction(
          isDistractionLimited: isLimited, lockScreenDismissalEnabled: dismissal, lockScreenDismissalWarning: text)))
  }

  @Test func hmiStatus() throws {
    let harness = try SinkHarness(.small(activation: nil))
    try harness.prepare()
    try harness.show(HMIStatus(level: .full, audioStreamingState: .audible, videoStreamingState: .streamable))
    try harness.wait(forStreamState: "streaming")
    try harness.show(HMIStatus(level: .limited, audioStreamingState: .attenuated, videoStreamingState: .notStreamable))
    try harness.wait(forStreamState: "stopped")
    try harness.settle()
    let all = messages(harness, "sdl-hmi-status")
    #expect(all.map { $0["level"] } == ["none", "full", "limited"])
    #expect(all.map { $0["video-streaming-state"] } == ["not-streamable", "streamable", "not-streamable"])
    #expect(all.map { $0["audio-streaming-state"] } == ["not-audible", "audible", "attenuated"])
    #expect(all.allSatisfy { $0["system-context"] == "main" })
  }

  @Test func driverDistraction() throws {
    let harness = try SinkHarness(.small(activation: nil))
    try harness.prepare()
    try distract(harness, true)
    try distract(harness, true, dismissal: true, text: "Swipe “up” to dismiss, ünder your own risk")
    try distract(harness, false, dismissal: false)
    try harness.settle()
    let all = messages(harness, "sdl-driver-distraction").prefix(3)
    #expect(all.map { $0["limited"] } == ["true", "true", "false"])
    #expect(all.map { $0["dismissal-enabled"] } == [nil, "true", "false"])
    #expect(all.map { $0["text"] } == [nil, "Swipe “up” to dismiss, ünder your own risk", nil])
  }

  /// Each change once.
  @Test func lockScreen() throws {
    let harness = try SinkHarness(.small(activation: nil))
    try harness.prepare()
    func statuses() throws -> [String?] {
      try harness.settle()
      return messages(harness, "sdl-lock-screen").map { $0["status"] }
    }
    // Distraction is limited; `settle` sends the same status.
    #expect(try statuses() == [])
    try harness.show(.full)
    #expect(try statuses() == ["required"])
    try harness.show(.limited)
    #expect(try statuses() == ["required"])
    try harness.show(.background)
    #expect(try statuses() == ["required"])
    try harness.show(.none)
    #expect(try statuses() == ["required", "off"])
    try harness.show(.background)
    #expect(try statuses() == ["required", "off"])
    try harness.show(.full)
    #expect(try statuses() == ["required", "off", "required"])
    try distract(harness, false)
    #expect(try statuses() == ["required", "off", "required", "optional", "required"])
  }

  @Test func lockScreenHasTheText() throws {
    let harness = try SinkHarness()
    try harness.start()
    try distract(harness, false)
    try harness.pipeline.wait(for: "optional") {
      $0.isElement("sdl-lock-screen") && $0.fields["status"] == "optional" ? true : nil
    }
    try distract(harness, true, dismissal: true, text: "Swipe")
    let fields = try harness.pipeline.waitForElementMessage("sdl-lock-screen")
    #expect(fields["status"] == "required" && fields["text"] == "Swipe")
  }
}

/// An HMI status that is told again, as SDL Core does when a call takes the sound.
@Suite struct RepeatedStatusTests {
  @Test func levelIsNotifiedWhenItChanges() throws {
    let harness = try SinkHarness(.small(activation: nil))
    let counter = NotificationCounter(try harness.pipeline.sink.pointer, "hmi-level")
    try harness.prepare()
    #expect(counter.count == 0)
    let statuses: [(HMILevel, AudioStreamingState)] = [
      (.full, .audible), (.full, .notAudible), (.full, .audible), (.limited, .audible),
    ]
    for (level, audio) in statuses {
      try harness.show(HMIStatus(level: level, audioStreamingState: audio, videoStreamingState: .streamable))
    }
    try harness.settle()
    let levels = harness.pipeline.drain().filter { $0.isElement("sdl-hmi-status") }.map { $0.fields["level"] }
    #expect(levels == ["none", "full", "full", "full", "limited"])
    #expect(counter.count == 2)
    harness.pipeline.stop()
    #expect(counter.count == 3)
  }

  /// As what the application shows of them has to go.
  @Test(arguments: [true, false]) func permissionsAreNotifiedWhenTheyEnd(isLost: Bool) throws {
    let harness = try SinkHarness(.small().with { $0.policy = .listedApp })
    let counter = NotificationCounter(try harness.pipeline.sink.pointer, "permissions")
    try harness.start()
    try harness.settle()
    let count = counter.count
    #expect(count > 0)
    if isLost {
      harness.headUnit.server.perform(.refuseConnections(true))
      harness.headUnit.server.perform(.cut)
      #expect(eventually { counter.count == count + 1 })
    }
    harness.pipeline.stop()
    #expect(counter.count == count + 1)
  }
}

/// Counts the notifications of a property.
final class NotificationCounter {
  private let number = Monitor(0)

  init(_ element: UnsafeMutablePointer<GstElement>, _ property: String) {
    let handler: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
      guard let data else { return }
      Unmanaged<Monitor<Int>>.fromOpaque(data).takeUnretainedValue().withLock { $0 += 1 }
    }
    let release: GClosureNotify = { data, _ in
      if let data { Unmanaged<Monitor<Int>>.fromOpaque(data).release() }
    }
    g_signal_connect_data(
      element, "notify::\(property)", unsafeBitCast(handler, to: GCallback.self),
      Unmanaged.passRetained(number).toOpaque(), release, GConnectFlags(rawValue: 0))
  }

  var count: Int { number.withLock { $0 } }
}
