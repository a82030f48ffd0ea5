import CGStreamerApp
import GStreamerKit
import H264
import SDLHeadUnit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin

/// A source that may be asked for other sizes, the sink, and a head unit that resizes.
final class ResizeHarness {
  let headUnit: TestHeadUnit
  let pipeline: Pipeline

  /// - Parameters:
  ///   - source: of the pipeline, as for gst-launch.
  ///   - properties: of the sink.
  init(
    _ configuration: HeadUnitConfiguration = .small(frameRate: 60),
    source: String = "videotestsrc name=src is-live=true pattern=ball ! video/x-raw,format=I420,framerate=60/1",
    properties: String = "keep-alive-interval=0"
  ) throws {
    headUnit = try TestHeadUnit(configuration)
    pipeline = try Pipeline("\(source) ! sdlvideosink name=sink uri=\(headUnit.uri) \(properties)")
  }

  /// Plays until the head unit has a few frames.
  func start() throws {
    try pipeline.play()
    try headUnit.waitForFrames(2)
  }

  func resize(_ size: VideoSize, scale: Double? = 1) {
    headUnit.server.perform(.resize(size, scale: scale))
  }

  func update(_ update: VideoStreamingCapability) throws {
    headUnit.server.control(.app(try headUnit.waitForApp())) { $0.updateCapability(update, now: $1) }
  }

  /// Waits until the head unit's size has reached the sink.
  func waitUntilKnown(_ size: VideoSize) throws {
    let sink = try pipeline.sink
    let known = { (sink.structure("head-unit")?["video-capability"] ?? "").filter { $0 != "\\" && $0 != " " } }
    guard eventually({ known().contains("width=(int)\(size.width),height=(int)\(size.height),") }) else {
      throw TestFailure("\(size) is not known: \(known()) \(pipeline.drain())")
    }
  }

  /// Waits for a service of this size, the last one, and for as many frames in it.
  /// - Parameter reopening: whether the driver opens the app again when it has left the screen.
  func waitForFrames(_ count: Int = 3, of size: VideoSize, reopening: Bool = false) throws {
    let deadline = MonotonicClock.now + testTimeout
    while MonotonicClock.now < deadline {
      var isGone = false
      let hasCome = headUnit.await(until: deadline) { record in
        isGone = reopening && record.status?.level != .full
        guard let start = record.starts.last, record.startedSizes.last == size else { return isGone }
        return isGone || record.video.count >= start + count
      }
      if hasCome, !isGone { return }
      if isGone { try headUnit.show(.full) }
    }
    let record = headUnit.record
    throw TestFailure(
      "no \(count) frames of \(size), but of \(record.startedSizes.suffix(4)), \(record.refusals) refusals, "
        + "\(record.services.suffix(2).map(\.count)) frames, \(complaints)")
  }

  /// Everything that the head unit has got is a stream of the size that it was started in, from the first frame on, and
  /// a decoder makes a picture of each frame.
  func expectDecodable(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let record = headUnit.record
    #expect(record.violations == [], sourceLocation: sourceLocation)
    var expected: [VideoSize] = []
    for (size, units) in zip(record.startedSizes, record.services) {
      guard let first = units.first else { continue }
      #expect(first.startsStream, sourceLocation: sourceLocation)
      let parameters = try parameterSet(first)
      #expect(
        VideoSize(parameters.width, parameters.height) == size, "first of \(units.count)",
        sourceLocation: sourceLocation)
      expected += units.map { _ in size }
    }
    #expect(try decodedSizes(of: record.services.flatMap { $0 }) == expected, sourceLocation: sourceLocation)
  }

  /// `sdl-resized` so far, as "320x240 to 480x320".
  var resizes: [String] {
    pipeline.drain().filter { $0.isElement("sdl-resized") }.map { message in
      let field = { (name: String) in message.fields[name] ?? "?" }
      return "\(field("old-width"))x\(field("old-height")) to \(field("width"))x\(field("height"))"
    }
  }

  /// Neither errors nor warnings.
  func expectNoComplaint(sourceLocation: SourceLocation = #_sourceLocation) {
    let complaints = complaints
    #expect(complaints.isEmpty, "\(complaints)", sourceLocation: sourceLocation)
  }

  /// Errors and warnings, except GstBaseSink's own of a machine that is too slow for the frames that the test sends.
  private var complaints: [BusMessage] {
    pipeline.drain().filter { message in
      message.error != nil || message.warning.map { !$0.text.hasPrefix("A lot of buffers are being dropped") } ?? false
    }
  }

  /// The sink's error comes first: elements upstream must not end the pipeline before it has named the cause.
  func expectNoOtherError(sourceLocation: SourceLocation = #_sourceLocation) {
    let errors = pipeline.drain().filter { $0.error != nil }
    #expect(errors.first?.source == "sink", "\(errors)", sourceLocation: sourceLocation)
  }

  /// Stops a pipeline after resizes: every resize has its message, no errors, and the video can be decoded.
  func expectSettled(sourceLocation: SourceLocation = #_sourceLocation) throws {
    // The counter may be ahead of the messages on the bus.
    let areAllReported = eventually { (try? statistics["resizes"]) == resizes.count }
    #expect(areAllReported, "\(resizes.count) reported", sourceLocation: sourceLocation)
    expectNoComplaint(sourceLocation: sourceLocation)
    pipeline.stop(sourceLocation: sourceLocation)
    #expect(try statistics.areFramesConserved, sourceLocation: sourceLocation)
    try expectDecodable(sourceLocation: sourceLocation)
  }

  var statistics: Statistics { get throws { try pipeline.sink.statistics } }
}

extension TestHeadUnit.Record {
  /// What each video service was started in.
  var startedSizes: [VideoSize] {
    events.compactMap { event in
      guard case .videoStarted(let parameters, _) = event else { return nil }
      return VideoSize(Int(parameters.width ?? 0), Int(parameters.height ?? 0))
    }
  }

  /// The last HMI status that was sent to the app.
  var status: HMIStatus? {
    for case .hmiStatusSent(let status) in events.reversed() { return status }
    return nil
  }

  /// The access units of each video service.
  var services: [[[UInt8]]] {
    zip(starts, starts.dropFirst() + [video.count]).map { Array(video[$0..<$1]) }
  }
}

/// The sizes of the pictures that libav makes of access units; those that it refuses are missing.
func decodedSizes(of units: [[UInt8]]) throws -> [VideoSize] {
  let pipeline = try Pipeline(
    "appsrc name=src format=time ! h264parse ! avdec_h264 max-threads=1 ! appsink name=out sync=false")
  let source = try FrameSource(pipeline, caps: "video/x-h264,stream-format=byte-stream,alignment=au")
  try pipeline.play()
  for (index, unit) in units.enumerated() { source.push(unit, at: index) }
  source.end()
  let sink: UnsafeMutablePointer<GstAppSink> = try pipeline["out"].pointer.cast()
  var sizes: [VideoSize] = []
  while let sample = gst_app_sink_try_pull_sample(sink, GstClockTime(testTimeout.nanoseconds)) {
    var width: gint = 0
    var height: gint = 0
    if let structure = gst_sample_get_caps(sample).flatMap({ gst_caps_get_structure($0, 0) }) {
      gst_structure_get_int(structure, "width", &width)
      gst_structure_get_int(structure, "height", &height)
    }
    sizes.append(VideoSize(Int(width), Int(height)))
    gst_sample_unref(sample)
  }
  return sizes
}
