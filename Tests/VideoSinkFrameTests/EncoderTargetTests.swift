import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The encoder's target bitrate and frame rate, as app and head unit change them while streaming.
@Suite struct EncoderTargetTests {
  private func targets(_ harness: SinkHarness) throws -> [Int] {
    let statistics = try harness.statistics
    return [statistics["bitrate-target-kbps"], statistics["framerate-target"]]
  }

  /// Pushes pictures until the sink aims at these rates.
  private func wait(for expected: [Int], _ harness: SinkHarness) throws {
    let isReached = eventually {
      harness.pushPicture()
      return (try? targets(harness)) == expected
    }
    let reached = try targets(harness)
    #expect(isReached, "\(reached)")
  }

  private func starts(_ harness: SinkHarness) -> Int {
    harness.headUnit.record.events.count { if case .videoStarted = $0 { true } else { false } }
  }

  /// Head unit, properties, rates.
  @Test(
    arguments: [
      (.small(frameRate: nil, maximumBitrate: nil), "", [600, 15]),
      (.small(frameRate: 15, maximumBitrate: 9000), "", [600, 15]),
      (.small(800, 480, frameRate: 30, maximumBitrate: 9000), "", [1152, 30]),
      (.small(800, 480, frameRate: 30, maximumBitrate: 9000), "bitrate-policy=default-capped", [600, 30]),
      (.small(frameRate: 15, maximumBitrate: 9000), "bitrate=700", [700, 15]),
      (.small(frameRate: 30, maximumBitrate: 300), "max-framerate=60", [200, 30]),
      (.small(frameRate: 30, maximumBitrate: 300), "max-framerate=15 bitrate=400", [200, 15]),
      (.small(frameRate: 0, maximumBitrate: 0), "", [600, 15]),
      (.small(frameRate: nil, maximumBitrate: nil), "max-framerate=60 bitrate=8000", [8000, 30]),
    ] as [(HeadUnitConfiguration, String, [Int])])
  func merged(_ headUnit: HeadUnitConfiguration, _ properties: String, _ expected: [Int]) throws {
    let size = headUnit.videoCapability?.preferredResolution ?? VideoSize(320, 240)
    let harness = try SinkHarness(
      headUnit, caps: Picture.caps(size.width, size.height),
      properties: "sync=false adaptive-bitrate=false \(properties)")
    try harness.start()
    for _ in 0..<2 { harness.pushPicture(size.width, size.height) }
    try harness.headUnit.waitForFrames(1)
    #expect(try targets(harness) == expected)
    #expect(harness.headUnit.record.violations == [])
  }

  /// A value that can only be meant in bit/s where kbit/s are expected bounds nothing.
  @Test func mistakenUnit() throws {
    let harness = try SinkHarness(
      .small(800, 380, frameRate: 30, maximumBitrate: 400_000), caps: Picture.caps(800, 380),
      properties: "sync=false adaptive-bitrate=false")
    try harness.start()
    for _ in 0..<3 { harness.pushPicture(800, 380) }
    try harness.headUnit.waitForFrames(2)
    #expect(try targets(harness) == [912, 30])
    #expect(harness.pipeline.drain().allSatisfy { $0.warning == nil })
  }

