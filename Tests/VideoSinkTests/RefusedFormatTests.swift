import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Head units that refuse formats which they list: what the sink requests next, and when that is an error.
@Suite struct RefusedFormatTests {
  private typealias Answer = HeadUnitBehaviour.VideoStartAnswer

  private static let videoProtocol = Answer.reject(["videoProtocol"])
  private static let width = Answer.reject(["width"])
  private static let height = Answer.reject(["height"])

  /// RTP first, and two sizes, the second in a scale of its own.
  private static func configuration(
    _ answers: [HeadUnitBehaviour.VideoStartAnswer] = [], formats: [VideoStreamingFormat]? = [.rtpH264, .rawH264]
  ) -> HeadUnitConfiguration {
    HeadUnitConfiguration.small(320, 240, maximumBitrate: nil, additional: [(240, 180)]).with {
      $0.videoCapability?.supportedFormats = formats
      $0.videoCapability?.additionalCapabilities?[0].scale = 1.5
      $0.behaviour.videoStarts = answers
      $0.behaviour.dropsToNoneAfterRefusal = false
    }
  }

  /// Which sizes upstream can send.
  enum Input: CaseIterable {
    case any, fixed, encoded
  }

  /// A sink after each kind of input; the first frame of the fixed ones waits for the stream.
  private final class Bench {
    let headUnit: TestHeadUnit
    let tap: WireTap
    let pipeline: Pipeline

    init(_ configuration: HeadUnitConfiguration, _ input: Input = .any, properties: String = "") throws {
      headUnit = try TestHeadUnit(configuration)
      tap = try WireTap(to: headUnit)
      let source =
        switch input {
        case .any: "videotestsrc is-live=true"
        case .fixed: "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=30/1"
        case .encoded:
          """
          videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 \
          ! x264enc tune=zerolatency key-int-max=10 threads=1 ! h264parse config-interval=-1 \
          ! video/x-h264,profile=constrained-baseline
          """
        }
      pipeline = try Pipeline("\(source) ! sdlvideosink name=sink sync=false uri=\(tap.uri) \(properties)")
      try pipeline.play()
    }

    func waitForStart() throws -> [String: String] { try pipeline.waitForElementMessage("sdl-stream-started") }

    /// Frames arrive, of this size, and break no rule.
    func expectVideo(_ width: Int, _ height: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
      let count = headUnit.record.video.count
      let video = try headUnit.waitForFrames(count + 3)
      let unit = try #require(video.last(where: isKeyFrame))
      let parameters = try parameterSet(unit)
      #expect(parameters.width == width && parameters.height == height, sourceLocation: sourceLocation)
      #expect(headUnit.record.violationsBesidesBursts == [], sourceLocation: sourceLocation)
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var id: String
    var answers: [HeadUnitBehaviour.VideoStartAnswer]
    var input = Input.any
    var formats: [VideoStreamingFormat]? = [.rtpH264, .rawH264]
    var requests: [String]
    /// Of the stream in the end.
    var streamingProtocol = "RAW"
    var size = VideoSize(320, 240)
    /// While upstream follows a size that the head unit overrides, the service may end and start again.
    var mayStartAgain = false

    var testDescription: String { "\(id), \(input) input" }
  }

