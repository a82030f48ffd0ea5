import Glibc
import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Wherever the sink is, it can be stopped, taken back to READY and flushed at once.
@Suite struct InterruptionTests {
  enum Place: CaseIterable {
    case connecting, registering, startUnanswered, endUnanswered, stalled, reconnecting, hidden, inBackground

    var configuration: HeadUnitConfiguration {
      HeadUnitConfiguration.small(640, 480, maximumBitrate: nil).with {
        if self == .startUnanswered { $0.behaviour.videoStarts = [.silence] }
        if self == .endUnanswered { $0.behaviour.serviceEnd = .silence }
      }
    }
  }

  enum Interruption: CaseIterable {
    case null, ready, flush
  }

  @Test(arguments: Place.allCases, Interruption.allCases)
  func live(_ place: Place, _ interruption: Interruption) throws {
    try interrupt(place, interruption, isLive: true)
  }

  /// A file whose frames wait wherever they can.
  @Test(arguments: Place.allCases, Interruption.allCases)
  func file(_ place: Place, _ interruption: Interruption) throws {
    try interrupt(place, interruption, isLive: false)
  }

  private func interrupt(_ place: Place, _ interruption: Interruption, isLive: Bool) throws {
    let headUnit = try TestHeadUnit(place.configuration)
    let silent = place == .connecting ? try SilentPort() : nil
    let mute = place == .registering ? try RawPeer { $0.readToEnd() } : nil
    let uri = silent?.uri ?? mute?.uri ?? headUnit.uri
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=\(isLive) pattern=snow ! \(Picture.caps(640, 480)) \
      ! sdlvideosink name=sink sync=\(isLive) bitrate=50000 speed-preset=ultrafast uri=\(uri) \
      suspend-policy=\(isLive ? "drop" : "auto") background-notice=false
      """)
    try pipeline.play()
    try reach(place, pipeline, headUnit, isLive: isLive)
    switch interruption {
    case .null: break
    case .ready:
      pipeline.expectReturn("READY is not reached") { gst_element_set_state($0, GST_STATE_READY) }
      #expect(try pipeline.sink["stream-state"] == "stopped")
    case .flush:
      pipeline.expectReturn("the flush does not end") { pipeline in
        let isDone = gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0)
        if isDone == 0 { Issue.record("no seek") }
      }
      #expect(try pipeline.sink.statistics.areFramesConserved)
    }
    pipeline.stop()
    let statistics = try pipeline.sink.statistics
    #expect(statistics.areFramesConserved && statistics["frames-queued"] == 0, "\(statistics)")
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
  }

  private func reach(_ place: Place, _ pipeline: Pipeline, _ headUnit: TestHeadUnit, isLive: Bool) throws {
    let sink = try pipeline.sink
    let server = headUnit.server
    switch place {
    case .connecting: #expect(eventually { sink["connection-state"] == "connecting" })
    case .registering: #expect(eventually { sink["connection-state"] == "registering" })
    case .startUnanswered: #expect(eventually { sink["stream-state"] == "starting" })
    case .endUnanswered, .stalled, .reconnecting, .hidden, .inBackground:
      try headUnit.waitForFrames(2)
      switch place {
      case .endUnanswered:
        try headUnit.show(.background)
        #expect(eventually { sink["stream-state"] == "stopping" })
      case .stalled:
        server.setReading(false, for: try headUnit.waitForApp())
        #expect(
          eventually {
            isLive ? sink.statistics["frames-dropped-latency"] > 1 : sink.statistics["queue-frames"] == 3
          }, "\(sink.statistics), \(pipeline.drain())")
      case .reconnecting:
        server.perform(.refuseConnections(true))
        server.perform(.cut)
        #expect(eventually { sink["connection-state"] == "reconnecting" })
      case .hidden:
        try headUnit.show(.background)
        #expect(eventually { sink["hmi-level"] == "background" })
      default:
        sink.set("app-state", "background")
        #expect(eventually { sink["stream-state"] == "suspended" })
      }
    }
  }
}