  /// Another frame rate alone, from the head unit, needs neither a new service nor a key frame.
  @Test func frameRateUpdateKeepsService() throws {
    let harness = try SinkHarness(.small(frameRate: 30), frameRate: 30)
    try harness.start()
    try harness.deliver(3)
    harness.headUnit.server.perform(try #require(try HeadUnitCommand.parse("framerate 10")))
    try harness.settle()
    try harness.deliver(10, ofEach: 3)
    #expect(try targets(harness) == [600, 10])
    harness.expectKeyFrames((0..<13).map { $0 == 0 })
    harness.headUnit.server.perform(try #require(try HeadUnitCommand.parse("framerate 30")))
    try wait(for: [600, 30], harness)
    #expect(starts(harness) == 1 && harness.headUnit.record.violations == [])
    #expect(try harness.statistics.areFramesConserved)
  }

  /// Exactly every third picture, from one key frame to the next two seconds later, whose headers have the new rate.
  @Test func keyFramesAfterTheChange() throws {
    let harness = try SinkHarness(.small(frameRate: 30), frameRate: 30)
    try harness.start()
    try harness.deliver(1)
    harness.headUnit.server.perform(try #require(try HeadUnitCommand.parse("framerate 10")))
    try harness.settle()
    try harness.deliver(40, ofEach: 3)
    #expect(try targets(harness) == [600, 10])
    harness.expectKeyFrames((0...40).map { $0.isMultiple(of: 20) })
    #expect(harness.headUnit.record.video.allSatisfy { !isKeyFrame($0) || $0.startsStream })
    #expect(starts(harness) == 1)
  }

  /// An update without a bitrate keeps it.
  @Test func updateWithoutBitrateKeepsIt() throws {
    let harness = try SinkHarness(.small(320, 240, frameRate: 20, maximumBitrate: 450))
    try harness.start()
    try harness.deliver(1)
    var update = VideoStreamingCapability()
    update.scale = 1
    update.preferredResolution = VideoSize(320, 240)
    harness.headUnit.server.perform(.update(update))
    try harness.settle()
    try harness.deliver(1)
    #expect(try targets(harness) == [300, 20] && starts(harness) == 1)
  }

  @Test func propertiesAreLive() throws {
    let harness = try SinkHarness(.small(frameRate: 30, maximumBitrate: 2000))
    try harness.start()
    try harness.deliver(1)
    let sink = try harness.pipeline.sink
    for (name, value, expected) in [
      ("max-framerate", "15/2", [600, 7]), ("bitrate", "2500", [1334, 7]), ("max-framerate", "0/1", [1334, 30]),
      ("bitrate", "100", [100, 30]), ("bitrate", "0", [600, 30]), ("bitrate-policy", "default-capped", [600, 30]),
    ] {
      sink.set(name, value)
      let isReached = eventually {
        harness.pushPicture()
        guard let statistics = try? harness.statistics else { return false }
        let rate = statistics.fields["framerate-target"].flatMap { Double($0) } ?? 0
        return [statistics["bitrate-target-kbps"], Int(rate)] == expected
      }
      let fields = try harness.statistics.fields
      #expect(isReached, "\(name)=\(value): \(fields)")
    }
    #expect(starts(harness) == 1 && harness.headUnit.record.violations == [])
  }

  /// Bytes for as many frames before and after the head unit lowers its maximum; the content fills any bitrate, and no
  /// second has more than the maximum.
  @Test func bytesFollowTheHeadUnit() throws {
    let headUnit = try TestHeadUnit(.small(160, 120, frameRate: 30, maximumBitrate: 1000))
    let pipeline = try Pipeline(
      """
      videotestsrc pattern=snow num-buffers=600 ! video/x-raw,format=I420,width=160,height=120,framerate=30/1 \
      ! sdlvideosink name=sink uri=\(headUnit.uri) sync=false bitrate=1000 \
      keep-alive-interval=0 option-string=scenecut=0
      """)
    try pipeline.playFromStart()
    try headUnit.waitForFrames(150)
    headUnit.server.perform(try #require(try HeadUnitCommand.parse("max-bitrate 500")))
    try headUnit.wait(for: "end") { $0.video.count >= 600 ? true : nil }
    let sizes = headUnit.record.video.map(\.count)
    func rate(_ frames: ArraySlice<Int>) -> Int { frames.reduce(0, +) * 8 * 30 / frames.count / 1000 }
    let (before, after) = (rate(sizes[60..<150]), rate(sizes[480..<600]))
    #expect((567...767).contains(before), "\(before) kbit/s")
    #expect((284...384).contains(after), "\(after) kbit/s")
    for (maximum, frames) in [(1000, 0..<150), (500, 480..<600)] {
      let seconds = frames.dropLast(29).map { sizes[$0..<$0 + 30].reduce(0, +) * 8 }
      #expect(seconds.allSatisfy { $0 <= maximum * 1000 }, "\(seconds.max() ?? 0) bits in a second")
    }
    let starts = headUnit.record.events.count { if case .videoStarted = $0 { true } else { false } }
    #expect(starts == 1)
    // The update itself makes no key frame: they stay 60 frames apart, unless the machine makes a pause.
    guard headUnit.record.gaps.allSatisfy({ $0 < .milliseconds(500) }) else { return }
    let keyFrames = headUnit.record.video.indices.filter { isKeyFrame(headUnit.record.video[$0]) }
    #expect(zip(keyFrames, keyFrames.dropFirst()).allSatisfy { $1 - $0 == 60 }, "\(keyFrames)")
  }

  /// A source that was slowed down can be asked for more again.
  @Test func upstreamIsAskedForMore() throws {
    // Not the size that the source would choose by itself, so that it negotiates again when the capabilities arrive.
    let headUnit = try TestHeadUnit(.small(160, 120, frameRate: 10))
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! video/x-raw,format=I420 ! sdlvideosink name=sink uri=\(headUnit.uri)"
    )
    try pipeline.play()
    try headUnit.waitForFrames(3)
    let pad = try pipeline.sink.pad("sink")
    func inputRate() -> Int32 {
      guard let caps = gst_pad_get_current_caps(pad) else { return 0 }
      defer { gst_caps_unref(caps) }
      var (numerator, denominator): (gint, gint) = (0, 1)
      gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &numerator, &denominator)
      return numerator / max(denominator, 1)
    }
    try pipeline.sink.set("max-framerate", "5")
    #expect(eventually { (try? pipeline.sink.statistics["framerate-target"]) == 5 })
    #expect(inputRate() == 10)
    headUnit.server.perform(try #require(try HeadUnitCommand.parse("framerate 25")))
    try pipeline.sink.set("max-framerate", "0")
    #expect(eventually { inputRate() == 25 })
    let starts = headUnit.record.events.count { if case .videoStarted = $0 { true } else { false } }
    #expect(starts == 1)
  }
}
