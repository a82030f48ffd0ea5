import GStreamerKit
import SDLHeadUnit
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Sound over a second connection to the head unit.
@Suite struct SecondarySoundTests {
  private static func headUnit(_ audio: [TransportRole]) -> HeadUnitConfiguration {
    .small().with {
      $0.behaviour.secondaryTransport = .served
      $0.behaviour.audioTransports = audio
    }
  }

  /// A file's sound moves with its service, and all that was not on the way at the cut is heard.
  @Test func cut() throws {
    let harness = try SoundHarness(Self.headUnit([.secondary, .primary]))
    try harness.pipeline.play()
    let first = testSound(8000)
    harness.push(first)
    // On the primary transport at first, if the secondary one takes longer than a second.
    try harness.pipeline.wait(for: "secondary transport") {
      $0.isElement("sdl-stream-started") && $0.fields["transport"] == "secondary" ? true : nil
    }
    try harness.headUnit.waitForSound(first.count)
    harness.headUnit.server.perform(.cutSecondary)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-stopped")["reason"] == "transport-lost")
    // Before the service starts again: a player that has paused for the first start goes on with the next sound.
    let second = testSound(8000, seed: 2)
    harness.push(second)
    let start = try harness.pipeline.waitForElementMessage("sdl-stream-started")
    #expect(start["transport"] == "primary" && start["reason"] == "moved")
    #expect(try harness.finish() == first + second)
    #expect(try harness.statistics.areSamplesConserved)
    #expect(harness.headUnit.record.violations == [])
  }

  /// Sound that needs a connection which is not there waits, and says why.
  @Test func waiting() throws {
    let harness = try SoundHarness(Self.headUnit([.secondary]), properties: "sync=false secondary-transport=none")
    try harness.pipeline.play()
    harness.push(testSound(1600))
    let message = try harness.pipeline.waitForElementMessage("sdl-stream-waiting")
    #expect(message["reason"] == "secondary-transport-unused" && message["service"] == "audio")
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil })
    harness.pipeline.stop()
  }
}
