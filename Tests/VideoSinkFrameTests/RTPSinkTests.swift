import CGStreamerApp
import GStreamerKit
import H264
import SDLApp
import SDLHeadUnit
import Testing

import func TestSupport.joined
import struct TestSupport.SeededGenerator

@testable import Plugin
@testable import PluginTestSupport

/// NAL units after start codes of four bytes.
private func annexB(_ units: [[UInt8]]) -> [UInt8] {
  units.flatMap { [0, 0, 0, 1] + $0 }
}

/// H.264 in RTP packets, from the input to the head unit's decoder.
@Suite struct RTPSinkTests {
  /// Expects whole packets, a marker in the last of each access unit, sequence numbers without gaps, growing timestamps
  /// (both start anew with each service) and one SSRC. Returns the access units' timestamps, relative to the first.
  @discardableResult
  private func expectValidPackets(
    _ harness: SinkHarness, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [UInt32] {
    let tap = try #require(harness.tap)
    let messages = tap.packets.compactMap(\.self)
    #expect(messages.count == tap.video.count && !messages.isEmpty, sourceLocation: sourceLocation)
    let starts = Set(tap.starts)
    var last: SentPacket?
    for (index, packets) in messages.enumerated() {
      if starts.contains(index) { last = nil }
      #expect(
        packets.map(\.hasMarker) == packets.indices.map { $0 == packets.count - 1 }, sourceLocation: sourceLocation)
      #expect(Set(packets.map(\.timestamp)).count == 1, sourceLocation: sourceLocation)
      if let last, let first = packets.first {
        #expect(Int32(bitPattern: first.timestamp &- last.timestamp) > 0, sourceLocation: sourceLocation)
      }
      for packet in packets {
        if let last { #expect(packet.sequenceNumber == last.sequenceNumber &+ 1, sourceLocation: sourceLocation) }
        last = packet
      }
    }
    #expect(Set(messages.joined().map(\.source)).count == 1, sourceLocation: sourceLocation)
    #expect(harness.headUnit.record.violations == [], sourceLocation: sourceLocation)
    let timestamps = messages.compactMap(\.first?.timestamp)
    return timestamps.map { $0 &- timestamps[0] }
  }

  /// The same pictures over both transports.
  private func units(_ format: VideoStreamingFormat, _ pictures: [Picture]) throws -> [[UInt8]] {
    let configuration = HeadUnitConfiguration.rtp().with { $0.videoCapability?.supportedFormats = [format] }
    let harness = try SinkHarness(
      configuration, isLive: false,
      properties: "sync=false keep-alive-interval=0 bitrate=6000 threads=1 speed-preset=veryfast")
    for picture in pictures { harness.push(picture.bytes) }
    harness.source.end()
    harness.pipeline.setState(GST_STATE_PAUSED)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["protocol"] == format.videoProtocol)
    try harness.pipeline.reach(GST_STATE_PLAYING)
    try harness.pipeline.waitForEnd()
    #expect(harness.headUnit.record.violations == [])
    #expect(try harness.statistics.areFramesConserved)
    return try harness.headUnit.waitForFrames(pictures.count)
  }

