import CGStreamerApp
import Foundation
import GStreamerKit
import H264
import SDLHeadUnit
import SDLMessages
import Testing

import func TestSupport.joined

@testable import Plugin
@testable import PluginTestSupport

/// H.264 with lengths in front of its NAL units, as files and muxers have it (`stream-format=avc`).
@Suite struct LengthPrefixedTests {
  /// The `codec_data` of a stream.
  private func record(of unit: EncodedUnit, lengthByteCount: Int) -> [UInt8] {
    let sets = unit.bytes.withUnsafeBytes { bytes in AnnexB(bytes).map { ($0.type, Array(bytes[$0.range])) } }
    func part(_ type: NALUnitType) -> [[UInt8]] { sets.filter { $0.0 == type }.map(\.1) }
    func prefixed(_ units: [[UInt8]]) -> [UInt8] {
      units.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }
    }
    let (sequence, picture) = (part(.sequenceParameterSet), part(.pictureParameterSet))
    return joined(
      [1, sequence[0][1], sequence[0][2], sequence[0][3], 0xFC | UInt8(lengthByteCount - 1)],
      [0xE0 | UInt8(sequence.count)], prefixed(sequence), [UInt8(picture.count)], prefixed(picture))
  }

  /// Not sent in every form of the stream: an encoder's remarks are too long for lengths of one byte.
  private static let leftOut: [NALUnitType] = [.accessUnitDelimiter, .supplementalEnhancementInformation]

  /// The access unit without its parameter sets.
  private func sample(of unit: EncodedUnit, lengthByteCount: Int, keepsParameterSets: Bool = false) -> [UInt8] {
    var sample: [UInt8] = []
    unit.bytes.withUnsafeBytes { bytes in
      for unit in AnnexB(bytes) where !Self.leftOut.contains(unit.type) {
        let isParameterSet = unit.type == .sequenceParameterSet || unit.type == .pictureParameterSet
        if isParameterSet, !keepsParameterSets { continue }
        for index in (0..<lengthByteCount).reversed() {
          sample.append(UInt8(truncatingIfNeeded: unit.range.count >> (index * 8)))
        }
        sample += bytes[unit.range]
      }
    }
    return sample
  }

  private func caps(_ record: [UInt8], format: String = "avc", extra: String = ",width=320,height=240") -> String {
    "video/x-h264,stream-format=\(format),alignment=au,codec_data=(buffer)"
      + record.map { String(format: "%02x", $0) }.joined() + extra
  }

  /// The NAL units of access units, without what tells them apart.
  private func units(_ accessUnit: [UInt8]) -> [[UInt8]] {
    accessUnit.withUnsafeBytes { bytes in
      AnnexB(bytes).filter { !Self.leftOut.contains($0.type) }.map { Array(bytes[$0.range]) }
    }
  }

  @Test(arguments: [1, 2, 3, 4], [false, true])
  func everyLength(_ byteCount: Int, isRTP: Bool) throws {
    // Small enough for lengths of one byte.
    let encoded = try encodedUnits(12, width: 32, height: 32, keyFrameInterval: 5)
    let headUnit = HeadUnitConfiguration.small(32, 32).with {
      if isRTP { $0.videoCapability?.supportedFormats = [.rtpH264] }
    }
    // The size comes from the parameter sets.
    let harness = try SinkHarness(
      headUnit, isLive: false, caps: caps(record(of: encoded[0], lengthByteCount: byteCount), extra: ""))
    try harness.pipeline.play()
    for unit in encoded { harness.push(sample(of: unit, lengthByteCount: byteCount), flags: unit.flags) }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let received = harness.headUnit.record.video
    #expect(received.count == encoded.count)
    for (unit, received) in zip(encoded, received) { #expect(units(unit.bytes) == units(received)) }
    #expect(try decode(received, width: 32, height: 32).count == encoded.count)
    #expect(harness.headUnit.record.violations == [])
    #expect(eventually { (try? harness.statistics["key-frames-sent"]) == 3 })
  }

  /// Caps that promise start codes: nothing can be shown, and a warning says why.
  @Test func lengthsInsteadOfStartCodes() throws {
    let encoded = try encodedUnits(12, width: 32, height: 32, keyFrameInterval: 5)
    let harness = try SinkHarness(
      .small(32, 32), isLive: false, caps: "video/x-h264,stream-format=byte-stream,alignment=au")
    try harness.pipeline.play()
    for unit in encoded {
      harness.push(sample(of: unit, lengthByteCount: 2, keepsParameterSets: true), flags: unit.flags)
    }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let warnings = harness.pipeline.messages.compactMap(\.warning).map(\.text)
    #expect(warnings.count == 1 && warnings.first?.contains("no start codes") == true, "\(warnings)")
    #expect(try harness.statistics.areFramesConserved)
  }

  /// `avc3` carries its parameter sets itself.
  @Test func parameterSetsOfTheStream() throws {
    let encoded = try encodedUnits(6, keyFrameInterval: 3)
    var record = record(of: encoded[0], lengthByteCount: 4)
    record = Array(record[..<5]) + [0xE0, 0]
    let harness = try SinkHarness(isLive: false, caps: caps(record, format: "avc3"))
    try harness.pipeline.play()
    for unit in encoded {
      harness.push(sample(of: unit, lengthByteCount: 4, keepsParameterSets: true), flags: unit.flags)
    }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    for (unit, received) in zip(encoded, harness.headUnit.record.video) {
      #expect(units(unit.bytes) == units(received))
    }
    #expect(harness.headUnit.record.video.count == 6 && harness.headUnit.record.violations == [])
  }

  /// Other parameter sets hold from the next caps on, and the buffers are of several blocks.
  @Test func newConfiguration() throws {
    let first = try encodedUnits(4, keyFrameInterval: 4)
    let second = try encodedUnits(4, keyFrameInterval: 4, encoder: "tune=zerolatency ref=3", profile: "main")
    #expect(units(first[0].bytes)[0] != units(second[0].bytes)[0])
    let harness = try SinkHarness(isLive: false, caps: caps(record(of: first[0], lengthByteCount: 4)))
    try harness.pipeline.play()
    for unit in first { harness.push(sample(of: unit, lengthByteCount: 4), flags: unit.flags) }
    harness.source.setCaps(caps(record(of: second[0], lengthByteCount: 2)))
    for unit in second {
      let bytes = sample(of: unit, lengthByteCount: 2)
      let half = bytes.count / 2
      let buffer = gst_buffer_append(
        harness.source.buffer(of: Array(bytes[..<half])), harness.source.buffer(of: Array(bytes[half...])))
      gst_buffer_set_flags(buffer, unit.flags)
      harness.push(try #require(buffer))
    }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let received = harness.headUnit.record.video
    #expect(received.map(units) == (first + second).map { units($0.bytes) })
    #expect(try decode(received, width: 320, height: 240).count == 8)
  }

  /// A file and its copy by a muxer hold the same pictures; nothing stands between demuxer and sink, and the muxer's
  /// branch is not written into.
  @Test func teeToAMuxer() throws {
    try FileManager.default.withTemporaryFolder(checkTee)
  }

  private func checkTee(_ folder: URL) throws {
    let film = try Film(in: folder)
    let headUnit = try TestHeadUnit()
    let copy = folder.appendingPathComponent("copy.mp4").path
    let pipeline = try Pipeline(
      """
      filesrc location=\(film.path) ! qtdemux ! tee name=tee \
      tee. ! queue ! sdlvideosink name=sink sync=false keep-alive-interval=0 uri=\(headUnit.uri) \
      tee. ! queue ! h264parse ! mp4mux ! filesink location=\(copy)
      """)
    try pipeline.play()
    try pipeline.waitForEnd()
    let received = headUnit.record.video
    #expect(received.count == film.frameCount)
    #expect(received.allSatisfy { isKeyFrame($0) ? ((try? startsStream($0)) ?? false) : true })
    let pictures = try decode(received, width: 320, height: 240)
    #expect(pictures == (try film.pictures()) && pictures.count == film.frameCount)
    #expect(try Film.pictures(of: copy) == pictures)
    #expect(headUnit.record.violations == [])
  }

  /// The field of the error that says what to do; damage of `codec_data`, then of lengths.
  @Test(arguments: [
    ("01420c1e", "ends too early"), ("02420c1eff", "ends too early"), ("02420c1effe100", "version is 2"),
    ("01420c1effe1000465640c1e01000268ce", "of type 5"), ("01420c1effe1ffff67420c1e", "ends too early"),
  ])
  func damagedCodecData(_ data: String, _ reason: String) throws {
    let harness = try SinkHarness(
      isLive: false, caps: "video/x-h264,stream-format=avc,alignment=au,codec_data=(buffer)\(data),width=320,height=240"
    )
    try harness.pipeline.play()
    harness.push([0, 0, 0, 1, 0x65])
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(error.text.contains(reason) && error.text.contains("mux"), "\(error)")
  }

  @Test(
    arguments: [
      ([0, 0, 0, 9, 0x41, 1], "9 bytes are announced for a NAL unit where 2 are left"),
      ([0xFF, 0xFF, 0xFF, 0xFF, 0x41], "4294967295 bytes are announced for a NAL unit where 1 are left"),
      ([0, 0, 0, 1, 0x41, 7, 7], "a length is cut off"),
    ] as [([UInt8], String)])
  func damagedLengths(_ bytes: [UInt8], _ reason: String) throws {
    let encoded = try encodedUnits(1)
    let harness = try SinkHarness(isLive: false, caps: caps(record(of: encoded[0], lengthByteCount: 4)))
    try harness.pipeline.play()
    harness.push(sample(of: encoded[0], lengthByteCount: 4))
    harness.push(bytes, flags: GST_BUFFER_FLAG_DELTA_UNIT)
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(error.text.contains(reason) && error.text.contains("Mux the file again"), "\(error)")
    #expect(try harness.statistics.areFramesConserved)
  }

  /// Caps without a profile: it is found in the stream, or in `codec_data`, and refused as if the caps had said it.
  /// The words are those for raw video.
  @Test(arguments: [true, false]) func interlacedStream(isByteStream: Bool) throws {
    let encoded = try encodedUnits(
      1, format: "I420,interlace-mode=interleaved", encoder: "interlaced=true", profile: "main")
    let harness = try SinkHarness(
      isLive: false, caps: isByteStream ? EncodedUnit.caps() : caps(record(of: encoded[0], lengthByteCount: 4)))
    try harness.pipeline.play()
    harness.push(isByteStream ? encoded[0].bytes : sample(of: encoded[0], lengthByteCount: 4))
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(error.text.contains("Interlaced video can't be shown") && error.text.contains("deinterlace"), "\(error)")
  }

  /// A first buffer that fails leaves the sink in READY, from where it goes to NULL without PAUSED: nothing stays in it.
  @Test func firstBufferThatFails() throws {
    let encoded = try encodedUnits(
      1, format: "I420,interlace-mode=interleaved", encoder: "interlaced=true", profile: "main")
    let harness = try SinkHarness(isLive: false, caps: caps(record(of: encoded[0], lengthByteCount: 4)))
    let sink = try harness.pipeline.sink.pointer
    // The source's EOS after the error would complete PAUSED.
    let pad = try nonNull(gst_element_get_static_pad(sink, "sink"))
    defer { gst_object_unref(pad) }
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      { _, info, _ in
        let event = info.flatMap { gst_pad_probe_info_get_event($0) }
        return event?.pointee.type == GST_EVENT_EOS ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
      }, nil, nil)
    harness.pipeline.setState(GST_STATE_PAUSED)
    harness.push(sample(of: encoded[0], lengthByteCount: 4))
    _ = try harness.pipeline.waitForError()
    #expect(eventually { gst_element_get_state(sink, nil, nil, 0) == GST_STATE_CHANGE_FAILURE })
    harness.pipeline.stop()
    harness.source.liveBuffers.expectNone()
    #expect(try harness.pipeline.sink["stream-state"] == "stopped")
  }

  /// The first picture is seen in PAUSED, and says so.
  @Test(arguments: [true, false]) func pixelsThatAreNotSquare(isByteStream: Bool) throws {
    let encoded = try encodedUnits(3, format: "I420,pixel-aspect-ratio=4/3")
    let harness = try SinkHarness(
      isLive: false, caps: isByteStream ? EncodedUnit.caps() : caps(record(of: encoded[0], lengthByteCount: 4)),
      properties: "sync=false")
    harness.pipeline.setState(GST_STATE_PAUSED)
    func push(_ unit: EncodedUnit) {
      harness.push(isByteStream ? unit.bytes : sample(of: unit, lengthByteCount: 4), flags: unit.flags)
    }
    push(encoded[0])
    let warning = try harness.pipeline.waitForWarning()
    #expect(warning.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(warning.text.contains("not square (4/3)") && warning.text.contains("videoconvertscale"), "\(warning)")
    try harness.pipeline.reach(GST_STATE_PLAYING)
    encoded.dropFirst().forEach(push)
    try harness.headUnit.waitForFrames(3)
    #expect(harness.pipeline.drain().count { $0.warning != nil } == 1)
  }

  /// The caps may come without the size, which the first picture has.
  @Test func sizeOfTheParameterSetsInPaused() throws {
    let unit = try #require(encodedUnits(1).first)
    let harness = try SinkHarness(
      isLive: false, caps: "video/x-h264,stream-format=byte-stream,alignment=au", properties: "sync=false")
    harness.pipeline.setState(GST_STATE_PAUSED)
    harness.push(unit.bytes)
    try harness.headUnit.waitForFrames(1)
  }

  /// It is told in PAUSED, before a frame is due.
  @Test(arguments: [("Y444", "high-4:4:4"), ("I420_10LE", "high-10"), ("Y42B", "high-4:2:2")], [true, false])
  func profileOfTheStream(_ input: (format: String, profile: String), isByteStream: Bool) throws {
    let encoded = try encodedUnits(1, format: input.format, profile: input.profile)
    let harness = try SinkHarness(
      isLive: false, caps: isByteStream ? EncodedUnit.caps() : caps(record(of: encoded[0], lengthByteCount: 4)))
    harness.pipeline.setState(GST_STATE_PAUSED)
    harness.push(isByteStream ? encoded[0].bytes : sample(of: encoded[0], lengthByteCount: 4))
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(error.text.contains("profile \(input.profile) can't be decoded by head units"), "\(error)")
    #expect(harness.headUnit.record.video.isEmpty)
  }
}
