import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What happens to frames while the stream is suspended by the driver or the app.
@Suite struct SuspendPolicyTests {
  /// Who suspends the stream.
  enum Suspender: CaseIterable {
    case driver, app

    func suspend(_ harness: SinkHarness) throws {
      switch self {
      case .driver: try harness.show(.background)
      case .app: try harness.setAppState(.background)
      }
    }

    func resume(_ harness: SinkHarness) throws {
      switch self {
      case .driver: try harness.show(.full)
      case .app: try harness.setAppState(.foreground)
      }
    }

    /// Of the stream while suspended, and the reason for which it is started again.
    var streamState: String { self == .driver ? "stopped" : "suspended" }
    var reason: String { self == .driver ? "restarted" : "resumed" }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var policy: String
    var isLive: Bool
    /// The application is asked for a pause.
    var asks: Bool

    var testDescription: String { "\(policy), \(isLive ? "live" : "file")" }
  }

  static let cases: [Case] = [
    Case(policy: "auto", isLive: true, asks: false), Case(policy: "auto", isLive: false, asks: true),
    Case(policy: "drop", isLive: true, asks: false), Case(policy: "drop", isLive: false, asks: false),
  ]

  private static let pushed = 4

  /// The application ignores the request.
  @Test(arguments: cases, Suspender.allCases)
  func framesMeanwhile(_ given: Case, suspender: Suspender) throws {
    let harness = try SinkHarness(
      isLive: given.isLive, isPlayer: false,
      properties: "sync=false keep-alive-interval=0 max-latency=0 suspend-policy=\(given.policy)")
    try harness.start()
    try harness.deliver(2)
    for round in 1...2 {
      // A picture that is being encoded when the stream ends would count.
      #expect(
        eventually {
          (try? harness.statistics["frames-in"]) == harness.index && (try? harness.statistics["frames-queued"]) == 0
        })
      try suspender.suspend(harness)
      try harness.wait(forStreamState: suspender.streamState)
      let before = harness.headUnit.record.video.count
      let encoded = try harness.statistics["frames-encoded"]
      harness.pushPictures(Self.pushed)
      if given.asks { try harness.pipeline.wait(for: "request") { $0.buffering == 0 ? true : nil } }
      #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == round * Self.pushed })
      #expect(try harness.statistics.areFramesConserved && harness.headUnit.record.video.count == before)
      #expect(try harness.statistics["frames-encoded"] == encoded)
      try suspender.resume(harness)
      #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == suspender.reason)
      // The last picture of a file, which may be a still one, is seen at once.
      let kept = given.isLive ? 0 : 1
      try harness.headUnit.waitForFrames(before + kept)
      try harness.deliver(2)
      let record = harness.headUnit.record
      #expect(record.video[before].startsStream && record.video.count == before + kept + 2)
      #expect(harness.bufferings == (given.asks ? (0..<round).flatMap { _ in [0, 100] } : []))
    }
    let record = harness.headUnit.record
    #expect(record.violations == [] && record.starts.count == (suspender == .driver ? 3 : 1))
    #expect(try decode(record.video, width: 320, height: 240).count == record.video.count)
    let statistics = try harness.statistics
    #expect(statistics.areFramesConserved && statistics["suspensions"] == 2)
  }

  /// An application that follows each request, until the end of the stream.
  @Test(arguments: Suspender.allCases)
  func applicationThatObeysLosesNothing(suspender: Suspender) throws {
    let standstills = Standstills()
    let (count, frameRate) = (60, 15)
    // Made beforehand: that takes long, and the driver has to leave in the midst of the stream.
    let pictures = (0..<count).map { Picture(320, 240, $0).bytes }
    let harness = try SinkHarness(
      .small(frameRate: frameRate), isLive: false, caps: Picture.caps(frameRate: frameRate), frameRate: frameRate,
      properties: "max-lateness=-1 keep-alive-interval=0")
    try harness.pipeline.play()
    for picture in pictures { harness.push(picture) }
    harness.source.end()
    try harness.headUnit.waitForFrames(6)
    try suspender.suspend(harness)
    try harness.pipeline.wait(for: "request") { $0.buffering == 0 ? true : nil }
    harness.pipeline.setState(GST_STATE_PAUSED)
    try harness.wait(forStreamState: suspender.streamState)
    // Long enough that the remaining frames would come at once if the running time had gone on.
    harness.watch(for: .seconds(1))
    let before = harness.headUnit.record.video.count
    #expect(before < count - 5)
    try suspender.resume(harness)
    try harness.pipeline.wait(for: "request") { $0.buffering == 100 ? true : nil }
    try harness.pipeline.play()
    try harness.pipeline.waitForEnd()
    let lost = standstills.lostFrames(harness.pipeline.pauseDelay)
    let statistics = try harness.statistics
    let (dropped, late) = (statistics.dropped, statistics["frames-dropped-late"])
    #expect(dropped - late <= lost && statistics.shown == count - dropped, "\(statistics), \(lost) may be lost")
    // As a busy machine is, but not as if the running time had gone on.
    #expect(late < frameRate / 2, "\(statistics)")
    // The head unit does not take what was on its way when the driver left.
    let taken = (suspender == .driver ? count - 3 : count) - dropped
    let record = try harness.headUnit.waitForFrames(taken)
    #expect(record.count <= count && record[before].startsStream)
    let arrivals = harness.headUnit.record.arrivals[before...]
    let span = try #require(arrivals.last) - (try #require(arrivals.first))
    #expect(span > .milliseconds((count - before - 2) * 1000 / frameRate / 2), "\(span)")
    // There is another pair before them if the service started late.
    #expect(harness.bufferings.suffix(2) == [0, 100])
    #expect(harness.headUnit.record.violations == [])
  }

  @Test(arguments: Suspender.allCases)
  func requestsComeInPairs(suspender: Suspender) throws {
    // Repeats stand for the pictures that are on their way when the driver leaves, which the head unit does not take.
    let harness = try SinkHarness(isLive: false, properties: "sync=false")
    try harness.start()
    for _ in 0..<60 {
      try suspender.suspend(harness)
      harness.pushPicture()
      try suspender.resume(harness)
    }
    try harness.settle()
    // If the pause takes longer than all pictures so far, it ends with another one.
    _ = try harness.deliverFirst()
    try harness.wait(forStreamState: "streaming")
    try harness.headUnit.waitForFrames(60)
    #expect(eventually { harness.bufferings.count.isMultiple(of: 2) })
    let requests = harness.bufferings
    #expect(requests == (0..<requests.count).map { $0.isMultiple(of: 2) ? 0 : 100 })
    #expect(try harness.statistics.areFramesConserved)
  }

  /// The stream is resumed while a pause is being asked for.
  @Test func requestsKeepTheirOrder() throws {
    let harness = try SinkHarness(isLive: false)
    let bus = try nonNull(gst_element_get_bus(harness.pipeline.element.pointer))
    defer {
      gst_bus_set_sync_handler(bus, nil, nil, nil)
      gst_object_unref(bus)
    }
    try harness.start()
    try harness.deliver(2)
    gst_bus_set_sync_handler(
      bus,
      { _, message, harness in
        guard let message, let harness, BusMessage(message).buffering == 0 else {
          return GST_BUS_PASS
        }
        Unmanaged<SinkHarness>.fromOpaque(harness)._withUnsafeGuaranteedRef { harness in
          try? harness.setAppState(.foreground)
          try? harness.wait(forStreamState: "streaming")
          // The other request would come now.
          harness.watch(for: .milliseconds(50))
        }
        return GST_BUS_PASS
      }, Unmanaged.passUnretained(harness).toOpaque(), nil)
    try harness.setAppState(.background)
    try harness.wait(forStreamState: "suspended")
    // The handler, which waits for the connection thread, must not be called by it: that thread has no more to post.
    try harness.settle()
    harness.pushPictures(2)
    try harness.headUnit.waitForFrames(4)
    #expect(eventually { harness.bufferings.count >= 2 })
    #expect(harness.bufferings == [0, 100])
  }
}