  @Test(arguments: [
    Row(
      id: "the protocol refused", answers: [videoProtocol, .regular], input: .encoded,
      requests: ["RTP 320×240", "RAW 320×240"]),
    Row(
      id: "protocol and size refused", answers: [videoProtocol, width, .regular],
      requests: ["RTP 320×240", "RAW 320×240", "RAW 160×120"], size: VideoSize(160, 120)),
    Row(
      id: "RTP instead of RAW",
      answers: [.acknowledge(VideoServiceParameters(videoProtocol: "RTP", videoCodec: "H264"))],
      formats: [.rawH264], requests: ["RAW 320×240"], streamingProtocol: "RTP"),
    Row(
      id: "the bare one accepted in another size",
      answers: [
        videoProtocol, height, height,
        .acknowledge(VideoServiceParameters(width: 200, height: 100)),
      ],
      requests: ["RTP 320×240", "RAW 320×240", "RAW 160×120", "bare"], size: VideoSize(200, 100), mayStartAgain: true),
    Row(
      id: "a size that can't change", answers: [width, .regular], input: .fixed, requests: ["RTP 320×240", "bare"]),
    Row(
      id: "a size that can't change", answers: [width, .regular], input: .encoded, requests: ["RTP 320×240", "bare"]),
  ])
  func sequence(_ row: Row) throws {
    let bench = try Bench(Self.configuration(row.answers, formats: row.formats), row.input)
    let started = try bench.waitForStart()
    #expect(started["protocol"] == row.streamingProtocol && started["codec"] == "H264")
    try bench.expectVideo(row.size.width, row.size.height)
    let expected = [row.requests] + (row.mayStartAgain ? [row.requests + row.requests.suffix(1)] : [])
    #expect(expected.contains(bench.tap.requests), "\(bench.tap.requests)")
    #expect(bench.pipeline.drain().allSatisfy { $0.error == nil })
    #expect(try bench.pipeline.sink.statistics.areFramesConserved)
  }

  @Test(
    "Everything refused",
    arguments: [
      (Input.any, ["RTP 320×240", "RAW 320×240", "RAW 160×120", "bare"]),
      (.fixed, ["RTP 320×240", "RAW 320×240", "bare"]), (.encoded, ["RTP 320×240", "RAW 320×240", "bare"]),
    ])
  func everythingRefused(_ input: Input, _ requests: [String]) throws {
    let bench = try Bench(
      Self.configuration([Self.videoProtocol, .reject(["height"], reason: "no"), Self.height, .reject([])]), input)
    let error = try bench.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(bench.tap.requests == requests)
    for tried in ["H264 over RTP, 320×240 (rejected: videoProtocol)", "H264 over RAW, 320×240 (rejected: height)"] {
      #expect(error.text.contains(tried), "\(error)")
    }
    #expect(error.text.contains("start without parameters"), "\(error)")
    switch input {
    case .any: #expect(error.text.contains("H264 over RAW, 160×120 (rejected: height)"), "\(error)")
    case .fixed: #expect(error.text.contains("160×120") && error.text.contains("videoconvertscale"), "\(error)")
    case .encoded: #expect(error.text.contains("160×120") && error.text.contains("encode"), "\(error)")
    }
    bench.pipeline.stop()
  }

