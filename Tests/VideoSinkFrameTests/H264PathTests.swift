import CGStreamerApp
import GStreamerKit
import SDLApp
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Frames of H.264 that a decoder needs again, or that wait for one.
@Suite struct H264PathTests {
  /// A key frame, and frames that depend on it.
  private let units: [EncodedUnit]

  init() throws {
    units = try encodedUnits(4, width: 32, height: 32, keyFrameInterval: 100)
  }

  /// Runs `body` with the frames; shown at times that have not come, unless `isDue` says so.
  private func withFrames(
    _ bench: FrameBench, isDue: Bool = false, _ body: ([InputFrame]) throws -> Void
  ) throws {
    let buffers = try units.enumerated().map { index, unit in
      let buffer = try nonNull(gst_buffer_new_memdup(unit.bytes, gsize(unit.bytes.count)))
      gst_buffer_set_flags(buffer, unit.flags)
      buffer.pointee.pts = isDue ? 0 : GstClockTime(index + 1) * 33_000_000
      return buffer
    }
    defer { for buffer in buffers { gst_buffer_unref(buffer) } }
    for _ in buffers { bench.sink.count { $0.frameArrived() } }
    try body(buffers.map { InputFrame($0, of: bench.sink) })
  }

  private func expectQueued(_ outcome: FrameOutcome, sourceLocation: SourceLocation = #_sourceLocation) {
    guard case .queued = outcome else {
      Issue.record("\(outcome)", sourceLocation: sourceLocation)
      return
    }
  }

  private func begin(_ frame: InputFrame, _ path: H264Path) throws {
    let isReadable = try path.begin(frame)
    #expect(isReadable)
  }

  /// Sends frames as they come in a service.
  private func send(_ frames: ArraySlice<InputFrame>, _ path: H264Path, _ bench: FrameBench, _ epoch: UInt32) throws {
    let permission = bench.permission(bench.grant(epoch))
    for frame in frames {
      try begin(frame, path)
      path.begin(permission.grant)
      expectQueued(path.send(frame, permission))
    }
  }

  private func byteCount(_ indices: Int...) -> UInt64 { indices.reduce(0) { $0 + UInt64(units[$1].bytes.count) } }

  /// A new decoder in PAUSED gets the key frame alone, once; then all that it needs for the next frame.
  @Test func aPausedFilmGoesOnInAnotherService() throws {
    let bench = try FrameBench()
    try withFrames(bench) { frames in
      let path = H264Path(bench.output)
      try bench.setGrant(bench.grant(1))
      try send(frames[..<2], path, bench, 1)
      #expect(path.isLast(frames[1].buffer) && !path.isLast(frames[0].buffer))
      try bench.setGrant(bench.grant(2))
      try path.preroll(frames[2])
      for _ in 0..<2 {
        let next = path.sendWaiting(bench.permission(bench.grant(2)), isLast: false, now: bench.clock.now)
        #expect(next == nil && bench.sink.counters.framesRepeated == 1 && bench.output.needsKeyFrame)
      }
      try send(frames[2..<3], path, bench, 2)
      let counters = bench.sink.counters
      #expect(counters.framesSent == 3 && counters.framesRepeated == 3 && counters.keyFramesSent == 3)
      #expect(counters.videoBytesSent == byteCount(0, 1, 0, 0, 1, 2) && !bench.output.needsKeyFrame)
      path.forget()
      withExtendedLifetime(bench) {}
    }
  }

  /// The service ends while a frame waits for room, or those before it that the decoder needs again.
  @Test(arguments: [1, 2]) func aFilmGoesOnAfterAFrameThatWasTooLate(epoch: UInt32) throws {
    let bench = try FrameBench()
    try withFrames(bench) { frames in
      let path = H264Path(bench.output)
      try bench.setGrant(bench.grant(1))
      try send(frames[..<2], path, bench, 1)
      try bench.setGrant(nil)
      try begin(frames[2], path)
      path.begin(bench.grant(epoch))
      let late = path.send(frames[2], bench.permission(bench.grant(epoch)))
      guard case .remembered(.notStreaming) = late else { throw TestFailure("\(late)") }
      #expect(bench.output.needsKeyFrame)
      try bench.setGrant(bench.grant(3))
      let before = bench.sink.counters.videoBytesSent
      try send(frames[3...], path, bench, 3)
      let counters = bench.sink.counters
      #expect(counters.framesRepeated == 3 && counters.videoBytesSent == before + byteCount(0, 1, 2, 3))
      path.forget()
      withExtendedLifetime(bench) {}
    }
  }