/// H.264 input: after a suspension nothing can be decoded before a key frame, for which upstream is asked.
@Suite struct SuspendedEncodedTests {
  @Test(arguments: SuspendPolicyTests.Suspender.allCases, [true, false])
  func resumesWithAKeyFrame(suspender: SuspendPolicyTests.Suspender, framesComeMeanwhile: Bool) throws {
    let units = try encodedUnits(20, keyFrameInterval: 10)
    let harness = try SinkHarness(caps: EncodedUnit.caps(), properties: "sync=false keep-alive-interval=0")
    let requests = try countKeyFrameRequests(at: harness.pipeline["src"].pad("src"))
    try harness.pipeline.play()
    harness.push(units[0].bytes, flags: units[0].flags)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    // The first one may have come before the service.
    harness.push(units[0].bytes, flags: units[0].flags)
    for unit in units[1..<3] { harness.push(unit.bytes, flags: unit.flags) }
    #expect(
      eventually { (try? harness.statistics["frames-in"]) == 4 && (try? harness.statistics["frames-queued"]) == 0 })
    // The head unit discards what is in flight when the driver leaves.
    let before = try harness.headUnit.waitForFrames(harness.statistics["frames-sent"]).count
    try suspender.suspend(harness)
    try harness.wait(forStreamState: suspender.streamState)
    let meanwhile = framesComeMeanwhile ? 3 : 0
    for unit in units[3..<3 + meanwhile] { harness.push(unit.bytes, flags: unit.flags) }
    #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == meanwhile })
    let asked = requests.withLock { $0 }
    try suspender.resume(harness)
    if framesComeMeanwhile {
      // The stream is announced with the first frame that can be seen.
      #expect(
        eventually {
          guard (try? harness.statistics["frames-in"]) == harness.index else { return false }
          harness.push(units[6].bytes, flags: units[6].flags)
          return (try? harness.statistics["frames-dropped-waiting-for-key-frame"]) ?? 0 > 0
        })
      #expect(try harness.streamState == "suspended")
    } else {
      try harness.wait(forStreamState: "streaming")
    }
    for unit in units[6..<10] { harness.push(unit.bytes, flags: unit.flags) }
    // One by one, because a live stream does not wait when the queue is full.
    for (count, unit) in units[10...].enumerated() {
      harness.push(unit.bytes, flags: unit.flags)
      try harness.headUnit.waitForFrames(before + count + 1)
    }
    let video = harness.headUnit.record.video
    #expect(video[before].startsStream)
    #expect(video[(before + 1)...] == units[11...].map(\.bytes)[...])
    #expect(requests.withLock { $0 } == asked + 1)
    let statistics = try harness.statistics
    #expect(statistics["frames-dropped-waiting-for-key-frame"] >= 4 && statistics.areFramesConserved)
    #expect(try harness.streamState == "streaming" && harness.headUnit.record.violations == [])
  }

  /// The next decoder begins with the frames of a file since the last key frame, though they came while nobody watched.
  @Test func fileGoesOnInTheMidstOfAGroup() throws {
    let units = try encodedUnits(11, keyFrameInterval: 4)
    let harness = try SinkHarness(
      isLive: false, isPlayer: false, caps: EncodedUnit.caps(), properties: "sync=false keep-alive-interval=0")
    try harness.start()
    for unit in units[..<4] { harness.push(unit.bytes, flags: unit.flags) }
    try harness.headUnit.waitForFrames(4)
    try harness.show(.background)
    try harness.wait(forStreamState: "stopped")
    for unit in units[4..<10] { harness.push(unit.bytes, flags: unit.flags) }
    #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == 6 })
    try harness.show(.full)
    try harness.wait(forStreamState: "streaming")
    harness.push(units[10].bytes, flags: units[10].flags)
    let video = try harness.headUnit.waitForFrames(7)
    #expect(video[4].startsStream && video[5...] == units[9...].map(\.bytes)[...])
    #expect(try harness.statistics.areFramesConserved)
  }
}
