import GStreamerKit
import H264
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// H.264 of cameras and of other encoders, which make IDR pictures seldom, or once, and ignore requests for them.
@Suite struct RandomAccessTests {
  enum Encoder: CaseIterable {
    case openGroups
    /// The same, without recovery points.
    case unmarkedGroups
    case intraRefresh

    /// What it makes after its first IDR picture, and the place of each in the order of display.
    func units(_ count: Int) throws -> [(unit: EncodedUnit, index: Int)] {
      let isGroup = self != .intraRefresh
      let units = try encodedUnits(
        count, keyFrameInterval: 12,
        encoder: isGroup
          ? "bframes=2 b-adapt=false option-string=open-gop=1:scenecut=0" : "tune=zerolatency intra-refresh=true",
        profile: isGroup ? "main" : "constrained-baseline")
      let first = units.map(\.time).min() ?? 0
      return units.map { unit in
        var unit = unit
        if self == .unmarkedGroups { unit.bytes = withoutSupplements(unit.bytes) }
        return (unit, Int((unit.time - first) * 30 / 1_000_000_000))
      }
    }

    private func withoutSupplements(_ unit: [UInt8]) -> [UInt8] {
      byteStream(nalUnits(unit).filter { $0[0] & 0x1F != 6 })
    }

    /// How many frames come from the beginning of decoding to the first right picture.
    var recovery: Int { self == .intraRefresh ? 11 : losesFirstGroup ? 12 : 0 }

    /// Before a picture in the middle of a stream, libav makes those that its frame number skips, for which gst-libav has
    /// no buffers. With the version of GStreamer 1.22 only one thread is stopped by that.
    var losesFirstGroup: Bool {
      var (major, minor, micro, nano) = (guint(0), guint(0), guint(0), guint(0))
      gst_version(&major, &minor, &micro, &nano)
      return self != .intraRefresh && minor > 22
    }
  }

  /// Nothing but the pictures that are right is missing, and they are the encoder's.
  @Test(arguments: Encoder.allCases) func streamBeginsWithoutAnIDRPicture(_ encoder: Encoder) throws {
    let units = try encoder.units(60)
    let harness = try SinkHarness(.small(activation: nil), caps: EncodedUnit.caps())
    try harness.pipeline.play()
    _ = try harness.pipeline.waitForElementMessage("sdl-connected")
    // The size is in the caps, so that the service can start before the first key frame.
    for (unit, index) in units[1..<4] { harness.source.push(unit.bytes, at: index, flags: unit.flags) }
    #expect(eventually { (try? harness.statistics["frames-dropped-not-streaming"]) == 3 })
    try harness.show(.full)
    _ = try harness.headUnit.wait(for: "service") { $0.starts.isEmpty ? nil : true }
    #expect(harness.pipeline.drain().allSatisfy { $0.kind != .element("sdl-stream-started") })
    try deliver(units[4...], harness)
    try expectPictures(harness, units, encoder)
    #expect(harness.streamMessages == ["started first-start"])
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(try harness.statistics.areFramesConserved)
  }

  /// The driver leaves and returns.
  @Test(arguments: Encoder.allCases) func streamGoesOnWithoutAnIDRPicture(_ encoder: Encoder) throws {
    let units = try encoder.units(90)
    let harness = try SinkHarness(caps: EncodedUnit.caps())
    try harness.start()
    try deliver(units[..<20], harness)
    try harness.show(.background)
    try harness.wait(forStreamState: "stopped")
    for (unit, index) in units[20..<30] { harness.source.push(unit.bytes, at: index, flags: unit.flags) }
    #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == 10 })
    try harness.show(.full)
    _ = try harness.headUnit.wait(for: "service") { $0.starts.count == 2 ? true : nil }
    try harness.wait(forStreamState: "suspended")
    try deliver(units[30...], harness)
    try expectPictures(harness, units, encoder)
    #expect(try harness.pipeline.sink["stream-state"] == "streaming")
  }

  /// Pushes one after the other, as a camera does.
  private func deliver(
    _ units: ArraySlice<(unit: EncodedUnit, index: Int)>, _ harness: SinkHarness
  ) throws {
    for (unit, index) in units {
      let count = try harness.statistics["frames-in"]
      harness.source.push(unit.bytes, at: index, flags: unit.flags)
      #expect(
        eventually { (try? harness.statistics).map { $0["frames-in"] > count && $0["queue-frames"] == 0 } ?? false })
    }
  }

  /// The last message that arrives is the last unit's; the pictures of the last service are the encoder's last.
  private func expectPictures(
    _ harness: SinkHarness, _ units: [(unit: EncodedUnit, index: Int)], _ encoder: Encoder
  ) throws {
    let last = try #require(units.last).unit.bytes
    _ = try harness.headUnit.wait(for: "last frame") { $0.video.last == last ? true : nil }
    let record = harness.headUnit.record
    let video = Array(record.video[(record.starts.last ?? 0)...])
    let pictures = try decode(video, width: 320, height: 240)
    let originals = try decode(units.map(\.unit.bytes), width: 320, height: 240)
    let lost = video.count - pictures.count
    #expect((encoder.losesFirstGroup ? 0...12 : 0...0).contains(lost) && pictures.count > 40, "\(lost) lost")
    let recovered = pictures.dropFirst(encoder.recovery)
    let areRight = recovered.elementsEqual(originals.suffix(recovered.count))
    #expect(areRight)
    #expect(record.violations == [])
  }

  enum Lack: CaseIterable {
    case keyFrames
    case parameterSets
  }

  /// It says what is missing, once.
  @Test(arguments: Lack.allCases) func warning(_ lack: Lack) throws {
    let units = try encodedUnits(2)
    // Slow enough for the first frame, which follows its caps, to come before the service.
    var configuration = HeadUnitConfiguration.small()
    configuration.behaviour.videoStartDelay = .milliseconds(500)
    let harness = try SinkHarness(configuration, caps: EncodedUnit.caps())
    try harness.pipeline.play()
    let bare = byteStream(nalUnits(units[0].bytes).filter { $0[0] & 0x1F == 5 })
    func isWarning(_ message: BusMessage) -> Bool { message.warning?.text.contains("Nothing can be shown") == true }
    var warnings: [BusMessage] = []
    #expect(
      eventually {
        guard (try? harness.statistics["frames-in"]) == harness.index else { return false }
        if lack == .parameterSets { harness.push(bare) }
        harness.push(units[1].bytes, flags: units[1].flags)
        g_usleep(30_000)
        warnings = harness.pipeline.drain().filter(isWarning)
        return !warnings.isEmpty
      })
    let text = warnings.first?.warning?.text ?? ""
    #expect(text.contains(lack == .keyFrames ? "no key frame has come" : "without parameter sets"), "\(text)")
    #expect(!harness.streamMessages.contains { $0.hasPrefix("started") })
    // What was missing comes, and is shown.
    for unit in units { harness.push(unit.bytes, flags: unit.flags) }
    try harness.headUnit.waitForFrames(2)
    _ = try harness.pipeline.waitForElementMessage("sdl-stream-started")
    #expect(harness.pipeline.drain().count(where: isWarning) == 1)
  }
}

private func byteStream(_ units: [[UInt8]]) -> [UInt8] {
  var bytes: [UInt8] = []
  for unit in units { bytes += [0, 0, 0, 1] + unit }
  return bytes
}