  /// As after a seek: it is not sent again when it is rendered.
  @Test func aFrameThatIsDueIsShownInPaused() throws {
    let bench = try FrameBench()
    try withFrames(bench, isDue: true) { frames in
      let path = H264Path(bench.output)
      try bench.setGrant(bench.grant(1))
      try send(frames[..<2], path, bench, 1)
      try path.preroll(frames[2])
      for _ in 0..<2 {
        _ = path.sendWaiting(bench.permission(bench.grant(1)), isLast: false, now: bench.clock.now)
        #expect(bench.sink.counters.framesRepeated == 1)
      }
      #expect(path.isLast(frames[2].buffer))
      #expect(bench.sink.counters.videoBytesSent == byteCount(0, 1, 2))
      path.forget()
      #expect(!path.isLast(frames[2].buffer))
      withExtendedLifetime(bench) {}
    }
  }

  /// The next frames can't depend on it then.
  @Test func aFrameThatIsDueHasNoRoom() throws {
    let bench = try FrameBench()
    try withFrames(bench, isDue: true) { frames in
      let path = H264Path(bench.output)
      let permission = bench.permission(bench.grant(1))
      bench.output.setInput(nil, isEncoded: true, nil)
      try bench.setGrant(permission.grant)
      try send(frames[..<1], path, bench, 1)
      // Above the queue's limit, it is taken alone.
      #expect(bench.queue(9 << 20, for: permission.grant) == nil)
      #expect(!bench.connection.video.isFull)
      let before = bench.sink.counters.framesRepeated
      try path.preroll(frames[1])
      _ = path.sendWaiting(permission, isLast: false, now: bench.clock.now)
      #expect(bench.sink.counters.framesRepeated == before)
      #expect(bench.output.needsKeyFrame && !bench.output.isShowing(permission.grant))
      path.forget()
      withExtendedLifetime(bench) {}
    }
  }

  /// A frame after a loss, as upstream says, can't be decoded with those before it.
  @Test func aDiscontinuityNeedsAKeyFrame() throws {
    let bench = try FrameBench()
    try withFrames(bench) { frames in
      let path = H264Path(bench.output)
      try bench.setGrant(bench.grant(1))
      try send(frames[..<2], path, bench, 1)
      gst_buffer_set_flags(frames[2].buffer, GST_BUFFER_FLAG_DISCONT)
      try begin(frames[2], path)
      #expect(bench.output.needsKeyFrame && !path.isLast(frames[1].buffer))
      let outcome = path.send(frames[2], bench.permission(bench.grant(1)))
      guard case .dropped(.waitingForKeyFrame, GST_FLOW_OK) = outcome else { throw TestFailure("\(outcome)") }
      withExtendedLifetime(bench) {}
    }
  }

  /// A file's frames are remembered while nothing is shown, if the key frame is among them.
  @Test func aFileIsRemembered() throws {
    let bench = try FrameBench()
    try withFrames(bench) { frames in
      let path = H264Path(bench.output)
      let lost = path.pass(frames[1], .suspended)
      guard case .dropped(.suspended, GST_FLOW_OK) = lost else { throw TestFailure("\(lost)") }
      for (index, reason) in [(0, FrameDropReason.suspended), (1, .notStreaming)] {
        try begin(frames[index], path)
        let outcome = path.pass(frames[index], reason)
        guard case .remembered(reason) = outcome else { throw TestFailure("\(outcome)") }
      }
      #expect(path.waitingCount == 0 && !path.lacksPicture)
      let late = path.pass(frames[2], .late)
      guard case .dropped(.late, GST_FLOW_OK) = late else { throw TestFailure("\(late)") }
      // The next decoder begins with them.
      try bench.setGrant(bench.grant(1))
      try send(frames[2..<3], path, bench, 1)
      let counters = bench.sink.counters
      #expect(counters.framesRepeated == 2 && counters.videoBytesSent == byteCount(0, 1, 2))
      path.forget()
      withExtendedLifetime(bench) {}
    }
  }

