import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The HMI level changes every 10 ms.
@Suite struct FlickeringStatusTests {
  @Test func endsInTheRightState() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    let sink = try pipeline.sink
    try pipeline.play()
    try headUnit.waitForFrames(3)
    let end = MonotonicClock.now + .seconds(5)
    var changeCount = 0
    while MonotonicClock.now < end {
      try headUnit.show(changeCount.isMultiple(of: 2) ? .none : .full)
      #expect(sink.statistics.areFramesConserved)
      changeCount += 1
      g_usleep(10_000)
    }
    try headUnit.show(.full)
    #expect(eventually { sink["hmi-level"] == "full" && sink["stream-state"] == "streaming" })
    let count = headUnit.record.video.count
    try headUnit.waitForFrames(count + 5)
    let record = headUnit.record
    #expect(changeCount > 100)
    #expect(record.violations == [])
    #expect(record.starts.count == record.stopReasons.count + 1)
    let firsts = zip(record.starts, record.starts.dropFirst() + [record.video.count]).filter { $0 < $1 }.map(\.0)
    #expect(firsts.count > 1)
    for index in firsts { #expect(try startsStream(record.video[index]), "\(index) of \(record.starts)") }
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
    pipeline.stop()
    let last = headUnit.record
    #expect(last.starts.count == last.stopReasons.count && last.violations == [])
    #expect(sink.statistics.areFramesConserved)
  }
}
