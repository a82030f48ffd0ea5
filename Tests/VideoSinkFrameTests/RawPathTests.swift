import CGStreamerApp
import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLAppLink

/// Raw pictures on their way to the queue.
@Suite struct RawPathTests {
  private let bench: FrameBench

  init() throws {
    bench = try FrameBench(isLive: true)
  }

  /// Its room was taken by what came first, so the next ones can't depend on it.
  @Test func aDeferredPictureWithoutRoomIsDropped() throws {
    let grant = bench.grant(1)
    let permission = bench.permission(grant)
    try bench.setGrant(grant)
    let path = RawPath(bench.output, keyFrameRequest: AtomicFlag())
    gst_video_info_set_format(&path.info, GST_VIDEO_FORMAT_I420, 320, 240)
    path.begin(grant)
    bench.fill(for: grant)
    let bytes = Picture(320, 240, 1).bytes
    let buffer = try nonNull(gst_buffer_new_memdup(bytes, gsize(bytes.count)))
    defer { gst_buffer_unref(buffer) }
    let frame = InputFrame(buffer, of: bench.sink)
    bench.sink.count { $0.frameArrived() }
    #expect(path.begin(frame))
    bench.output.observeLink(permission.targets)
    let outcome = path.send(frame, permission)
    guard case .queued = outcome else { throw TestFailure("\(outcome)") }
    #expect(bench.takeResults().timer.map { $0 > bench.clock.now } == true)
    #expect(bench.sink.counters.framesQueued == 1 && !bench.output.needsKeyFrame)
    // Nothing follows, so it does not wait any longer.
    let next = path.sendWaiting(permission, isLast: true, now: bench.clock.now)
    #expect(next == nil && bench.output.needsKeyFrame)
    _ = bench.takeResults()
    let counters = bench.sink.counters
    #expect(counters.dropped(.queueFull) == 1 && counters.framesQueued == 0 && counters.encodings.count == 1)
    // It does not wait any more.
    #expect(path.takeDeferred() == nil)
  }

  /// It stands for one that was to be shown, of which nothing is left.
  @Test func aLatePictureInPlaceOfADeferredOneIsSent() throws {
    let grant = bench.grant(1)
    let permission = bench.permission(grant)
    try bench.setGrant(grant)
    let path = RawPath(bench.output, keyFrameRequest: AtomicFlag())
    gst_video_info_set_format(&path.info, GST_VIDEO_FORMAT_I420, 320, 240)
    let clock = try nonNull(gst_system_clock_obtain())
    defer { gst_object_unref(clock) }
    gst_element_set_clock(bench.sink.gstElement, clock)
    func send(isDue: Bool = false) throws -> FrameOutcome {
      let bytes = Picture(320, 240, 1).bytes
      let buffer = try nonNull(gst_buffer_new_memdup(bytes, gsize(bytes.count)))
      defer { gst_buffer_unref(buffer) }
      // As many seconds late as the machine is up.
      buffer.pointee.pts = 0
      var frame = InputFrame(buffer, of: bench.sink)
      frame.isDue = isDue
      bench.sink.count { $0.frameArrived() }
      #expect(path.begin(frame))
      path.begin(grant)
      bench.output.observeLink(permission.targets)
      return path.send(frame, permission)
    }
    bench.fill(for: grant)
    guard case .queued = try send() else { throw TestFailure("not deferred") }
    guard case .dropped(.late, GST_FLOW_OK) = try send() else { throw TestFailure("not late") }
    #expect(path.takeDeferred() != nil)
    guard case .queued = try send(isDue: true) else { throw TestFailure("not sent") }
  }

  /// With what comes before it, and the connection stops waiting for the link as well.
  @Test(arguments: [true, false]) func aDeferredPictureIsGivenUp(byAFlush: Bool) throws {
    let grant = bench.grant(1)
    let permission = bench.permission(grant)
    try bench.setGrant(grant)
    let path = RawPath(bench.output, keyFrameRequest: AtomicFlag())
    path.begin(grant)
    bench.fill(for: grant)
    let buffer = try nonNull(gst_buffer_new())
    defer { gst_buffer_unref(buffer) }
    let frame = InputFrame(buffer, of: bench.sink)
    bench.sink.count { $0.frameArrived() }
    #expect(path.begin(frame))
    bench.output.observeLink(permission.targets)
    guard case .queued = path.send(frame, permission) else { throw TestFailure("not deferred") }
    func isAwaiting() -> Bool { bench.connection.writer.awaitsAcknowledgement(.video) }
    #expect(isAwaiting() && bench.sink.counters.framesQueued == 1)
    for _ in 0..<2 { if byAFlush { path.flush() } else { path.forget() } }
    let counters = bench.sink.counters
    #expect(counters.dropped(.discarded) == 1 && counters.framesQueued == 0 && !isAwaiting())
    #expect(path.takeDeferred() == nil)
    path.forget()
    #expect(buffer.pointee.mini_object.refcount == 1)
  }

