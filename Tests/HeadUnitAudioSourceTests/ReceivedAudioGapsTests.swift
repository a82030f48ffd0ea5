import Glibc
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Where the car had nothing to play.
@Suite struct ReceivedAudioGapsTests {
  private static func place(_ milliseconds: UInt64) -> ReceivedAudioTimeline.Place {
    ReceivedAudioTimeline.Place(time: milliseconds * 1_000_000, duration: 20_000_000, offset: 0, sampleCount: 320)
  }

  @Test func onlyWithinAnUtterance() {
    var gaps = ReceivedAudioGaps()
    var found: [Bool] = []
    for (time, isStart) in [(100, true), (120, false), (150, false), (900, true), (920, false)] {
      found.append(gaps.note(Self.place(UInt64(time)), isStart: isStart))
    }
    #expect(found == [false, false, true, false, false])
    let reports = [gaps.takeReport(), gaps.takeReport()]
    #expect(reports == [ReceivedAudioGaps.Report(count: 1, duration: 10_000_000, runningTime: 150_000_000), nil])
  }

  /// Those of a second are reported together.
  @Test func manyGaps() {
    var gaps = ReceivedAudioGaps()
    var reports: [ReceivedAudioGaps.Report] = []
    _ = gaps.note(Self.place(0), isStart: true)
    for index in 1...100 {
      let isGap = gaps.note(Self.place(UInt64(index) * 30), isStart: false)
      #expect(isGap)
      if let report = gaps.takeReport() { reports.append(report) }
    }
    #expect(reports.map(\.count) == [1, 34, 34])
    #expect(reports.map(\.duration) == [10_000_000, 340_000_000, 340_000_000])
  }

  /// The last report is of a time that is still to come.
  @Test func runningTimeThatBeginsAnew() {
    var gaps = ReceivedAudioGaps()
    var reports: [UInt64] = []
    for start: UInt64 in [60_000, 60_030, 0, 30] {
      _ = gaps.note(Self.place(start), isStart: false)
      if let report = gaps.takeReport() { reports.append(report.runningTime) }
    }
    #expect(reports == [60_030_000_000, 30_000_000])
  }

  /// An app falls silent with its service open, and goes on.
  @Test func anApplicationHearsOfIt() throws {
    let screen = try SoundPipeline("latency=0")
    let app = try RawApp.speaking(port: screen.port)
    let pieces = soundPieces(10)
    // In one message: between two there may be a gap.
    app.audio(pieces[..<5].flatMap(\.self))
    _ = try screen.pull(soundByteCount: 5 * 640)
    // Until there is silence after what came.
    while let sample = screen.pull(), !sample.isSilence {}
    app.audio(pieces[5...].flatMap(\.self))
    let samples = try screen.pull(soundByteCount: 5 * 640)
    let gap = try screen.pipeline.waitForElementMessage("sdl-sound-gap")
    #expect(gap["gaps"] == "1" && screen.statistics["gaps"] == 1)
    let first = try #require(samples.first { !$0.isSilence })
    #expect(gap["running-time"] == "\(first.time)")
    #expect((gap["duration"].flatMap { Int($0) } ?? 0) > 0)
  }
}
