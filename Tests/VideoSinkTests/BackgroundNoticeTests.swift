import BackgroundNotice
import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The notice that the driver sees when the app leaves the foreground.
@Suite struct BackgroundNoticeTests {
  private static let count = NoticeSequence.standardCount
  /// Pictures of the app before each notice.
  private static let before = 3

  /// A stream that runs, at a rate with which the notice takes half a second.
  private func stream(frameRate: Int = 60, properties: String = "", units: [EncodedUnit] = []) throws -> SinkHarness {
    let harness = try SinkHarness(
      .small(frameRate: frameRate), caps: units.isEmpty ? Picture.caps(frameRate: frameRate) : EncodedUnit.caps(),
      frameRate: frameRate, properties: "sync=false \(properties)")
    guard units.isEmpty else {
      try harness.pipeline.play()
      // The first one may go by before the service is there.
      for (index, unit) in units.enumerated() {
        harness.push(unit.bytes, flags: unit.flags)
        guard index == 0 else { continue }
        try harness.pipeline.waitForElementMessage("sdl-stream-started")
        harness.push(unit.bytes, flags: unit.flags)
      }
      return harness
    }
    try harness.start()
    try harness.deliver(Self.before)
    // A repeat may have been delivered in place of the last picture, which the suspension would drop.
    #expect(eventually { (try? harness.statistics["frames-encoded"]) == Self.before })
    return harness
  }

  /// The luma of `decoded` is that of the notice.
  private func expectNotice(_ decoded: [UInt8]?, text: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let notice = NoticePicture(text: text, width: 320, height: 240)
    var picture = Picture(320, 240, 0)
    picture.luma = notice.luma
    picture.blue = [UInt8](repeating: 128, count: picture.blue.count)
    picture.red = picture.blue
    let psnr = picture.psnr(against: decoded ?? [])
    #expect(psnr > 33, "\(psnr) dB", sourceLocation: sourceLocation)
  }

  private func expectNoticeUnits(_ units: ArraySlice<[UInt8]>, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(units.first?.startsStream == true, sourceLocation: sourceLocation)
    #expect(units.dropFirst().allSatisfy { !isKeyFrame($0) && $0.count < 200 }, sourceLocation: sourceLocation)
  }

