import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLLink
import Testing

/// Frames from the test, through the sink, to a head unit.
final class SinkHarness {
  let headUnit: TestHeadUnit
  /// Nil unless asked for.
  let tap: WireTap?
  let pipeline: Pipeline
  let source: FrameSource
  private let isLive: Bool
  /// Of the frame that is pushed next.
  private(set) var index = 0
  /// When ``deliver(_:ofEach:)`` pushed last, and the longest time from that to the arrival of the next picture.
  private var delivery: (last: Duration?, longest: Duration) = (nil, .zero)

  /// - Parameters:
  ///   - isLive: whether the source counts as live.
  ///   - isPlayer: see ``Pipeline/followBuffering()``; nil for what suits the source.
  ///   - caps: of the source.
  ///   - properties: of the sink, as for gst-launch. Repeats would come in between when the machine is busy.
  ///   - isTapped: whether to record what the sink sends.
  init(
    _ configuration: HeadUnitConfiguration = .small(), isLive: Bool = true, isPlayer: Bool? = nil,
    caps: String = Picture.caps(), frameRate: Int = 30, properties: String = "sync=false keep-alive-interval=0",
    isTapped: Bool = false
  ) throws {
    self.isLive = isLive
    headUnit = try TestHeadUnit(configuration)
    tap = isTapped ? try WireTap(to: headUnit) : nil
    pipeline = try Pipeline(
      "appsrc name=src format=time is-live=\(isLive) ! sdlvideosink name=sink uri=\(tap?.uri ?? headUnit.uri) \(properties)"
    )
    if isPlayer ?? !isLive { try pipeline.followBuffering() }
    source = try FrameSource(pipeline, caps: caps, frameRate: frameRate)
    headUnit.otherEnd = { [weak pipeline] in "sink: \((try? pipeline?.sink.statistics.fields) ?? [:])" }
  }

  /// Nothing that a test does makes the sink keep what it was given.
  deinit {
    pipeline.stop()
    source.liveBuffers.expectNone()
  }

  /// Pushes the next frame; returns its index.
  @discardableResult
  func push(_ bytes: [UInt8], flags: GstBufferFlags = GstBufferFlags(rawValue: 0)) -> Int {
    source.push(bytes, at: index, flags: flags)
    defer { index += 1 }
    return index
  }

  /// Pushes a buffer, which belongs to the caller so far, as the next frame.
  func push(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    source.push(buffer, at: index)
    index += 1
  }

  /// Pushes the picture that belongs to the next index.
  @discardableResult
  func pushPicture(_ width: Int = 320, _ height: Int = 240) -> Int {
    push(Picture(width, height, index).bytes)
  }

  func pushPictures(_ count: Int) {
    for _ in 0..<count { pushPicture() }
  }

  /// Plays until frames may be sent; a file plays from then on, so that none of its frames is late. A frame without a
  /// picture, which is never sent, takes the caps to the sink.
  func start() throws {
    if isLive { try pipeline.play() } else { pipeline.setState(GST_STATE_PAUSED) }
    push([], flags: GST_BUFFER_FLAG_GAP)
    try pipeline.waitForElementMessage("sdl-stream-started")
    if !isLive { try pipeline.reach(GST_STATE_PLAYING) }
  }

  /// Pushes pictures one after the other, until the head unit has `count` more of them, in order.
  /// - Parameter step: how many pictures lead to one at the head unit.
  func deliver(_ count: Int, ofEach step: Int = 1) throws {
    for _ in 0..<count {
      let expected = headUnit.record.video.count + 1
      let now = MonotonicClock.now
      pushPictures(step)
      try headUnit.waitForFrames(expected)
      delivery = (now, max(delivery.longest, MonotonicClock.now - (delivery.last ?? now)))
    }
  }

  /// Which of the delivered pictures are key frames. After 0.75 s without any, as on a machine that stands still, one
  /// more is right.
  func expectKeyFrames(_ expected: [Bool], sourceLocation: SourceLocation = #_sourceLocation) {
    let hasPaused = delivery.longest > .milliseconds(700)
    let found = headUnit.record.video.map(isKeyFrame)
    #expect(found == expected || hasPaused, "\(found), \(delivery)", sourceLocation: sourceLocation)
  }

  var statistics: Statistics { get throws { try pipeline.sink.statistics } }
}
