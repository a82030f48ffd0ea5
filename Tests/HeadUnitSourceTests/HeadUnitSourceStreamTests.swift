import CGStreamerApp
import GStreamerKit
import H264
import SDLLink
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Streams as apps cut them, and what downstream does with them.
@Suite struct HeadUnitSourceStreamTests {
  private func screen(_ properties: String = "", output: String = "sync=false") throws -> HeadUnitPipeline {
    try HeadUnitPipeline("screen-size=320x240 formats=\"RAW/H264, RTP/H264\" \(properties)", output: output)
  }

  @Test func nalUnitsInMessagesOfTheirOwn() throws {
    let units = try encodedUnits(8)
    let screen = try screen()
    let app = try RawApp.streaming(port: screen.port)
    let messages = units.flatMap { unit in
      var starts = unit.bytes.withUnsafeBytes { bytes in
        AnnexB(bytes).map { startCodeStart($0.range.lowerBound, bytes) }
      }
      starts.append(unit.bytes.count)
      return zip(starts, starts.dropFirst()).map { Array(unit.bytes[$0..<$1]) }
    }
    app.video(messages: messages)
    app.endVideo()
    #expect(try screen.pull(units.count).map(\.bytes) == units.map(\.bytes))
  }

  private func startCodeStart(_ offset: Int, _ bytes: UnsafeRawBufferPointer) -> Int {
    ParameterSets.startCodeOffset(before: offset, in: bytes)
  }

  @Test func piecesOfAFile() throws {
    let units = try encodedUnits(8)
    let stream = units.flatMap(\.bytes)
    let screen = try screen()
    let app = try RawApp.streaming(port: screen.port)
    app.video(
      messages: stride(from: 0, to: stream.count, by: 777).map { Array(stream[$0..<min($0 + 777, stream.count)]) })
    app.endVideo()
    #expect(try screen.pull(units.count).map(\.bytes) == units.map(\.bytes))
  }

  @Test func messagesInManyFrames() throws {
    let units = try encodedUnits(4)
    let screen = try screen()
    let app = try RawApp.streaming(port: screen.port)
    for unit in units { app.video(unit.bytes, maximumPayload: 300) }
    #expect(try screen.pull(units.count).map(\.bytes) == units.map(\.bytes))
  }

  /// A still picture that nothing follows is shown.
  @Test func onePicture() throws {
    let unit = try encodedUnits(1)[0]
    let screen = try screen()
    let app = try RawApp.streaming(port: screen.port)
    app.video(unit.bytes)
    #expect(try screen.pull(1).map(\.bytes) == [unit.bytes])
  }

  @Test func nothingBeforeTheFirstKeyFrame() throws {
    let units = try encodedUnits(25, keyFrameInterval: 10)
    let screen = try screen("strict=false")
    let app = try RawApp.streaming(port: screen.port)
    for unit in units.dropFirst(3) { app.video(unit.bytes) }
    app.endVideo()
    let first = try screen.pull(1)[0]
    #expect(first.bytes == units[10].bytes && first.isDiscontinuous && !first.isDelta)
    #expect(eventually { screen.statistics["frames-dropped-waiting-for-key-frame"] == 7 })
    #expect(screen.statistics.areFramesBalanced)
  }

  @Test func overRTP() throws {
    let units = try encodedUnits(12)
    let screen = try screen()
    let app = try RawApp.streaming(port: screen.port, .rtp320x240)
    var packetizer = RTPPacketizer(sequenceNumber: 7, timestamp: .max - 9000, synchronizationSource: 1, packetSize: 500)
    let messages = units.enumerated().map { index, unit in
      Self.packets(of: unit.bytes, at: .milliseconds(40 * index), &packetizer)
    }
    let began = MonotonicClock.now
    app.video(messages: messages)
    let samples = try screen.pull(units.count)
    // On a busy machine they do not come at once.
    let longest = UInt64((MonotonicClock.now - began).nanoseconds)
    let written = samples.map { try? nalTypes($0.bytes) }
    #expect(written == units.map { try? nalTypes($0.bytes) })
    // They came at once, but are 40 ms apart, up to the lag that is allowed.
    let steps = zip(samples, samples.dropFirst()).map { $1.time - $0.time }
    #expect(samples.last.map { $0.time - samples[0].time } ?? 0 < 12 * 40_000_000 + longest)
    #expect(steps.allSatisfy { $0 <= 41_000_000 + longest }, "\(steps)")
    #expect(screen.apps.contains("RTP"))
    #expect(screen.statistics["violations"] == 0, "\(screen.source["violations"] ?? "")")
  }