  @Test func isSentAtTheStreamsPaceAndThenNothing() throws {
    let harness = try stream(frameRate: 15, properties: "keep-alive-interval=50")
    let standstills = Standstills()
    try harness.setAppState(.resigning)
    // The app continues to draw.
    let picture = Picture(320, 240, harness.index).bytes
    var pushed = 0
    #expect(
      eventually {
        harness.push(picture)
        pushed += 1
        g_usleep(20_000)
        return (try? harness.streamState) == "suspended"
      })
    // Pictures that took long to come were repeated; from now on none is.
    let before = Self.before + (try harness.statistics["frames-repeated"])
    let total = before + Self.count
    try harness.headUnit.waitForFrames(total)
    let record = harness.headUnit.record
    #expect(record.video.count == total && record.starts.count == 1 && record.stopReasons == [])
    expectNoticeUnits(record.video[before...])
    let arrivals = record.arrivals[before...]
    let span = try #require(arrivals.last) - (try #require(arrivals.first))
    // 29 intervals; a busy machine makes it a little shorter at the front, and longer.
    let lost = standstills.total
    #expect(span > .milliseconds(1600) - lost && span < .milliseconds(5000) + lost, "\(span)")
    let pictures = try decode(record.video, width: 320, height: 240)
    #expect(pictures.count == total)
    for picture in [pictures[before], pictures[total / 2], pictures[total - 1]] {
      expectNotice(picture, text: NoticeText.standard(appName: "GStreamer"))
    }
    #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == pushed })
    let statistics = try harness.statistics
    #expect(statistics["notice-frames-sent"] == Self.count && statistics["frames-sent"] == Self.before)
    #expect(statistics.areFramesConserved)
    harness.watch(for: .milliseconds(200))
    #expect(harness.headUnit.record.video.count == total)
    #expect(try harness.statistics["video-bytes-sent"] == statistics["video-bytes-sent"])
    #expect(harness.streamMessages == ["started first-start", "suspended app-state"])
    #expect(record.violations == [])
  }

  /// Some head units blank their screen without data.
  @Test func isRepeatedInTheBackground() throws {
    let interval = Duration.milliseconds(100)
    let harness = try stream(properties: "background-repeat=true keep-alive-interval=100")
    try harness.setAppState(.resigning)
    try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
    let sent = { (try? harness.statistics["notice-frames-sent"]) ?? 0 }
    #expect(sent() >= Self.count)
    try harness.setAppState(.background)
    let (first, began) = (sent(), ContinuousClock.now)
    #expect(eventually { sent() >= first + 5 })
    #expect(ContinuousClock.now - began > interval * 4)
    #expect(try harness.streamState == "suspended")
    try harness.setAppState(.foreground)
    try harness.settle()
    let noticed = sent()
    try harness.deliver(3)
    // A repeat may have been delivered in place of the last picture.
    #expect(eventually { (try? harness.statistics["frames-encoded"]) == harness.index - 1 })
    let others = try harness.statistics["frames-sent"] + harness.statistics["frames-repeated"]
    try harness.headUnit.waitForFrames(noticed + others)
    #expect(sent() == noticed)
    let record = harness.headUnit.record
    let last = try #require(record.video.lastIndex { $0.startsStream })
    expectNoticeUnits(record.video[..<last].suffix(noticed).prefix(Self.count))
    let pictures = try decode(record.video, width: 320, height: 240)
    expectNotice(pictures[last - 1], text: NoticeText.standard(appName: "GStreamer"))
    #expect(Picture(320, 240, harness.index - 1).psnr(against: try #require(pictures.last)) > 28)
    #expect(harness.streamMessages == ["started first-start", "suspended app-state", "started resumed"])
    #expect(record.violations == [])
  }

  @Test func comingBackEndsIt() throws {
    // No picture is repeated, however long the next one takes.
    let harness = try stream(frameRate: 15, properties: "keep-alive-interval=0")
    try harness.setAppState(.resigning)
    try harness.headUnit.waitForFrames(Self.before + 4)
    try harness.setAppState(.foreground)
    try harness.settle()
    // Frames that were written before may still be in flight.
    let noticed = try harness.statistics["notice-frames-sent"]
    try harness.headUnit.waitForFrames(Self.before + noticed)
    try harness.deliver(3)
    harness.watch(for: .milliseconds(200))
    let record = harness.headUnit.record
    let first = Self.before + noticed
    #expect((4..<Self.count).contains(noticed) && record.video.count == first + 3)
    #expect(record.video[first].startsStream && record.video.suffix(2).allSatisfy { !isKeyFrame($0) })
    let pictures = try decode(record.video, width: 320, height: 240)
    expectNotice(pictures[first - 1], text: NoticeText.standard(appName: "GStreamer"))
    #expect(Picture(320, 240, harness.index - 1).psnr(against: try #require(pictures.last)) > 28)
    #expect(try harness.statistics["notice-frames-sent"] == noticed)
    // The stream was never suspended.
    #expect(harness.streamMessages == ["started first-start"])
    #expect(try harness.streamState == "streaming" && record.violations == [])
  }

  @Test func switchedOff() throws {
    let harness = try stream(properties: "background-notice=false keep-alive-interval=0")
    try harness.setAppState(.resigning)
    try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
    harness.watch(for: .milliseconds(100))
    #expect(harness.headUnit.record.video.count == Self.before)
    #expect(try harness.statistics["notice-frames-sent"] == 0)
  }

  @Test func backgroundAloneShowsNothing() throws {
    let harness = try stream(properties: "keep-alive-interval=0")
    try harness.setAppState(.background)
    try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
    harness.watch(for: .milliseconds(100))
    #expect(harness.headUnit.record.video.count == Self.before)
  }

  @Test func isShownToTheEndWhenTheAppHasGone() throws {
    let harness = try stream()
    try harness.setAppState(.resigning)
    try harness.headUnit.waitForFrames(Self.before + 3)
    try harness.setAppState(.background)
    try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
    try harness.headUnit.waitForFrames(Self.before + Self.count)
  }

  @Test func driverCutsItShort() throws {
    let harness = try stream(frameRate: 15)
    try harness.setAppState(.resigning)
    try harness.headUnit.waitForFrames(Self.before + 3)
    try harness.show(HMILevel.none)
    try harness.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : true }
    try harness.settle()
    let sent = try harness.statistics["notice-frames-sent"]
    harness.watch(for: .milliseconds(200))
    #expect(try harness.statistics["notice-frames-sent"] == sent)
    #expect(harness.streamMessages == ["started first-start", "stopped hmi-status"])
    #expect(harness.headUnit.record.violations == [])
  }

  @Test(arguments: ["Stop here", " ", String(repeating: "very long ", count: 300)])
  func text(_ text: String) throws {
    let harness = try stream()
    try harness.pipeline.sink.set("background-text", text)
    try harness.setAppState(.resigning)
    try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
    let video = try harness.headUnit.waitForFrames(Self.before + Self.count)
    expectNoticeUnits(video[Self.before...])
    expectNotice(try decode(video, width: 320, height: 240).last, text: text)
  }

  @Test func returnsAgainAndAgain() throws {
    let harness = try stream(properties: "keep-alive-interval=0")
    for round in 1...3 {
      try harness.setAppState(.resigning)
      try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
      try harness.setAppState(.regaining)
      #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "resumed")
      let first = Self.before + round * Self.count + (round - 1) * 2
      #expect(try harness.headUnit.waitForFrames(first).count == first)
      try harness.deliver(2)
      #expect(harness.headUnit.record.video[first].startsStream)
    }
    let video = harness.headUnit.record.video
    #expect(try decode(video, width: 320, height: 240).count == video.count)
    #expect(try harness.statistics["notice-frames-sent"] == 3 * Self.count)
  }

  @Test func encodedInput() throws {
    let units = try encodedUnits(20, keyFrameInterval: 10)
    let harness = try stream(units: Array(units[..<4]))
    #expect(
      eventually { (try? harness.statistics["frames-in"]) == 5 && (try? harness.statistics["frames-queued"]) == 0 })
    let before = try harness.statistics["frames-sent"]
    try harness.setAppState(.resigning)
    try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
    let video = try harness.headUnit.waitForFrames(before + Self.count)
    expectNoticeUnits(video[before...])
    expectNotice(
      try decode(Array(video[before...]), width: 320, height: 240).last,
      text: NoticeText.standard(appName: "GStreamer"))
    try harness.setAppState(.foreground)
    try harness.wait(forStreamState: "streaming")
    // The decoder's references are those of the notice now, so these can't be decoded.
    for unit in units[4...] { harness.push(unit.bytes, flags: unit.flags) }
    let all = try harness.headUnit.waitForFrames(before + Self.count + 10)
    #expect(all[before + Self.count].startsStream)
    #expect(Array(all.dropFirst(before + Self.count + 1)) == units[11...].map(\.bytes))
    let statistics = try harness.statistics
    #expect(statistics["frames-dropped-waiting-for-key-frame"] == 6 && statistics.areFramesConserved)
    let pictures = try decode(all, width: 320, height: 240)
    #expect(pictures.suffix(10) == (try decode(units[10...].map(\.bytes), width: 320, height: 240))[...])
  }
}
