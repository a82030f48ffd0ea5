import CGStreamerApp
import GStreamerKit
import H264
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct ParameterSetsTests {
  private static let sequence: [UInt8] = [0x67, 0x42, 0xC0, 0x1E, 0x01]
  private static let otherSequence: [UInt8] = [0x67, 0x42, 0xC0, 0x1F, 0x01]
  private static let picture: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]
  private static let otherPicture: [UInt8] = [0x68, 0xCE, 0x06, 0xE2, 0x11]
  private static let slice: [UInt8] = [0x65, 0x88, 0x84, 0x21]

  private func unit(_ units: [UInt8]..., startCode: [UInt8] = [0, 0, 0, 1]) -> [UInt8] {
    units.flatMap { startCode + $0 }
  }

  private func update(_ sets: inout ParameterSets, _ accessUnit: [UInt8]) -> Bool {
    accessUnit.withUnsafeBytes { sets.update(from: $0) }
  }

  @Test func bothKindsAreNeeded() {
    var sets = ParameterSets()
    #expect(sets.bytes == nil)
    #expect(update(&sets, unit(Self.sequence, Self.slice)))
    #expect(sets.bytes == nil)
    #expect(update(&sets, unit(Self.picture, Self.slice)))
    #expect(sets.bytes == unit(Self.sequence, Self.picture))
  }

  @Test func eachKindIsReplacedAlone() {
    var sets = ParameterSets()
    #expect(update(&sets, unit(Self.sequence, Self.picture, Self.slice)))
    #expect(update(&sets, unit(Self.otherPicture, Self.slice)))
    #expect(sets.bytes == unit(Self.sequence, Self.otherPicture))
    #expect(update(&sets, unit(Self.otherSequence, Self.slice)))
    #expect(sets.bytes == unit(Self.otherSequence, Self.otherPicture))
  }

  @Test func knownSetsAreNoChange() {
    var sets = ParameterSets()
    let complete = unit(Self.sequence, Self.picture, Self.otherPicture, Self.slice)
    #expect(update(&sets, complete))
    let kept = sets.bytes
    #expect(!update(&sets, complete))
    #expect(!update(&sets, unit(Self.sequence, Self.picture, Self.otherPicture, Self.slice, startCode: [0, 0, 1])))
    #expect(!update(&sets, unit(Self.slice)))
    #expect(!update(&sets, []))
    // After the picture there is nothing that belongs to it.
    #expect(!update(&sets, unit(Self.slice, Self.otherSequence)))
    #expect(sets.bytes == kept)
  }

  @Test func numberOfUnitsChanges() {
    var sets = ParameterSets()
    #expect(update(&sets, unit(Self.sequence, Self.picture, Self.otherPicture)))
    #expect(update(&sets, unit(Self.sequence, Self.picture)))
    #expect(sets.bytes == unit(Self.sequence, Self.picture))
    #expect(update(&sets, unit(Self.picture, Self.otherPicture)))
    #expect(sets.bytes == unit(Self.sequence, Self.picture, Self.otherPicture))
    // The longer one begins as the shorter one does.
    #expect(update(&sets, unit(Self.picture + [0x55])))
    #expect(sets.bytes == unit(Self.sequence, Self.picture + [0x55]))
  }

  @Test func keptWithLongStartCodes() {
    var sets = ParameterSets()
    #expect(update(&sets, unit(Self.sequence, Self.picture, Self.slice, startCode: [0, 0, 1])))
    #expect(sets.bytes == unit(Self.sequence, Self.picture))
  }

  @Test func startCodes() {
    let long = unit([0x09, 0x10], Self.sequence)
    let short = unit([0x09, 0x10], Self.sequence, startCode: [0, 0, 1])
    long.withUnsafeBytes { #expect(ParameterSets.startCodeOffset(before: 10, in: $0) == 6) }
    long.withUnsafeBytes { #expect(ParameterSets.startCodeOffset(before: 4, in: $0) == 0) }
    short.withUnsafeBytes { #expect(ParameterSets.startCodeOffset(before: 8, in: $0) == 5) }
    short.withUnsafeBytes { #expect(ParameterSets.startCodeOffset(before: 3, in: $0) == 0) }
  }
}

/// Key frames that come without their parameter sets.
@Suite struct BareKeyFrameTests {
  /// The NAL units of a type, each after a long start code.
  private func units(_ unit: EncodedUnit, _ isWanted: (NALUnitType) -> Bool) -> [UInt8] {
    unit.bytes.withUnsafeBytes { bytes in
      AnnexB(bytes).filter { isWanted($0.type) }.flatMap { [0, 0, 0, 1] + bytes[$0.range] }
    }
  }

  private func isSlice(_ type: NALUnitType) -> Bool { type.startsSlice }

  @Test func withoutKnownParameterSetsItIsOfNoUse() throws {
    let key = try #require(encodedUnits(1).first)
    let harness = try SinkHarness(caps: EncodedUnit.caps())
    try harness.start()
    harness.push(units(key, isSlice))
    harness.push(units(key) { $0 == .sequenceParameterSet || isSlice($0) })
    #expect(eventually { (try? harness.statistics["frames-dropped-waiting-for-key-frame"]) == 2 })
    harness.push(units(key) { $0 == .pictureParameterSet || isSlice($0) })
    let first = try #require(try harness.headUnit.waitForFrames(1).first)
    #expect(try nalTypes(first).prefix(2) == [.sequenceParameterSet, .pictureParameterSet])
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func newestPictureParameterSetIsPutInFront() throws {
    let key = try #require(encodedUnits(1).first)
    let harness = try SinkHarness(caps: EncodedUnit.caps())
    try harness.start()
    harness.push(key.bytes)
    try harness.headUnit.waitForFrames(1)
    // A set with an id above 15, to which no slice refers.
    let newSet: [UInt8] = [0, 0, 0, 1, 0x68, 0x08, 0xCE, 0x3C, 0x80]
    harness.push(newSet + units(key, isSlice))
    try harness.headUnit.waitForFrames(2)
    harness.push(units(key, isSlice), flags: GST_BUFFER_FLAG_DISCONT)
    let bare = try #require(try harness.headUnit.waitForFrames(3).last)
    #expect(bare == units(key) { $0 == .sequenceParameterSet } + newSet + units(key, isSlice))
  }
}

/// H.264 whose parameter sets come in buffers of their own, as from some hardware encoders.
@Suite struct LooseParameterSetsTests {
  @Test func theyAreNoPictures() throws {
    let units = try encodedUnits(31, keyFrameInterval: 5)
    let harness = try SinkHarness(.small(frameRate: 30), isLive: false, caps: EncodedUnit.caps())
    try harness.pipeline.play()
    for (index, unit) in units.enumerated() {
      if unit.isDelta {
        harness.source.push(unit.bytes, at: index, flags: unit.flags)
      } else {
        harness.source.push(nalUnits(unit, ofParameters: true), at: index, flags: GST_BUFFER_FLAG_HEADER)
        harness.source.push(nalUnits(unit, ofParameters: false), at: index)
      }
    }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let record = harness.headUnit.record
    #expect(record.video.count == 31 && record.violations == [])
    #expect(
      try record.video.allSatisfy { try isKeyFrame($0) == nalTypes($0).contains(.sequenceParameterSet) },
      "once for each key frame")
    #expect(record.video.allSatisfy { !isKeyFrame($0) || $0.startsStream })
    #expect(try decode(record.video, width: 320, height: 240).count == 31)
    #expect(harness.pipeline.drain().allSatisfy { $0.warning == nil })
    let statistics = try harness.statistics
    #expect(statistics.shown == 31 && statistics["frames-dropped-no-picture"] == 7)
    #expect(statistics.areFramesConserved)
  }

  /// The parameter sets of a unit, or all else.
  private func nalUnits(_ unit: EncodedUnit, ofParameters: Bool) -> [UInt8] {
    unit.bytes.withUnsafeBytes { bytes in
      AnnexB(bytes).filter { [.sequenceParameterSet, .pictureParameterSet].contains($0.type) == ofParameters }
        .flatMap { [0, 0, 0, 1] + bytes[$0.range] }
    }
  }
}
