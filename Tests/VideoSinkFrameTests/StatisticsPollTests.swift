import CGStreamerApp
import GStreamerKit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLLink

/// An application that reads `sdl-stats` all the time.
@Suite struct StatisticsPollTests {
  private struct Poll: Sendable {
    var isOver = false
    var readCount = 0
    var faults: [String] = []
  }

  @Test func countersOnlyGrowAndAddUp() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink sync=false uri=\(headUnit.uri)")
    let poll = Monitor(Poll())
    nonisolated(unsafe) let sink = try pipeline.sink
    let poller = WorkerThread(name: "poll")
    try poller.start {
      var last = 0
      while !poll.withLock({ $0.isOver }) {
        let statistics = sink.statistics
        let sent = statistics["bytes-sent"]
        let isGood = sent >= last && statistics.areFramesConserved
        poll.withLock { poll in
          poll.readCount += 1
          if !isGood { poll.faults.append("\(last) before \(statistics)") }
        }
        last = sent
      }
    }
    for _ in 0..<8 {
      let count = headUnit.record.video.count
      try pipeline.play()
      try headUnit.waitForFrames(count + 2)
      pipeline.stop()
    }
    poll.withLock { $0.isOver = true }
    poller.join()
    let result = poll.withLock { $0 }
    #expect(result.readCount > 8 && result.faults == [])
    #expect(sink.statistics["bytes-sent"] > headUnit.record.video.map(\.count).reduce(0, +))
  }
}