  /// A live source's frames wait for the service from a key frame on; another one replaces them.
  @Test func liveFramesWait() throws {
    let bench = try FrameBench(isLive: true)
    try withFrames(bench) { frames in
      let path = H264Path(bench.output)
      let early = path.pass(frames[1], .notStreaming)
      guard case .dropped(.notStreaming, GST_FLOW_OK) = early else { throw TestFailure("\(early)") }
      #expect(path.lacksPicture && path.waitingCount == 0)
      try begin(frames[0], path)
      for index in [0, 1] { expectQueued(path.pass(frames[index], .notStreaming)) }
      #expect(!path.lacksPicture && path.waitingCount == 2)
      _ = bench.takeResults()
      expectQueued(path.pass(frames[0], .notStreaming))
      let losses = bench.takeResults().announcements
      #expect(path.waitingCount == 1 && bench.sink.counters.dropped(.notStreaming) == 2 && losses.count == 1)
      // Upstream is late.
      expectQueued(path.pass(frames[1], .notStreaming))
      let suspended = path.pass(frames[2], .suspended)
      guard case .dropped(.suspended, GST_FLOW_OK) = suspended else { throw TestFailure("\(suspended)") }
      #expect(path.lacksPicture)
      try bench.setGrant(bench.grant(1))
      let next = path.sendWaiting(bench.permission(bench.grant(1)), isLast: false, now: bench.clock.now)
      #expect(next == nil && path.waitingCount == 0)
      #expect(bench.sink.counters.framesSent == 2 && bench.sink.counters.videoBytesSent == byteCount(0, 1))
      withExtendedLifetime(bench) {}
    }
  }

  /// They begin in another service than the one that is there, or are not sent any more.
  @Test func liveFramesThatAreGivenUp() throws {
    let bench = try FrameBench(isLive: true)
    try withFrames(bench) { frames in
      let path = H264Path(bench.output)
      try begin(frames[0], path)
      for index in [0, 1, 2] { expectQueued(path.pass(frames[index], .notStreaming)) }
      path.dropWaiting(.suspended)
      #expect(path.waitingCount == 0 && bench.sink.counters.dropped(.suspended) == 3)
      #expect(bench.sink.counters.framesQueued == 1)
      withExtendedLifetime(bench) {}
    }
  }

  /// Each loss asks for a key frame of its own, once.
  @Test func eachLossRequestsAKeyFrame() throws {
    let bench = try FrameBench(isLive: true)
    try withFrames(bench) { frames in
      let path = H264Path(bench.output)
      let permission = bench.permission(bench.grant(1))
      try bench.setGrant(permission.grant)
      for _ in 0..<2 {
        path.resynchronize()
        for (frame, count) in [(frames[1], 1), (frames[2], 0), (frames[0], 0)] {
          try begin(frame, path)
          path.begin(permission.grant)
          _ = path.send(frame, permission)
          let requests = bench.takeResults().announcements.count {
            if case .keyFrameRequest = $0 { true } else { false }
          }
          #expect(requests == count)
        }
      }
      withExtendedLifetime(bench) {}
    }
  }

  /// The key frame that was requested may be among those that are dropped because the link is late.
  @Test func aKeyFrameIsRequestedAgainAfterALateLink() throws {
    let bench = try FrameBench(isLive: true)
    try withFrames(bench) { frames in
      let path = H264Path(bench.output)
      let permission = bench.permission(bench.grant(1))
      try bench.setGrant(permission.grant)
      func send(_ frame: InputFrame) throws -> FrameOutcome {
        try begin(frame, path)
        path.begin(permission.grant)
        bench.output.observeLink(permission.targets)
        return path.send(frame, permission)
      }
      func requestCount() -> Int {
        bench.takeResults().announcements.count { if case .keyFrameRequest = $0 { true } else { false } }
      }
      expectQueued(try send(frames[0]))
      bench.clock.advance(by: .milliseconds(10))
      bench.readAll()
      path.resynchronize()
      let missed = try send(frames[1])
      guard case .dropped(.waitingForKeyFrame, GST_FLOW_OK) = missed else { throw TestFailure("\(missed)") }
      #expect(requestCount() == 1)
      // Other bytes are on the way for longer than encoded pictures may be, which is three times the latency.
      #expect(bench.output.submitNow(bench.payload(.notice, 20_000), permission.grant) == nil)
      bench.clock.advance(by: .milliseconds(600))
      let late = try send(frames[0])
      guard case .dropped(.latency, GST_FLOW_OK) = late else { throw TestFailure("\(late)") }
      #expect(requestCount() == 0)
      bench.clock.advance(by: .milliseconds(10))
      bench.readAll()
      let next = try send(frames[2])
      guard case .dropped(.waitingForKeyFrame, GST_FLOW_OK) = next else { throw TestFailure("\(next)") }
      #expect(requestCount() == 1)
      withExtendedLifetime(bench) {}
    }
  }
}
