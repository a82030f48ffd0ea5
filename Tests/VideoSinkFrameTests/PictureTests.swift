import CGStreamerApp
import GStreamerKit
import H264
import SDLHeadUnit
import Testing

import struct TestSupport.SeededGenerator

@testable import Plugin
@testable import PluginTestSupport

/// The head unit's decoder gets the pictures that were pushed.
@Suite struct PictureTests {
  @Test(arguments: Picture.Layout.allCases, [0, 24])
  func raw(_ layout: Picture.Layout, _ padding: Int) throws {
    let harness = try SinkHarness(
      isLive: false, caps: Picture.caps(format: layout),
      properties: "sync=false bitrate=6000 speed-preset=veryfast keep-alive-interval=0")
    try harness.start()
    let pictures = (0..<12).map { Picture(320, 240, $0) }
    for (index, picture) in pictures.enumerated() {
      harness.source.push(try picture.buffer(layout, padding: padding, from: harness.source), at: index)
    }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let units = try harness.headUnit.waitForFrames(pictures.count)
    let decoded = try decode(units, width: 320, height: 240)
    #expect(decoded.count == pictures.count)
    for (picture, decoded) in zip(pictures, decoded) {
      let quality = picture.psnr(against: decoded)
      #expect(quality > 30, "\(quality) dB")
    }
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func streamBeginsWithParameterSetsOfTheAcceptedSize() throws {
    // 800×380 is no multiple of 16, so the cropping matters.
    let harness = try SinkHarness(.small(800, 380), isLive: false, caps: Picture.caps(800, 380))
    try harness.pipeline.play()
    harness.pushPicture(800, 380)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let unit = try #require(try harness.headUnit.waitForFrames(1).first)
    #expect(try nalTypes(unit).prefix(2) == [.sequenceParameterSet, .pictureParameterSet])
    #expect(try nalTypes(unit).contains(.idrSlice))
    let parameters = try parameterSet(unit)
    #expect(parameters.width == 800 && parameters.height == 380)
    #expect(parameters.profileIDC == 66 && parameters.frameMBSOnly)
    #expect(harness.headUnit.record.violations == [])
  }

  /// Encoder and colorimetry of the caps, then the numbers of H.273 that the stream must carry.
  @Test(arguments: [
    ("auto", "bt709", 1, 1, 1, false), ("auto", "bt601", 6, 6, 6, false), ("auto", "1:4:5:1", 1, 1, 6, true),
    ("openh264enc", "bt709", 1, 1, 1, false), ("x264enc", "1:4:5:1", 1, 1, 6, true),
  ])
  func colours(
    _ encoder: String, _ colorimetry: String, _ primaries: Int, _ transfer: Int, _ matrix: Int, _ isFull: Bool
  ) throws {
    let caps = Picture.caps(extra: "colorimetry=(string)\(colorimetry)")
    let harness = try SinkHarness(isLive: false, caps: caps, properties: "encoder=\(encoder)")
    try harness.pipeline.play()
    harness.pushPicture()
    let parameters = try parameterSet(try #require(try harness.headUnit.waitForFrames(1).first))
    #expect(parameters.matrixCoefficients.map(Int.init) == matrix)
    #expect(parameters.colourPrimaries.map(Int.init) == primaries)
    #expect(parameters.transferCharacteristics.map(Int.init) == transfer)
    #expect(parameters.videoFullRange == isFull)
  }

  @Test func encodedVideoPassesUnchanged() throws {
    let units = try encodedUnits(25)
    let harness = try SinkHarness(isLive: false, caps: EncodedUnit.caps())
    try harness.pipeline.play()
    for unit in units { harness.push(unit.bytes, flags: unit.flags) }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let received = try harness.headUnit.waitForFrames(units.count)
    #expect(received.count == units.count)
    #expect(try #require(received.first).startsStream)
    for (unit, received) in zip(units, received) { #expect(unit.bytes == received) }
    #expect(try decode(received, width: 320, height: 240).count == units.count)
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func buffersOfManyBlocksPassUnchanged() throws {
    let units = try encodedUnits(4)
    let harness = try SinkHarness(isLive: false, caps: EncodedUnit.caps())
    try harness.pipeline.play()
    for (index, unit) in units.enumerated() {
      // Three blocks are sent from where they are, twelve are merged.
      let pieces = index.isMultiple(of: 2) ? 3 : 12
      let size = unit.bytes.count / pieces + 1
      var buffer: UnsafeMutablePointer<GstBuffer>?
      for start in stride(from: 0, to: unit.bytes.count, by: size) {
        let part = harness.source.buffer(of: Array(unit.bytes[start..<min(start + size, unit.bytes.count)]))
        buffer = buffer.map { gst_buffer_append($0, part) } ?? part
      }
      harness.source.push(try #require(buffer), at: index, flags: unit.flags)
    }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let received = try harness.headUnit.waitForFrames(units.count)
    for (unit, received) in zip(units, received) { #expect(unit.bytes.hasSuffix(received)) }
    for (unit, received) in zip(units, received).dropFirst() { #expect(unit.bytes == received) }
  }

  @Test func gapsAreNoPictures() throws {
    let harness = try SinkHarness(isLive: false)
    try harness.pipeline.play()
    harness.pushPictures(2)
    harness.push([UInt8](repeating: 0, count: 320 * 240 * 3 / 2), flags: GST_BUFFER_FLAG_GAP)
    harness.pushPicture()
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(try harness.statistics["frames-dropped-no-picture"] == 1)
    #expect(harness.headUnit.record.video.count == 3)
  }

  @Test func largePicturesAreFragmented() throws {
    // Noise at a high rate: the first access unit is larger than one frame's payload.
    let harness = try SinkHarness(
      .small(1280, 720, maximumBitrate: nil), isLive: false, caps: Picture.caps(1280, 720),
      properties: "sync=false bitrate=100000 speed-preset=ultrafast")
    var random = SeededGenerator(seed: 1)
    try harness.pipeline.play()
    harness.push(random.bytes(1280 * 720 * 3 / 2))
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let unit = try #require(try harness.headUnit.waitForFrames(1).first)
    #expect(unit.count > 131_072, "\(unit.count) bytes")
    #expect(try decode([unit], width: 1280, height: 720).count == 1)
  }
}