  @Test func rawInputIsTheSameOverBoth() throws {
    let pictures = (0..<12).map { Picture(320, 240, $0) }
    let units = try units(.rtpH264, pictures)
    let isSame = try units.map(nalUnits) == self.units(.rawH264, pictures).map(nalUnits)
    #expect(isSame)
    let decoded = try decode(units, width: 320, height: 240)
    #expect(decoded.count == pictures.count)
    for (picture, decoded) in zip(pictures, decoded) { #expect(picture.psnr(against: decoded) > 30) }
  }

  @Test(arguments: [1, 3]) func encodedInputPassesUnchanged(blocks: Int) throws {
    let units = try encodedUnits(25)
    let harness = try SinkHarness(.rtp(), isLive: false, caps: EncodedUnit.caps(), isTapped: true)
    try harness.pipeline.play()
    for (index, unit) in units.enumerated() {
      let cut = unit.bytes.count / blocks
      let parts = (0..<blocks).map { unit.bytes[($0 * cut)..<($0 == blocks - 1 ? unit.bytes.count : ($0 + 1) * cut)] }
      guard let buffer = harness.source.buffer(of: Array(parts[0])) else { throw TestFailure("no buffer") }
      for part in parts.dropFirst() {
        guard let more = harness.source.buffer(of: Array(part)) else { throw TestFailure("no buffer") }
        gst_buffer_append_memory(buffer, gst_buffer_get_all_memory(more))
        gst_buffer_unref(more)
      }
      harness.source.push(buffer, at: index, flags: unit.flags)
    }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let received = try harness.headUnit.waitForFrames(units.count)
    let isSame = received.map(nalUnits) == units.map { nalUnits($0.bytes) }
    #expect(isSame)
    let isSamePicture =
      try decode(received, width: 320, height: 240) == decode(units.map(\.bytes), width: 320, height: 240)
    #expect(isSamePicture)
    #expect(try expectValidPackets(harness) == units.indices.map { UInt32($0) * 3000 })
  }

  /// Parameter sets that a key frame lacks come from the sink, in packets of the same access unit.
  @Test func missingParameterSets() throws {
    let units = try encodedUnits(8, keyFrameInterval: 4)
    let harness = try SinkHarness(
      .rtp(), caps: EncodedUnit.caps(), properties: "sync=false keep-alive-interval=0", isTapped: true)
    try harness.pipeline.play()
    harness.push(units[0].bytes, flags: units[0].flags)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    // The first one may have come before the service.
    harness.push(units[0].bytes, flags: units[0].flags)
    #expect(
      eventually {
        guard let statistics = try? harness.statistics else { return false }
        return statistics["frames-in"] == 2 && statistics["frames-queued"] == 0
      })
    let count = try harness.headUnit.waitForFrames(max(harness.statistics["frames-sent"], 1)).count
    try harness.setAppState(.background)
    try harness.wait(forStreamState: "suspended")
    try harness.setAppState(.foreground)
    try harness.wait(forStreamState: "streaming")
    let keyFrame = nalUnits(units[4].bytes)
    let picture = try #require(keyFrame.last)
    try #require(picture[0] & 0x1F == NALUnitType.idrSlice.rawValue)
    harness.push([0, 0, 0, 1] + picture)
    for unit in units[5...] { harness.push(unit.bytes, flags: unit.flags) }
    let video = try harness.headUnit.waitForFrames(count + 4)
    #expect(video[count].startsStream && nalUnits(video[count]).last == picture)
    #expect(harness.tap?.packets[count]?.count == nalUnits(video[count]).count)
    #expect(try decode(Array(video[count...]), width: 320, height: 240).count == 4)
    try expectValidPackets(harness)
  }

  @Test("Parameter sets and two slices") func parameterSetsAndSlices() throws {
    let harness = try SinkHarness(
      .rtp(), properties: "sync=false keep-alive-interval=0 threads=1 key-int-max=2 option-string=slices=2",
      isTapped: true)
    try harness.start()
    try harness.deliver(4)
    let packets = try #require(harness.tap).packets
    // The first key frame also has the encoder's SEI.
    let second = try #require(packets[2])
    #expect(second.map(\.payloadType) == [7, 8, 5, 5])
    #expect(second.map(\.hasMarker) == [false, false, false, true])
    #expect(Set(second.map(\.timestamp)).count == 1)
    try expectValidPackets(harness)
  }

  @Test("15 pictures per second", arguments: [true, false]) func fifteenPicturesPerSecond(isRaw: Bool) throws {
    let units = isRaw ? [] : try encodedUnits(8, frameRate: 15)
    let harness = try SinkHarness(
      .rtp(frameRate: 15), isLive: false, caps: isRaw ? Picture.caps(frameRate: 15) : EncodedUnit.caps(), frameRate: 15,
      properties: "sync=false keep-alive-interval=0", isTapped: true)
    try harness.pipeline.play()
    if isRaw { harness.pushPictures(8) } else { for unit in units { harness.push(unit.bytes, flags: unit.flags) } }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(try expectValidPackets(harness) == (0..<8).map { $0 * 6000 })
  }

