import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin

/// What becomes of frames while driver or app do not want video.
@Suite struct SuspendPolicyTests {
  /// Who does not want video.
  enum Suspender: CaseIterable {
    case driver, app

    func suspend(_ drive: Drive) throws {
      switch self {
      case .driver: try drive.show(.background)
      case .app: try drive.setAppState(.background)
      }
    }

    func resume(_ drive: Drive) throws {
      switch self {
      case .driver: try drive.show(.full)
      case .app: try drive.setAppState(.foreground)
      }
    }

    /// Of the stream while suspended, and the reason for which it is started again.
    var streamState: String { self == .driver ? "stopped" : "suspended" }
    var reason: String { self == .driver ? "restarted" : "resumed" }
  }

  enum Outcome {
    case drops, holds, asks
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var policy: String
    var isLive: Bool
    var outcome: Outcome

    var testDescription: String { "\(policy), \(isLive ? "live" : "file")" }
  }

  static let cases: [Case] = [
    Case(policy: "auto", isLive: true, outcome: .drops), Case(policy: "auto", isLive: false, outcome: .asks),
    Case(policy: "drop", isLive: true, outcome: .drops), Case(policy: "drop", isLive: false, outcome: .drops),
    Case(policy: "block", isLive: true, outcome: .holds), Case(policy: "block", isLive: false, outcome: .holds),
    Case(policy: "request-pause", isLive: true, outcome: .asks),
    Case(policy: "request-pause", isLive: false, outcome: .asks),
  ]

  private static let pushed = 4

  /// A live source does not wait for the service that is started again, whatever it has waited for before.
  private func isHeldToTheEnd(_ given: Case, _ suspender: Suspender) -> Bool {
    given.outcome != .drops && !(given.isLive && suspender == .driver)
  }

