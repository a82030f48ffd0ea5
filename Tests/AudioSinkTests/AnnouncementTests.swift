import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// `start-on-data`: the service is there only while something sounds.
@Suite struct AnnouncementTests {
  private let properties = "sync=false start-on-data=true idle-timeout=1000"

  @Test(arguments: [false, true])
  func oneServiceForEachPrompt(isLive: Bool) throws {
    let harness = try SoundHarness(isLive: isLive, properties: properties)
    try harness.pipeline.play()
    harness.push(silence(3200))
    // What a live source sends before the driver has opened the app is dropped.
    try harness.pipeline.wait(for: "the driver") {
      $0.isElement("sdl-hmi-status") && $0.fields["level"] == "full" ? true : nil
    }
    try harness.headUnit.settle(harness.pipeline)
    for number in 1...2 {
      let prompt = testSound(4800, seed: number)
      harness.push(prompt)
      try harness.pipeline.waitForElementMessage("sdl-stream-started")
      // Its first words wait for the service.
      try harness.headUnit.wait(for: "prompt") { $0.audio.suffix(prompt.count).elementsEqual(prompt) ? true : nil }
      #expect(try harness.pipeline.waitForElementMessage("sdl-stream-stopped")["reason"] == "idle")
      harness.push(silence(320))
    }
    #expect(harness.headUnit.record.audioStarts.count == 2)
    #expect(try harness.statistics["samples-dropped-silent"] > 0 && harness.statistics.areSamplesConserved)
    #expect(eventually { harness.headUnit.record.audioStopReasons == [.endedByApp, .endedByApp] })
  }

  /// Silence within a prompt is part of it.
  @Test func aBreathIsSent() throws {
    let harness = try SoundHarness(properties: "sync=false start-on-data=true idle-timeout=60000")
    let prompt = testSound(1600) + silence(1600) + testSound(1600, seed: 3)
    try harness.pipeline.play()
    // Without a service it would be dropped.
    let isStarted = eventually {
      harness.push(testSound(160, seed: 5))
      return !harness.headUnit.record.audioStarts.isEmpty
    }
    #expect(isStarted)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    harness.push(prompt)
    #expect(try harness.finish().suffix(prompt.count).elementsEqual(prompt))
    #expect(harness.headUnit.record.audioStarts.count == 1)
  }
}