  @Test("RAW, an access unit in each message") func byteStream() throws {
    let harness = try SinkHarness(isLive: false, isTapped: true)
    try harness.pipeline.play()
    harness.pushPictures(6)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let messages = try #require(harness.tap).video
    #expect(messages.map(\.bytes) == harness.headUnit.record.video && messages.count == 6)
    for message in messages {
      #expect(message.frameCount == 1)
      #expect(annexB(nalUnits(message.bytes)) == message.bytes)
    }
  }

  @Test("300 000 bytes are three frames", arguments: [VideoStreamingFormat.rawH264, .rtpH264])
  func threeFrames(_ format: VideoStreamingFormat) throws {
    let configuration = HeadUnitConfiguration.rtp().with { $0.videoCapability?.supportedFormats = [format] }
    let harness = try SinkHarness(configuration, isLive: false, caps: EncodedUnit.caps(), isTapped: true)
    let unit = annexB(nalUnits(try encodedUnits(1)[0].bytes).filter { $0[0] & 0x1F != 9 })
    // Filler data makes it as large as needed.
    let filler = [UInt8](repeating: 0xFF, count: 300_000 - unit.count - 6)
    let large = joined(unit, [0, 0, 0, 1, 0x0C], filler, [0x80])
    try harness.pipeline.play()
    harness.push(large)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let message = try #require(harness.tap?.video.first)
    #expect(message.frameCount == 3)
    let received = try harness.headUnit.waitForFrames(1)
    let isSame = nalUnits(received[0]) == nalUnits(large)
    #expect(isSame)
    if format == .rtpH264 { try expectValidPackets(harness) } else { #expect(harness.headUnit.record.violations == []) }
  }

  /// A NAL unit that is larger than a packet is sent in fragmentation units.
  @Test func largeKeyFrame() throws {
    let harness = try SinkHarness(
      .rtp(1280, 720), isLive: false, caps: Picture.caps(1280, 720),
      properties: "sync=false bitrate=100000 speed-preset=ultrafast threads=1 keep-alive-interval=0", isTapped: true)
    var random = SeededGenerator(seed: 1)
    try harness.pipeline.play()
    harness.push(random.bytes(1280 * 720 * 3 / 2))
    harness.pushPicture(1280, 720)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let units = try harness.headUnit.waitForFrames(2)
    #expect(units[0].count > 200_000, "\(units[0].count) bytes")
    let messages = try #require(harness.tap).packets
    let packets = try #require(messages[0])
    #expect(packets.count { $0.payloadType == 28 } > 3)
    #expect(try decode(units, width: 1280, height: 720).count == 2)
    try expectValidPackets(harness)
  }

  @Test(arguments: [true, false]) func keepAlive(isRaw: Bool) throws {
    let harness = try SinkHarness(
      .rtp(), isLive: false, caps: isRaw ? Picture.caps() : EncodedUnit.caps(),
      properties: "sync=false keep-alive-interval=60", isTapped: true)
    let units = isRaw ? [] : try encodedUnits(2)
    try harness.pipeline.play()
    if isRaw { harness.pushPictures(2) }
    for unit in units { harness.push(unit.bytes, flags: unit.flags) }
    let video = try harness.headUnit.waitForFrames(12)
    #expect(try decode(video, width: 320, height: 240).count == video.count)
    let times = try expectValidPackets(harness)
    let steps = zip(times, times.dropFirst()).map { $1 - $0 }.suffix(6)
    // 60 ms are 5400; a busy machine makes some longer, and then others shorter. Their sum is too small by no more than
    // the first picture was late, which is less than one step.
    #expect(steps.allSatisfy { $0 > 0 && $0 < 90_000 } && steps.reduce(0, +) > 5400 * (steps.count - 1), "\(steps)")
  }

  @Test func noticeAndReturn() throws {
    let harness = try SinkHarness(
      .rtp(frameRate: 60), caps: Picture.caps(frameRate: 60), frameRate: 60,
      properties: "sync=false keep-alive-interval=0", isTapped: true)
    try harness.start()
    try harness.deliver(3)
    try harness.setAppState(.resigning)
    try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
    let noticed = try harness.statistics["notice-frames-sent"]
    #expect(noticed == 30)
    try harness.headUnit.waitForFrames(3 + noticed)
    try harness.setAppState(.foreground)
    let index = try harness.deliverFirst()
    #expect(index == 3 + noticed && harness.headUnit.record.video[3].startsStream)
    #expect(harness.headUnit.record.video[index].startsStream)
    let times = try expectValidPackets(harness)
    let span = times[index - 1] - times[3]
    // 29 intervals of 1500.
    #expect(span > 35_000 && span < 450_000, "\(span)")
    #expect(try decode(harness.headUnit.record.video, width: 320, height: 240).count >= index)
  }

  /// A new service has other sequence numbers and timestamps, and the same SSRC.
  @Test func restart() throws {
    let harness = try SinkHarness(.rtp(), isTapped: true)
    try harness.start()
    try harness.deliver(3)
    try harness.show(.background)
    try harness.wait(forStreamState: "stopped")
    let count = harness.headUnit.record.video.count
    try harness.show(.full)
    let index = try harness.deliverFirst()
    #expect(index >= count && harness.headUnit.record.video[count].startsStream)
    try harness.deliver(2)
    try expectValidPackets(harness)
    let packets = try #require(harness.tap).packets
    let last = try #require(packets[count - 1]?.last)
    let first = try #require(packets[count]?.first)
    // That the random start values continue the old ones is too unlikely to matter.
    #expect(first.sequenceNumber != last.sequenceNumber &+ 1 || first.timestamp &- last.timestamp > 900_000)
    #expect(first.source == last.source)
  }

  @Test func bytesWithoutAnyNALUnit() throws {
    let units = try encodedUnits(3)
    let harness = try SinkHarness(.rtp(), isLive: false, caps: EncodedUnit.caps(), isTapped: true)
    try harness.pipeline.play()
    for unit in units[..<2] { harness.push(unit.bytes, flags: unit.flags) }
    harness.push([1, 2, 3, 4, 5, 6, 7], flags: GST_BUFFER_FLAG_DELTA_UNIT)
    harness.push(units[0].bytes, flags: units[0].flags)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(harness.headUnit.record.video.count == 3)
    #expect(try harness.statistics["frames-dropped-no-picture"] == 1)
    #expect(try harness.statistics.areFramesConserved)
    try expectValidPackets(harness)
  }
}

/// RTP over a connection whose head unit stops reading.
@Suite struct RTPStallTests {
  @Test func droppedFramesLeaveNoGap() throws {
    let headUnit = try TestHeadUnit(.rtp(640, 480))
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true pattern=snow ! video/x-raw,format=I420,width=640,height=480,framerate=30/1 \
      ! sdlvideosink name=sink bitrate=50000 speed-preset=ultrafast max-latency=0 uri=\(headUnit.uri)
      """)
    try pipeline.play()
    try headUnit.waitForFrames(3)
    let app = try headUnit.waitForApp()
    headUnit.server.setReading(false, for: app)
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics["frames-dropped-queue-full"] > 3 })
    #expect(sink.statistics["queue-frames"] <= 4 && sink.statistics.areFramesConserved)
    let before = headUnit.record.video.count
    headUnit.server.setReading(true, for: app)
    let sent = sink.statistics["frames-sent"]
    #expect(eventually { sink.statistics["frames-sent"] > sent + 10 })
    let frames = try headUnit.waitForFrames(before + 10)
    #expect(try decode(frames, width: 640, height: 480).count == frames.count)
    // Dropped frames left no gap in the sequence numbers.
    #expect(headUnit.record.violationsBesidesBursts == [])
  }
}
