import GStreamerKit
import SDLLink
import SDLMessages
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// An application links its elements on a thread without a main loop, which nothing tells apart from one that carries
/// data. The head unit is not there, or says nothing: linking asks for caps, but chooses nothing by them.
@Suite struct LinkingTests {
  enum HeadUnit: CaseIterable {
    case unreachable, silent
  }

  /// Far less than `connect-timeout`, and more than a busy machine needs.
  private static let limit = Duration.seconds(2)

  private static let picture = "videotestsrc name=src capsfilter name=filter caps=\"\(Picture.caps())\""
  private static let sound =
    "audiotestsrc name=src capsfilter name=filter caps=\"audio/x-raw,format=S16LE,rate=16000,channels=1\""

  @Test(
    arguments: [
      "\(picture) sdlvideosink name=sink", "\(picture) queue name=last ! sdlvideosink name=sink",
      "\(sound) sdlaudiosink name=sink", "\(sound) queue name=last ! sdlaudiosink name=sink",
    ], [GST_STATE_READY, GST_STATE_PAUSED])
  func isDoneAtOnce(_ elements: String, _ state: GstState) throws {
    for headUnit in HeadUnit.allCases {
      let unreachable = headUnit == .unreachable ? try SilentPort() : nil
      let silent = headUnit == .silent ? try RawPeer { $0.readToEnd() } : nil
      let pipeline = try Pipeline("\(elements) uri=\(unreachable?.uri ?? silent?.uri ?? "")")
      try pipeline.reach(GST_STATE_READY)
      let sink = try pipeline.sink
      // Its first frame is what it waits for then.
      if state == GST_STATE_PAUSED { gst_element_set_state(sink.pointer, GST_STATE_PAUSED) }
      #expect(eventually { sink["connection-state"] == (headUnit == .silent ? "registering" : "connecting") })
      nonisolated(unsafe) let filter = try pipeline["filter"].pointer
      nonisolated(unsafe) let last = (try? pipeline["last"].pointer) ?? sink.pointer
      let standstills = Standstills()
      let began = MonotonicClock.now
      pipeline.expectReturn("\(elements) in \(state) is not linked") { _ in
        #expect(gst_element_link(filter, last) != 0)
      }
      let time = MonotonicClock.now - began
      #expect(time < Self.limit + standstills.total, "\(elements) in \(state), \(headUnit): \(time)")
      pipeline.stop()
      withExtendedLifetime((unreachable, silent)) {}
    }
  }

  /// What was linked before the head unit was known starts in its size.
  @Test func encoderStartsInTheHeadUnitsSize() throws {
    let headUnit = try TestHeadUnit(.small(400, 240, frameRate: 60))
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=30 ! x264enc name=encoder speed-preset=ultrafast \
      sdlvideosink name=sink sync=false keep-alive-interval=0 uri=\(headUnit.uri)
      """)
    try pipeline.reach(GST_STATE_READY)
    nonisolated(unsafe) let encoder = try pipeline["encoder"].pointer
    nonisolated(unsafe) let sink = try pipeline.sink.pointer
    pipeline.expectReturn("the encoder is not linked") { _ in #expect(gst_element_link(encoder, sink) != 0) }
    try pipeline.play()
    try pipeline.waitForEnd()
    #expect(headUnit.record.startedSizes == [VideoSize(400, 240)] && headUnit.record.video.count == 30)
  }
}