  @Test("No common format", arguments: ["", "video-formats=rtp"]) func noCommonFormat(properties: String) throws {
    let formats =
      properties.isEmpty ? [VideoStreamingFormat(videoProtocol: "WEBM", codec: "VP9")] : [.rawH264]
    let bench = try Bench(Self.configuration(formats: formats), properties: properties)
    let error = try bench.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT) && error.text.contains("no common format"), "\(error)")
    #expect(error.text.contains(formats[0].description), "\(error)")
    #expect(error.text.contains("video-formats") == !properties.isEmpty)
    #expect(bench.tap.requests == [])
  }

  /// After a refusal: new rates are no reason to request again what was refused.
  @Test func newRatesLeaveTheStreamAlone() throws {
    let bench = try Bench(Self.configuration([Self.videoProtocol, .regular]))
    #expect(try bench.waitForStart()["protocol"] == "RAW")
    var update = VideoStreamingCapability()
    update.preferredFPS = 10
    bench.headUnit.server.perform(.update(update))
    let sink = try bench.pipeline.sink
    func told() -> String { sink["head-unit"]?.filter { $0 != "\\" } ?? "" }
    #expect(eventually { told().contains("preferred-fps=(int)10") }, "\(told())")
    try bench.headUnit.waitForFrames(bench.headUnit.record.video.count + 5)
    #expect(bench.tap.requests == ["RTP 320×240", "RAW 320×240"])
    #expect(bench.headUnit.record.stopReasons.isEmpty)
  }

  /// A new scale is that of the size that is streamed; the refused size is not requested again.
  @Test func newScaleOfTheSizeThatIsStreamed() throws {
    let bench = try Bench(Self.configuration([Self.width, .regular]))
    #expect(try bench.waitForStart()["width"] == "160")
    let recorder = NavigationRecorder(at: try bench.pipeline.sink.pad("sink"), consumesEvents: true) {}
    try bench.expectVideo(160, 120)
    var update = VideoStreamingCapability()
    update.scale = 2
    bench.headUnit.server.perform(.update(update))
    #expect(try bench.waitForStart()["width"] == "120")
    try bench.expectVideo(120, 90)
    #expect(bench.tap.requests == ["RTP 320×240", "RTP 160×120", "RTP 120×90"])
    bench.headUnit.server.perform(try #require(try HeadUnitCommand.parse("touch begin 0 120 90")))
    _ = try recorder.wait(for: "touch") { $0.contains("touch-down 0 (60.0, 45.0)") }
  }

  /// Formats are those of the display that is streamed.
  @Test func formatsOfTheDisplay() throws {
    let configuration = Self.configuration(formats: [VideoStreamingFormat(videoProtocol: "WEBM", codec: "VP9")]).with {
      $0.videoCapability?.additionalCapabilities?[0].supportedFormats = [.rtpH264]
    }
    let bench = try Bench(configuration)
    #expect(try bench.waitForStart()["protocol"] == "RTP")
    #expect(bench.tap.requests == ["RTP 160×120"])
  }

  /// A player pauses until the head unit has taken one, and nothing is lost.
  @Test(arguments: [true, false]) func fileOfARefusedSize(isRaw: Bool) throws {
    let units = isRaw ? [] : try encodedUnits(8)
    let harness = try SinkHarness(
      Self.configuration([Self.videoProtocol, Self.width, .regular]), isLive: false,
      caps: isRaw ? Picture.caps() : EncodedUnit.caps(), properties: "sync=false keep-alive-interval=0", isTapped: true)
    let standstills = Standstills()
    try harness.pipeline.play()
    if isRaw { harness.pushPictures(8) }
    for unit in units { harness.push(unit.bytes, flags: unit.flags) }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(harness.tap?.requests == ["RTP 320×240", "RAW 320×240", "bare"])
    let statistics = try harness.statistics
    let lost = standstills.lostFrames(harness.pipeline.pauseDelay)
    #expect(statistics.dropped <= lost, "\(standstills.total), \(statistics)")
    // A frame of H.264 that has waited for too long is sent with the group.
    let count = isRaw ? 8 - statistics.dropped : 8
    #expect(harness.headUnit.record.video.count == count && harness.headUnit.record.violations == [])
    #expect(try decode(harness.headUnit.record.video, width: 320, height: 240).count == count)
  }

  /// A source that might send another size, but does not, is not waited for without end.
  @Test func upstreamDoesNotFollow() throws {
    let harness = try SinkHarness(Self.configuration([Self.width, .regular]), isTapped: true)
    gst_pad_add_probe(
      try harness.pipeline["src"].pad("src"), GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, leaveUnanswered, nil, nil)
    let began = MonotonicClock.now
    try harness.pipeline.play()
    #expect(try harness.deliverFirst() == 0)
    // The size that was refused, the one that upstream might send, and then none.
    #expect(harness.tap?.requests == ["RTP 320×240", "RTP 160×120", "bare"])
    #expect(MonotonicClock.now - began < .seconds(25))
  }
}

/// CAPS queries get no answer: anything may come.
private func leaveUnanswered(
  _ pad: UnsafeMutablePointer<GstPad>?, _ info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
) -> GstPadProbeReturn {
  guard let query = gst_pad_probe_info_get_query(info), query.pointee.type == GST_QUERY_CAPS else {
    return GST_PAD_PROBE_OK
  }
  return GST_PAD_PROBE_DROP
}
