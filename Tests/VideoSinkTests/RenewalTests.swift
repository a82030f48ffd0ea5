import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What the application has asked for is there again after whatever takes it away: the wishes are the application's, and
/// neither a connection's nor a stream's.
@Suite struct RenewalTests {
  enum Break: CaseIterable {
    case connectionLost, driverLeaves, flush, ready, filmEnds
  }

  private static func small(_ rectangles: Bool) -> HeadUnitConfiguration {
    .small().with { $0.videoCapability?.hapticSpatialDataSupported = rectangles }
  }

  /// Picture and sound of one app, and everything that an application may ask for.
  private final class Fixture {
    let headUnit: TestHeadUnit
    let pipeline: Pipeline
    let recorder: NavigationRecorder

    init() throws {
      headUnit = try TestHeadUnit(RenewalTests.small(true))
      pipeline = try Pipeline(
        """
        videotestsrc is-live=true ! \(Picture.caps()) \
        ! sdlvideosink name=sink gestures=true haptic-rectangles=<<1,1,10,10>> uri=\(headUnit.uri) \
        audiotestsrc is-live=true wave=square volume=0.8 samplesperbuffer=320 ! audio/x-raw,rate=16000,channels=1 \
        ! sdlaudiosink name=sound volume=0.25 rpc-notifications=OnDriverDistraction uri=\(headUnit.uri)
        """)
      recorder = NavigationRecorder(at: try pipeline.sink.pad("sink"))
    }

    func perform(_ line: String) throws {
      headUnit.server.perform(try #require(try HeadUnitCommand.parse(line)))
    }

    func isInTheCar(after streams: (video: Int, sound: Int)) throws {
      let record = try headUnit.wait(for: "picture and sound") { record in
        guard record.starts.count > streams.video, record.audioStarts.count > streams.sound,
          let picture = record.starts.last, let sound = record.audioStarts.last
        else { return nil as TestHeadUnit.Record? }
        return record.video.count > picture + 3 && record.audio.count > sound + 3200 ? record : nil
      }
      #expect(isKeyFrame(record.video[try #require(record.starts.last)]))
      // ±0.8 of full scale at a quarter of the volume, in 16 bits.
      let samples = record.audio[try #require(record.audioStarts.last)...].dropLast(record.audio.count % 2)
      let loudness = stride(from: samples.startIndex, to: samples.endIndex - 1, by: 2).map {
        abs(Int(Int16(truncatingIfNeeded: Int(samples[$0]) | Int(samples[$0 + 1]) << 8)))
      }
      #expect(loudness.contains { $0 > 6000 } && loudness.allSatisfy { $0 < 7000 }, "\(loudness.max() ?? 0)")
      #expect(record.hapticLists.last?.count == 1)
      #expect(try pipeline.sink.structure("permissions")?["touches"] == "true")
    }

    /// The application is told what it wants to be told, and so is upstream.
    func isTold() throws {
      pipeline.forgetMessages()
      recorder.entries.withLock { $0 = [] }
      for isLimited in ["off", "on"] { try perform("distraction \(isLimited)") }
      try pipeline.wait(for: "distraction") { message in
        message.isElement("sdl-rpc") && message.fields["json"]?.contains("DD_ON") == true ? true : nil
      }
      try perform("touch tap 10 10")
      try pipeline.waitForElementMessage("sdl-gesture")
      try perform("press OK")
      try pipeline.waitForElementMessage("sdl-button")
      try recorder.wait(for: "touch and key") { texts in
        ["touch-down", "touch-up", "key-press", "key-release"].allSatisfy { name in
          texts.contains { $0.hasPrefix(name) }
        }
      }
    }
  }

  @Test("All is there again", arguments: Break.allCases) func again(after what: Break) throws {
    let fixture = try Fixture()
    let (headUnit, pipeline) = (fixture.headUnit, fixture.pipeline)
    try pipeline.play()
    try fixture.isInTheCar(after: (0, 0))
    try fixture.isTold()
    let record = headUnit.record
    var streams = (video: record.starts.count, sound: record.audioStarts.count)
    switch what {
    case .connectionLost: headUnit.server.perform(.cut)
    case .driverLeaves:
      try headUnit.show(.none)
      try pipeline.waitForElementMessage("sdl-stream-stopped")
      try headUnit.show(HMIStatus(level: .full, audioStreamingState: .audible, videoStreamingState: .streamable))
    case .flush:
      for name in ["sink", "sound"] {
        let pad = try pipeline[name].pad("sink")
        gst_pad_send_event(pad, gst_event_new_flush_start())
        gst_pad_send_event(pad, gst_event_new_flush_stop(0))
      }
      // The services stay.
      streams = (streams.video - 1, streams.sound - 1)
    case .ready:
      pipeline.setState(GST_STATE_READY)
      try pipeline.play()
    case .filmEnds:
      gst_element_send_event(pipeline.element.pointer, gst_event_new_eos())
      try pipeline.waitForEnd()
      pipeline.setState(GST_STATE_READY)
      try pipeline.play()
    }
    try fixture.isInTheCar(after: streams)
    try fixture.isTold()
    #expect(try pipeline.sink.statistics.areFramesConserved)
    #expect(headUnit.record.violationsBesidesBursts == [])
    pipeline.stop()
  }
}
