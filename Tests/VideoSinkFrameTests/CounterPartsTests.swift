import GStreamerKit
import SDLApp
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The parts of the statistics, without a stream.
@Suite struct CounterPartsTests {
  @Test func bitrateOfTheLastFullSecond() {
    var meter = BitrateMeter()
    meter.add(byteCount: 100_000, at: .seconds(10))
    meter.add(byteCount: 25_000, at: .milliseconds(10_999))
    #expect(meter.value(at: .milliseconds(10_999)) == 0)
    meter.add(byteCount: 50_000, at: .seconds(11))
    #expect(meter.value(at: .seconds(11)) == 1000)
    // Nothing comes for two seconds.
    #expect(meter.value(at: .milliseconds(12_999)) == 1000 && meter.value(at: .seconds(13)) == 0)
    meter.add(byteCount: 125_000, at: .seconds(13))
    #expect(meter.value(at: .seconds(13)) == 0)
    meter.add(byteCount: 1, at: .milliseconds(14_250))
    #expect(meter.value(at: .milliseconds(14_250)) == 800)
  }

  @Test func aCounterThatIsResetGoesOn() {
    var counter = ResettingCounter()
    let totals = ([3, 5, 0, 2, 2, 1] as [UInt64]).map { value in
      counter.observe(value)
      return counter.total
    }
    #expect(totals == [3, 5, 5, 7, 7, 8])
  }

  @Test func countsOfASessionBeginWithItsRegistration() {
    var counters = VideoSinkCounters()
    func passFrames() {
      for outcome in 0..<3 {
        counters.frameArrived()
        switch outcome {
        case 0: counters.frameSent()
        case 1: counters.frameUnchanged()
        default: counters.frameDropped(.suspended)
        }
      }
      counters.sent(byteCount: 100, isKeyFrame: false, at: .zero)
    }
    passFrames()
    counters.lateFrames.observe(2)
    let once = SessionCounters(
      framesIn: 5, framesSent: 1, framesUnchanged: 1, framesDropped: 3, videoBytesSent: 100)
    #expect(counters.session == once)
    // Another attempt is no registration.
    counters.app.attempts += 1
    #expect(counters.session == once)
    counters.app.connections += 1
    #expect(counters.session == SessionCounters())
    passFrames()
    counters.lateFrames.observe(4)
    #expect(counters.session == once)
  }

  /// Gaps and frames above the head unit's rate are missed by nobody.
  @Test func lostFrames() {
    var counters = VideoSinkCounters()
    for (index, reason) in FrameDropReason.allCases.enumerated() {
      for _ in 0...index { counters.frameArrived() }
      counters.frameDropped(reason, count: UInt64(index + 1))
      #expect(counters.framesQueued == 0)
    }
    let harmless = counters.dropped(.frameRate) + counters.dropped(.noPicture)
    #expect(counters.framesDropped == counters.framesIn && counters.framesLost == counters.framesIn - harmless)
    // A wrong count must not end the application.
    counters.frameDropped(.late, count: 5)
    #expect(counters.framesQueued == 0)
  }

  @Test func forcedKeyFrames() {
    var counters = VideoSinkCounters()
    counters.encoded(FramePayload.Encoding(time: .milliseconds(1), isForced: false))
    counters.encoded(FramePayload.Encoding(time: .milliseconds(3), isForced: true))
    #expect(counters.keyFramesForced == 1 && counters.encodings.count == 2)
    #expect(counters.encodings.average == 2_000_000)
  }

  @Test func suspendedTimeGrowsWhileItLasts() throws {
    try #require(GStreamer.isReady)
    var counters = StreamCounters()
    func read(at seconds: Int) -> [String?] {
      let structure = Structure("stats")
      counters.fill(structure, now: .seconds(seconds))
      let read = fields(of: structure.pointer)
      return ["suspensions", "suspended-time-ns"].map { read[$0] }
    }
    #expect(read(at: 0) == ["0", "0"])
    counters.suspended(at: .seconds(1))
    // The same one, which another cause prolongs.
    counters.suspended(at: .seconds(2))
    #expect(read(at: 3) == ["1", "2000000000"])
    counters.resumed(at: .seconds(4))
    counters.resumed(at: .seconds(5))
    #expect(read(at: 9) == ["1", "3000000000"])
    counters.suspended(at: .seconds(10))
    #expect(read(at: 12) == ["2", "5000000000"])
  }
}