  private static func packets(
    of unit: [UInt8], at time: Duration, _ packetizer: inout RTPPacketizer
  ) -> [UInt8] {
    unit.withUnsafeBytes { bytes in
      packetizer.packets(of: bytes, at: time).flatMap { packet in
        withUnsafeTemporaryAllocation(byteCount: RTPPacket.maximumPrefixByteCount, alignment: 1) { prefix in
          let size = packet.writePrefix(to: prefix)
          return Array(prefix[..<size]) + Array(bytes[packet.payloadRange])
        }
      }
    }
  }

  /// A film's app sends a whole group of pictures at once, after a seek or a break, while no buffer is taken.
  @Test(arguments: [80, 250]) func aBurstIsKept(count: Int) throws {
    let units = try encodedUnits(count, keyFrameInterval: 250)
    let screen = try screen("framerate=0 max-bitrate=0", output: "sync=false max-buffers=1")
    let app = try RawApp.streaming(port: screen.port)
    for unit in units { app.video(unit.bytes) }
    app.endVideo()
    #expect(eventually { screen.statistics["frames-in"] == units.count })
    #expect(try screen.pull(units.count).map(\.bytes) == units.map(\.bytes))
    #expect(screen.statistics["frames-dropped-queue-full"] == 0 && screen.statistics.areFramesBalanced)
  }

  /// No buffer is taken for a while: what is too much goes up to a key frame, the rest stays decodable.
  @Test func slowDownstream() throws {
    let units = try encodedUnits(300, keyFrameInterval: 25).map { $0.enlarged(by: 50_000) }
    let screen = try screen("framerate=0 max-bitrate=0", output: "sync=false max-buffers=1")
    let app = try RawApp.streaming(port: screen.port)
    for unit in units { app.video(unit.bytes) }
    app.endVideo()
    #expect(eventually { screen.statistics["frames-in"] == units.count })
    #expect(screen.statistics["frames-dropped-queue-full"] > 100)
    #expect(screen.statistics["frames-queued"] <= (8 << 20) / 50_000)
    var received: [HeadUnitPipeline.Sample] = []
    while received.last?.bytes != units.last?.bytes, let sample = screen.pull() { received.append(sample) }
    #expect(received.last?.bytes == units.last?.bytes)
    #expect(screen.statistics.areFramesBalanced && screen.statistics["frames-out"] == received.count)
    // Each discontinuity is a key frame, and nothing else is missing.
    let indexes = received.map { sample in units.firstIndex { $0.bytes == sample.bytes } ?? -1 }
    for (position, (earlier, later)) in zip(indexes, indexes.dropFirst()).enumerated() where later != earlier + 1 {
      #expect(received[position + 1].isDiscontinuous && !received[position + 1].isDelta)
    }
  }

  @Test func timesAreThoseOfTheirArrival() throws {
    let units = try encodedUnits(3)
    let screen = try screen()
    let app = try RawApp.streaming(port: screen.port)
    let began = MonotonicClock.now
    app.video(units[0].bytes)
    let first = try screen.pull(1)[0]
    g_usleep(100_000)
    app.video(units[1].bytes)
    let second = try screen.pull(1)[0]
    let elapsed = UInt64((MonotonicClock.now - began).nanoseconds)
    #expect(second.time - first.time <= elapsed)
    #expect(second.time - first.time >= 50_000_000)
    #expect(second.time <= UInt64(gst_element_get_current_running_time(screen.source.pointer)))
  }

  @Test func latency() throws {
    let screen = try screen()
    let pad = try screen.source.pad("src")
    func latency() -> (isLive: Bool, minimum: UInt64) {
      let query = gst_query_new_latency()
      defer { gst_mini_object_unref(UnsafeMutableRawPointer(query)?.assumingMemoryBound(to: GstMiniObject.self)) }
      var (isLive, minimum): (gboolean, GstClockTime) = (0, 0)
      #expect(gst_pad_query(pad, query) != 0)
      gst_query_parse_latency(query, &isLive, &minimum, nil)
      return (isLive != 0, UInt64(minimum))
    }
    #expect(latency() == (true, 0))
    let app = try RawApp.streaming(port: screen.port, .rtp320x240)
    #expect(eventually { latency() == (true, 40_000_000) })
    app.endVideo()
  }
}
