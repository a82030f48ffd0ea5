import SDLApp
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct VideoSinkCountersTests {
  private func isConserved(_ counters: VideoSinkCounters) -> Bool {
    let dropped = FrameDropReason.allCases.map(counters.dropped).reduce(0, +)
    return counters.framesIn == counters.framesSent + counters.framesUnchanged + dropped + counters.framesQueued
  }

  @Test func everyFrameIsInOnePlace() {
    var counters = VideoSinkCounters()
    for step in 0..<200 {
      counters.frameArrived()
      #expect(isConserved(counters) && counters.framesQueued == 1)
      if step % 3 == 0 {
        counters.sent(byteCount: 100, isKeyFrame: step % 2 == 0, at: .milliseconds(step))
        counters.frameSent()
      } else if step % 3 == 1 {
        counters.frameUnchanged()
      } else {
        counters.frameDropped(FrameDropReason.allCases[step % FrameDropReason.allCases.count])
      }
      #expect(isConserved(counters) && counters.framesQueued == 0)
    }
    #expect(counters.framesIn == 200 && counters.framesSent == 67 && counters.framesUnchanged == 67)
    #expect(counters.keyFramesSent == 34)
  }

  @Test func everyReasonHasAFieldOfItsOwn() {
    let fields = FrameDropReason.allCases.map(\.field)
    #expect(Set(fields).count == fields.count)
    #expect(fields.allSatisfy { $0.hasPrefix("frames-dropped-") })
  }

  @Test func encodeTimes() {
    var times = EncodeTimes()
    #expect(times.average == 0)
    times.add(.milliseconds(2))
    times.add(.milliseconds(7))
    times.add(.milliseconds(-1))
    #expect(times.count == 3 && times.average == 3_000_000 && times.maximum == 7_000_000)
  }
}