  @Test(arguments: cases, Suspender.allCases)
  func framesMeanwhile(_ given: Case, suspender: Suspender) throws {
    let drive = try Drive(
      isLive: given.isLive, properties: "sync=false keep-alive-interval=0 suspend-policy=\(given.policy)")
    try drive.start()
    try drive.deliver(2)
    for round in 1...2 {
      try suspender.suspend(drive)
      try drive.wait(forStreamState: suspender.streamState)
      let before = drive.headUnit.record.video.count
      let encoded = try drive.statistics["frames-encoded"]
      drive.pushPictures(Self.pushed)
      switch given.outcome {
      case .drops:
        #expect(eventually { (try? drive.statistics["frames-dropped-suspended"]) == round * Self.pushed })
      case .holds: #expect(eventually { (try? drive.statistics["frames-queued"]) == 1 })
      case .asks:
        try drive.pipeline.wait(for: "request") { $0.stateRequest == GST_STATE_PAUSED ? true : nil }
        #expect(eventually { (try? drive.statistics["frames-queued"]) == 1 })
      }
      #expect(try drive.statistics.areFramesConserved && drive.headUnit.record.video.count == before)
      #expect(try drive.statistics["frames-encoded"] == encoded)
      // The application does not obey.
      try suspender.resume(drive)
      #expect(try drive.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == suspender.reason)
      let held = isHeldToTheEnd(given, suspender) ? Self.pushed : 0
      try drive.headUnit.waitForFrames(before + held)
      try drive.deliver(2)
      let record = drive.headUnit.record
      #expect(record.video[before].startsStream)
      if held > 0 || given.outcome == .drops { #expect(record.video.count == before + held + 2) }
      let requests = given.outcome == .asks ? round : 0
      #expect(
        drive.stateRequests == (0..<requests).flatMap { _ in [GST_STATE_PAUSED, GST_STATE_PLAYING] })
    }
    let record = drive.headUnit.record
    #expect(record.violations == [] && record.starts.count == (suspender == .driver ? 3 : 1))
    #expect(try decode(record.video, width: 320, height: 240).count == record.video.count)
    let statistics = try drive.statistics
    #expect(statistics.areFramesConserved && statistics["suspensions"] == 2)
    // The one that has taken the caps there.
    if isHeldToTheEnd(given, suspender) { #expect(statistics.dropped == 1) }
  }

  /// An application that obeys each request, until the end of the stream.
  @Test(arguments: Suspender.allCases)
  func applicationThatObeysLosesNothing(suspender: Suspender) throws {
    let (count, frameRate) = (60, 15)
    // Made beforehand: that takes long, and the driver has to leave in the midst of the stream.
    let pictures = (0..<count).map { Picture(320, 240, $0).bytes }
    let drive = try Drive(
      .small(frameRate: frameRate), isLive: false, caps: Picture.caps(frameRate: frameRate), frameRate: frameRate,
      properties: "max-lateness=-1 keep-alive-interval=0")
    try drive.pipeline.play()
    for picture in pictures { drive.push(picture) }
    drive.source.end()
    try drive.headUnit.waitForFrames(6)
    try suspender.suspend(drive)
    try drive.pipeline.wait(for: "request") { $0.stateRequest == GST_STATE_PAUSED ? true : nil }
    drive.pipeline.setState(GST_STATE_PAUSED)
    try drive.wait(forStreamState: suspender.streamState)
    // Long enough that the rest would come in a rush if time had not stood still.
    drive.watch(for: .seconds(1))
    let before = drive.headUnit.record.video.count
    #expect(before < count - 5)
    try suspender.resume(drive)
    try drive.pipeline.wait(for: "request") { $0.stateRequest == GST_STATE_PLAYING ? true : nil }
    try drive.pipeline.play()
    try drive.pipeline.waitForEnd()
    let record = try drive.headUnit.waitForFrames(count)
    #expect(record.count == count && drive.headUnit.record.video[before].startsStream)
    let arrivals = drive.headUnit.record.arrivals[before...]
    let span = try #require(arrivals.last) - (try #require(arrivals.first))
    #expect(span > .milliseconds((count - before - 2) * 1000 / frameRate / 2), "\(span)")
    #expect(drive.stateRequests == [GST_STATE_PAUSED, GST_STATE_PLAYING])
    #expect(try drive.statistics.dropped == 0 && drive.statistics["frames-sent"] == count)
    #expect(drive.headUnit.record.violations == [])
  }

  @Test(arguments: Suspender.allCases)
  func requestsComeInPairs(suspender: Suspender) throws {
    let drive = try Drive(isLive: false)
    try drive.start()
    for _ in 0..<60 {
      try suspender.suspend(drive)
      drive.pushPicture()
      try suspender.resume(drive)
    }
    try drive.settle()
    try drive.wait(forStreamState: "streaming")
    try drive.headUnit.waitForFrames(60)
    #expect(eventually { drive.stateRequests.count.isMultiple(of: 2) })
    let requests = drive.stateRequests
    let expected = (0..<requests.count).map { $0.isMultiple(of: 2) ? GST_STATE_PAUSED : GST_STATE_PLAYING }
    #expect(requests == expected)
    #expect(try drive.statistics.areFramesConserved)
  }

  /// The stream is resumed while PAUSED is being asked for.
  @Test func requestsKeepTheirOrder() throws {
    let drive = try Drive(isLive: false)
    let bus = try #require(gst_element_get_bus(drive.pipeline.element.pointer))
    defer {
      gst_bus_set_sync_handler(bus, nil, nil, nil)
      gst_object_unref(bus)
    }
    try drive.start()
    try drive.deliver(2)
    gst_bus_set_sync_handler(
      bus,
      { _, message, drive in
        guard let message, let drive, BusMessage(message).stateRequest == GST_STATE_PAUSED else { return GST_BUS_PASS }
        Unmanaged<Drive>.fromOpaque(drive)._withUnsafeGuaranteedRef { drive in
          try? drive.setAppState(.foreground)
          try? drive.wait(forStreamState: "streaming")
          // The other request would come now.
          drive.watch(for: .milliseconds(50))
        }
        return GST_BUS_PASS
      }, Unmanaged.passUnretained(drive).toOpaque(), nil)
    try drive.setAppState(.background)
    try drive.wait(forStreamState: "suspended")
    drive.pushPictures(2)
    try drive.headUnit.waitForFrames(4)
    #expect(eventually { drive.stateRequests.count >= 2 })
    #expect(drive.stateRequests == [GST_STATE_PAUSED, GST_STATE_PLAYING])
  }

  /// A file that has never been shown waits in silence: an application that pauses by itself would never see it begin.
  @Test func noRequestBeforeTheFirstStart() throws {
    let drive = try Drive(.small(activation: nil), isLive: false)
    try drive.pipeline.play()
    drive.pushPictures(3)
    try drive.pipeline.waitForElementMessage("sdl-connected")
    #expect(eventually { (try? drive.statistics["frames-queued"]) == 1 })
    try drive.show(.full)
    try drive.headUnit.waitForFrames(3)
    #expect(drive.stateRequests == [])
  }
}