  /// A picture of a file that could not be sent is shown later, unless it belongs to something that is over.
  @Test(arguments: ["the end", "a flush", "another input", "another picture"])
  func aPictureIsNotShownLater(after event: String) throws {
    let bench = try FrameBench()
    let path = RawPath(bench.output, keyFrameRequest: AtomicFlag())
    let buffers = try (0..<2).map { _ in try nonNull(gst_buffer_new()) }
    defer { for buffer in buffers { gst_buffer_unref(buffer) } }
    let frames = buffers.map { InputFrame($0, of: bench.sink) }
    #expect(path.begin(frames[0]))
    guard case .dropped(.suspended, GST_FLOW_OK) = path.pass(frames[0], .suspended) else {
      throw TestFailure("not dropped")
    }
    #expect(path.nextTimer(now: bench.clock.now) != nil)
    switch event {
    case "the end": path.inputEnded()
    case "a flush": path.flush()
    case "another input": path.forget()
    default: #expect(path.begin(frames[1]))
    }
    #expect(path.nextTimer(now: bench.clock.now) == nil)
    path.forget()
    #expect(buffers.map(\.pointee.mini_object.refcount) == [1, 1])
  }

  /// It posts its error, and frames fail once it has.
  @Test func framesWaitForTheErrorOfAnotherThread() throws {
    let bench = try FrameBench()
    bench.sink.settings.withLock { $0.encoder.name = "openh264enc" }
    let grant = bench.grant(1)
    let permission = bench.permission(grant)
    try bench.setGrant(grant)
    let path = RawPath(bench.output, keyFrameRequest: AtomicFlag())
    // Smaller than this encoder takes.
    gst_video_info_set_format(&path.info, GST_VIDEO_FORMAT_I420, 8, 8)
    let bytes = Picture(8, 8, 1).bytes
    let buffer = try nonNull(gst_buffer_new_memdup(bytes, gsize(bytes.count)))
    defer { gst_buffer_unref(buffer) }
    let frame = InputFrame(buffer, of: bench.sink)
    #expect(path.begin(frame))
    path.sendLastPicture(permission, at: bench.clock.now)
    #expect(bench.takeResults().announcements.filter(\.isError).count == 1)
    for _ in 0..<2 {
      bench.sink.count { $0.frameArrived() }
      guard case .dropped(.noPicture, GST_FLOW_OK) = path.send(frame, permission) else { throw TestFailure("it fails") }
      path.sendLastPicture(permission, at: bench.clock.now)
    }
    #expect(bench.takeResults().announcements.filter(\.isError).isEmpty)
    // Other pictures get another encoder.
    path.forget()
    #expect(path.begin(frame))
    guard case .failed(_?, _) = path.send(frame, permission) else { throw TestFailure("it does not fail") }
  }

  /// Its time has not come while the pipeline only pauses.
  @Test func thePictureOfAPrerollIsShownAtItsTime() throws {
    let buffers = try (0..<3).map { _ in try nonNull(gst_buffer_new()) }
    defer { for buffer in buffers { gst_buffer_unref(buffer) } }
    let last = LastPicture()
    #expect(last.picture(at: 5) == nil)
    last.show(buffers[0])
    last.preroll(buffers[1], for: 100)
    #expect(last.picture(at: 99) == buffers[0] && last.picture(at: 100) == buffers[1])
    // From then on it is the last one, whatever the time.
    #expect(last.picture(at: 0) == buffers[1])
    // Without a time it is shown at once.
    last.preroll(buffers[2], for: .max)
    #expect(last.picture(at: 0) == buffers[2])
    // Another one has come in its place.
    last.preroll(buffers[0], for: 100)
    last.show(buffers[1])
    #expect(last.picture(at: 200) == buffers[1])
    last.preroll(buffers[2], for: 300)
    last.forget()
    #expect(last.picture(at: 400) == nil)
    #expect(buffers.map(\.pointee.mini_object.refcount) == [1, 1, 1])
  }
}

extension FrameResults.Announcement {
  fileprivate var isError: Bool { if case .error = self { true } else { false } }
}
