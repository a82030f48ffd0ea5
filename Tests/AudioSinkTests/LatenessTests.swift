import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Sound that comes late, or that the head unit does not take.
@Suite struct LatenessTests {
  /// Sound stands still for longer than the lead: what is late is left out, in whole samples, and what follows is in
  /// time.
  @Test func lateSoundIsLeftOut() throws {
    let harness = try SoundHarness(isLive: true, properties: "lead-time=50")
    try harness.pipeline.play()
    harness.push(testSound(320))
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    let clock = try nonNull(gst_element_get_clock(harness.pipeline.element.pointer))
    defer { gst_object_unref(clock) }
    func now() -> Duration {
      .nanoseconds(
        Int64(gst_clock_get_time(clock)) - Int64(gst_element_get_base_time(harness.pipeline.element.pointer)))
    }
    let began = now()
    harness.source.push(testSound(1600, seed: 1), at: began + .milliseconds(500))
    // Where the machine wakes a thread later than the lead, some of it is late as well, and so may the first 320 be
    // that started the stream.
    #expect(
      eventually {
        (try? harness.statistics).map { $0["samples-in"] == 1920 && $0["samples-queued"] == 0 } ?? false
      }, "\((try? harness.statistics.fields) ?? [:])")
    let (sent, late) = (try harness.statistics["samples-sent"], try harness.statistics["samples-dropped-late"])
    // Half a second that should have come a second ago, and then some that is early enough.
    #expect(eventually { now() > began + .seconds(2) })
    harness.source.push(testSound(8000, seed: 2), at: now() - .seconds(1))
    #expect(
      eventually { (try? harness.statistics["samples-dropped-late"]) == late + 8000 },
      "\((try? harness.statistics.fields) ?? [:])")
    // More than a machine leaves out that stands still meanwhile.
    harness.source.push(testSound(48_000, seed: 3), at: now() + .milliseconds(500))
    try harness.headUnit.waitForSound(2 * (sent + 4000))
    #expect(try harness.statistics.areSamplesConserved)
    #expect(harness.headUnit.record.audio.count.isMultiple(of: 2) && harness.headUnit.record.violations == [])
  }

  /// Silence that is late is left out, too, and the sound after it is whole.
  @Test func lateSilenceIsLeftOut() throws {
    let harness = try SoundHarness(isLive: true, properties: "lead-time=50")
    try harness.pipeline.play()
    harness.push(testSound(320))
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    let element = harness.pipeline.element.pointer
    func now() -> Duration { .nanoseconds(Int64(gst_element_get_current_running_time(element))) }
    #expect(eventually { now() > .milliseconds(1500) })
    harness.source.sendGap(at: .milliseconds(20), .milliseconds(600))
    harness.source.push(testSound(1600, seed: 1), at: now() + .milliseconds(200))
    #expect(
      eventually {
        (try? harness.statistics).map { $0["samples-in"] == 1920 && $0["samples-queued"] == 0 } ?? false
      })
    let statistics = try harness.statistics
    #expect(statistics["samples-dropped-overlap"] == 0, "\(statistics.fields)")
  }

  /// Nothing is queued while live sound is held back, but a head unit that is gone is noticed all the same.
  @Test func headUnitThatAcknowledgesNothingIsNoticed() throws {
    let headUnit = try TestHeadUnit()
    let link = try NarrowLink(to: headUnit, bitsPerSecond: 10_000_000)
    let pipeline = try Pipeline("audiotestsrc is-live=true ! sdlaudiosink name=sink uri=\(link.uri)")
    try pipeline.play()
    try headUnit.waitForSound(1)
    link.set(bitsPerSecond: 0)
    let warning = try pipeline.waitForWarning().text
    #expect(warning.contains("has not read anything"), "\(warning)")
    #expect(try pipeline.sink.statistics["samples-dropped-queue-full"] > 0)
  }

  /// A head unit that stops reading: a live source does not build up delay.
  @Test func aLiveSourceIsNotDelayed() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "audiotestsrc is-live=true samplesperbuffer=320 ! sdlaudiosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    try headUnit.waitForSound(6400)
    let app = try headUnit.waitForApp()
    headUnit.server.setReading(false, for: app)
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics["samples-dropped-queue-full"] > 8000 })
    headUnit.server.setReading(true, for: app)
    // A second of sound of which hardly anything is left out. The first may not be one: some still has to be dropped.
    #expect(
      eventually {
        let (dropped, heard) = (sink.statistics["samples-dropped-queue-full"], headUnit.record.audio.count)
        return eventually { headUnit.record.audio.count > heard + 32_000 }
          && sink.statistics["samples-dropped-queue-full"] - dropped < 1600
      })
    #expect(sink.statistics.areSamplesConserved)
  }
}
