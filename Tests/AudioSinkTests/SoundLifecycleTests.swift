import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The audio service: what driver, head unit and connection do to it.
@Suite struct SoundLifecycleTests {
  /// A live source goes on; what comes meanwhile is dropped.
  @Test func liveSoundIsSuspended() throws {
    let harness = try SoundHarness(isLive: true)
    try harness.pipeline.play()
    harness.push(testSound(320))
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    // On a busy machine the sound may come after the service.
    #expect(
      eventually { (try? harness.statistics).map { $0["samples-in"] == 320 && $0.areSamplesConserved } ?? false })
    try harness.setAudible(.notAudible)
    let suspended = try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
    #expect(suspended["reason"] == "not-audible" && suspended["service"] == "audio")
    #expect(try harness.pipeline.sink["stream-state"] == "suspended")
    let before = try harness.statistics["samples-sent"]
    harness.push(testSound(1600))
    #expect(eventually { (try? harness.statistics["samples-dropped-suspended"]) == 1600 })
    try harness.setAudible(.attenuated)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "resumed")
    harness.push(testSound(640))
    #expect(eventually { (try? harness.statistics["samples-sent"]) == before + 640 })
    #expect(try harness.statistics.areSamplesConserved && harness.statistics["suspensions"] == 1)
    #expect(harness.headUnit.record.violations == [])
  }

  /// Nothing that can be heard is left out after a pause, however long it was.
  @Test func liveSoundIsResumed() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline("audiotestsrc is-live=true ! sdlaudiosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    try pipeline.waitForElementMessage("sdl-stream-started")
    let app = try headUnit.waitForApp()
    func setAudible(_ state: AudioStreamingState) {
      headUnit.server.control(.app(app)) { $0.setAudioStreaming(state, now: $1) }
    }
    for _ in 0..<3 {
      setAudible(.notAudible)
      try pipeline.waitForElementMessage("sdl-stream-suspended")
      let before = try pipeline.sink.statistics["samples-dropped-suspended"]
      // Longer than sound may wait for the link, and than the lead.
      #expect(eventually { (try? pipeline.sink.statistics["samples-dropped-suspended"] - before) ?? 0 > 20_000 })
      setAudible(.audible)
      try pipeline.waitForElementMessage("sdl-stream-started")
    }
    let statistics = try pipeline.sink.statistics
    #expect(statistics["samples-dropped-queue-full"] == 0, "\(statistics.fields)")
  }

  /// A file waits, and asks the application to pause. Only what is on its way when the driver silences the app is lost.
  @Test func aFileWaits() throws {
    // What passes until the application pauses is made up for, which the lead has to cover. It comes in a burst.
    let harness = try SoundHarness(properties: "lead-time=800")
    let sound = testSound(48_000)
    harness.push(sound)
    try harness.pipeline.play()
    try harness.headUnit.waitForSound(25_600)
    try harness.setAudible(.notAudible)
    #expect(try harness.pipeline.wait(for: "request") { $0.buffering } == 0)
    try harness.pipeline.reach(GST_STATE_PAUSED)
    try harness.setAudible(.audible)
    #expect(try harness.pipeline.wait(for: "request") { $0.buffering } == 100)
    try harness.pipeline.play()
    let heard = try harness.finish()
    #expect(heard.count > sound.count - 9600 && heard.suffix(32_000) == sound.suffix(32_000))
    #expect(harness.headUnit.record.violations == [])
    #expect(try harness.statistics.areSamplesConserved)
  }

  @Test func theDriverIsWaitedFor() throws {
    let harness = try SoundHarness(.small(activation: nil))
    let sound = testSound(1600)
    harness.push(sound)
    try harness.pipeline.play()
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_START)
    harness.headUnit.server.perform(.activate(try harness.headUnit.waitForApp()))
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_COMPLETE)
    #expect(try harness.finish() == sound)
  }

  /// The application may keep the pipeline for long after the end: the car's sound is for others then.
  @Test func theServiceEndsWithTheFile() throws {
    let harness = try SoundHarness(properties: "lead-time=800")
    let sound = testSound(3200)
    harness.push(sound)
    try harness.pipeline.play()
    let heard = try harness.finish()
    // The first sample has no lead: a busy machine may be late for some at the start.
    let late = 2 * (try harness.statistics["samples-dropped-late"])
    #expect(isComplete(heard, of: sound, but: late), "\(late) bytes late")
    // Not before a head unit that began late by the lead has played it.
    #expect(gst_element_get_current_running_time(harness.pipeline.element.pointer) >= 800_000_000)
    #expect(eventually { harness.headUnit.record.audioStopReasons == [.endedByApp] })
    #expect(harness.headUnit.record.disconnections == 0)
  }

  @Test func theHeadUnitEndsTheService() throws {
    let harness = try SoundHarness(isLive: true)
    try harness.pipeline.play()
    harness.push(testSound(320))
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    let app = try harness.headUnit.waitForApp()
    harness.headUnit.server.control(.app(app)) { $0.endService(.audio, now: $1) }
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-stopped")["reason"] == "head-unit")
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "restarted")
    #expect(harness.headUnit.record.audioStarts.count == 2)
  }

  @Test func theConnectionIsMadeAgain() throws {
    let harness = try SoundHarness()
    let sound = testSound(640)
    harness.push(sound)
    try harness.pipeline.playFromStart()
    try harness.headUnit.waitForSound(sound.count)
    harness.headUnit.server.perform(.cut)
    try harness.pipeline.wait(for: "loss") { $0.isElement("sdl-disconnected") ? true : nil }
    harness.push(sound)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "reconnected")
    _ = try harness.finish()
    // The sink waits for the pause of the player 100 ms, in which the machine may be too busy.
    let isLate = harness.pipeline.pauseDelay > .milliseconds(50)
    // A busy head unit may not have read yet what its machine has taken.
    try harness.headUnit.waitForSound(isLate ? sound.count : 2 * sound.count)
    #expect(harness.headUnit.record.audio == sound + sound || isLate, "\(harness.pipeline.pauseDelay)")
    #expect(try harness.statistics["connections"] == 2)
  }

  /// A handler stops and starts the pipeline.
  @Test(arguments: ["sdl-stream-started", "sdl-connected"])
  func restartInACallback(_ name: String) throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "audiotestsrc is-live=true samplesperbuffer=320 ! sdlaudiosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    for _ in 0..<3 {
      try pipeline.waitForElementMessage(name)
      pipeline.stop()
      try pipeline.play()
    }
    try pipeline.waitForElementMessage("sdl-stream-started")
    pipeline.stop()
    #expect(try pipeline.sink.statistics.areSamplesConserved)
    #expect(eventually { headUnit.record.disconnections == 4 })
    #expect(headUnit.record.violations.allSatisfy { $0 == .endOfServiceNotRunning(.audio) })
  }

  @Test func aSeek() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "audiotestsrc num-buffers=500 samplesperbuffer=320 ! sdlaudiosink name=sink uri=\(headUnit.uri)")
    try pipeline.reach(GST_STATE_PLAYING)
    try headUnit.waitForSound(6400)
    #expect(
      gst_element_seek(
        pipeline.element.pointer, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 9_000_000_000,
        GST_SEEK_TYPE_SET, 9_500_000_000) != 0)
    try pipeline.waitForEnd()
    #expect(headUnit.record.audio.count < 2 * 16_000 * 4)
    #expect(headUnit.record.audioStarts.count == 1 && headUnit.record.violations == [])
    #expect(try pipeline.sink.statistics.areSamplesConserved)
  }

  /// Chopped into pieces it would not be understood.
  @Test(arguments: [2, 0.5]) func atAnotherRateThereIsNoSound(_ rate: Double) throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "audiotestsrc num-buffers=500 samplesperbuffer=320 ! sdlaudiosink name=sink uri=\(headUnit.uri)")
    try pipeline.reach(GST_STATE_PAUSED)
    #expect(
      gst_element_seek(
        pipeline.element.pointer, rate, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET,
        500_000_000) != 0)
    try pipeline.play()
    try pipeline.waitForEnd()
    let statistics = try pipeline.sink.statistics
    #expect(headUnit.record.audio.isEmpty && statistics["samples-dropped-overlap"] > 0, "\(statistics)")
    #expect(statistics.areSamplesConserved)
  }

  /// Most of a buffer waits for its time then, and another one comes only after it.
  @Test func pausedInTheMidstOfABuffer() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "audiotestsrc num-buffers=1 samplesperbuffer=48000 ! audio/x-raw,rate=16000 ! sdlaudiosink name=sink uri=\(headUnit.uri)"
    )
    try pipeline.play()
    // More than the lead.
    try headUnit.waitForSound(16_000)
    try pipeline.reach(GST_STATE_PAUSED)
    try pipeline.play()
    try pipeline.waitForEnd()
    let statistics = try pipeline.sink.statistics
    // The first sample has no lead: a busy machine may be late for some at the start.
    #expect(statistics.areSamplesConserved, "\(statistics)")
    #expect(statistics["samples-sent"] + statistics["samples-dropped-late"] == 48_000, "\(statistics)")
    #expect(statistics["samples-dropped-late"] < 16_000, "\(statistics)")
  }

  @Test func pausedAndResumed() throws {
    let harness = try SoundHarness(properties: "lead-time=800")
    let sound = testSound(32_000)
    harness.push(sound)
    try harness.pipeline.play()
    try harness.headUnit.waitForSound(2000)
    try harness.pipeline.reach(GST_STATE_PAUSED)
    try harness.pipeline.play()
    let heard = try harness.finish()
    // In the pause the car plays what it has; silence stands for that time, so that the rest is in time.
    let silence = 2 * (try harness.statistics["silence-samples-sent"])
    // A busy machine is late for some, which is left out.
    let late = 2 * (try harness.statistics["samples-dropped-late"])
    try #require(silence <= 2 * 12_800 && heard.count == sound.count + silence - late, "\(late) bytes late")
    if late == 0 {
      let paused = zip(heard, sound).enumerated().first { $1.0 != $1.1 }.map { $0.offset & ~1 } ?? sound.count
      #expect(Array(heard[..<paused]) + heard[(paused + silence)...] == sound)
    } else {
      let end = min(640, heard.count)
      #expect(heard.suffix(end) == sound.suffix(end), "\(late) bytes late")
    }
    #expect(harness.streamMessages.prefix(3) == ["started first-start", "suspended paused", "started resumed"])
  }
}
