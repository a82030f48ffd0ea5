import H264
import SDLHeadUnit
import SDLMessages
import SDLWire
import TestSupport
import Testing

@Suite struct RTPStreamTests {
  private static let keyFrame = Stream.units(Stream.sps480x320, Stream.pps, Stream.idr, Stream.secondIDRSlice)

  @Test(arguments: [15, 20, 24, 1400, 65_535]) func videoArrivesAsAByteStream(packetSize: Int) {
    var app = TestApp.streamingRTP()
    var sender = RTPSender(packetSize: packetSize)
    let units = [Self.keyFrame, Stream.picture, Self.keyFrame, Stream.units(Stream.delimiter, Stream.p)]
    var byteCount = 0
    for unit in units {
      let message = sender.message(of: unit)
      byteCount += message.count
      app.video(message)
    }
    // The pictures are 100 ms apart.
    let expected = units.enumerated().flatMap { index, unit -> [HeadUnitSession.Event] in
      [.videoTimestamp(UInt32(1000 + 9000 * index)), .videoData(unit)]
    }
    #expect(app.events == expected)
    #expect(app.session.statistics.pictures == 4 && app.session.statistics.keyFrames == 2)
    #expect(app.session.statistics.messages == 4 && app.session.statistics.bytes == UInt64(byteCount))
    #expect(app.session.statistics.violations == 0)
  }

  /// SDL's iOS library sends a packet per message, the Android library cuts them at the mtu.
  @Test(arguments: [1, 2, 13, 14, 40, 1000]) func messagesMayCutTheStreamAnywhere(size: Int) {
    var app = TestApp.streamingRTP()
    var sender = RTPSender(packetSize: 24)
    let units = [Self.keyFrame, Stream.picture, Self.keyFrame, Stream.picture]
    let stream = units.flatMap { sender.message(of: $0) }
    for start in stride(from: 0, to: stream.count, by: size) {
      app.video(Array(stream[start..<min(start + size, stream.count)]))
    }
    #expect(app.violations == [])
    #expect(app.shown == units)
  }

  /// The rules of the byte stream hold for the content of the packets as well.
  @Test func rulesOfTheByteStream() {
    func violations(_ units: [UInt8]...) -> [Violation] {
      var app = TestApp.streamingRTP()
      var sender = RTPSender()
      for unit in units { app.video(sender.message(of: unit)) }
      return app.violations
    }
    #expect(
      violations(Stream.picture) == [.stream(.firstNALUnit(type: 1)), .stream(.pictureBeforeKeyFrame)])
    #expect(violations(Stream.units(Stream.delimiter) + Self.keyFrame) == [])
    #expect(
      violations(Stream.units(Stream.sps480x320, Stream.idr)) == [.stream(.missingPictureParameterSet)])
    #expect(
      violations(Stream.keyFrame) == [
        .stream(.pictureSize(expected: VideoSize(480, 320), got: VideoSize(800, 480)))
      ])
  }

  @Test func frameRate() {
    var app = TestApp.streamingRTP()
    var sender = RTPSender()
    app.video(sender.message(of: Self.keyFrame))
    for _ in 0..<130 {
      app.wait(.milliseconds(33))
      app.video(sender.message(of: Stream.picture))
    }
    #expect(app.violations.first == .stream(.frameRate(pictures: 86, limit: 75, within: .seconds(5))))
  }

  @Test func aByteStreamIsNoRTP() {
    var app = TestApp.streamingRTP()
    app.video(Self.keyFrame)
    app.video(Stream.picture)
    #expect(app.faults.count == 1 && app.violations.count == 1)
    #expect(app.shown == [])
    #expect(
      app.violations.first?.description
        == "bytes that are not an RTP packet after its length (00 00 00 01 67 42 C0 15 DA 07 82 9B 01 10 00 00 …), so the "
        + "rest of the stream can't be read")
  }

  /// Inside TCP no bytes get lost, so that nothing is searched for after a wrong length.
  @Test func brokenFramingEndsTheStreamUntilTheNextService() {
    var app = TestApp.streamingRTP()
    var sender = RTPSender()
    app.video(sender.message(of: Self.keyFrame))
    app.video([0, 1, 0x41])
    for _ in 0..<20 { app.video(sender.message(of: Stream.picture)) }
    #expect(app.shown == [Self.keyFrame])
    #expect(app.faults == [.framing(firstBytes: [0, 1, 0x41])])
    #expect(app.session.statistics.messages == 22 && app.session.statistics.pictures == 1)
    app.restartRTP()
    app.video(sender.message(of: Self.keyFrame))
    #expect(app.shown == [Self.keyFrame] && app.violations == [])
  }

  @Test func startCodeInAPacket() {
    var app = TestApp.streamingRTP()
    var packet = RTPSender().packetsOfKeyFrame[0]
    packet.insert(contentsOf: [0, 0, 0, 1], at: 14)
    packet[1] += 4
    app.video(packet)
    #expect(app.faults == [.payloadType(0)])
    #expect(app.violations.first?.description.hasSuffix("(start codes must be left out)") == true)
  }

  @Test func markerRules() {
    var app = TestApp.streamingRTP()
    var sender = RTPSender(packetSize: 15)
    var packets = sender.packets(of: Self.keyFrame)
    // On every fragment of the last NAL unit, as SDL's libraries do.
    for index in packets.indices.suffix(6) { packets[index][3] |= 0x80 }
    app.video(packets.flatMap { $0 })
    #expect(app.faults == [.earlyMarker(sequenceNumber: 100 + UInt16(packets.count - 6))])
    #expect(app.shown == [Self.keyFrame])
    app.forget()

    var unmarked = sender.packets(of: Stream.picture)
    unmarked[unmarked.count - 1][3] &= 0x7F
    app.video(unmarked.flatMap { $0 })
    #expect(app.events == [])
    app.video(sender.message(of: Stream.picture))
    #expect(app.faults == [.missingMarker(timestamp: 10_000)])
    #expect(app.shown == [Stream.picture, Stream.picture])
  }

  @Test func timestampsWithinAnAccessUnitAndBehindIt() {
    var app = TestApp.streamingRTP()
    var sender = RTPSender()
    // The picture has another timestamp than its parameter sets.
    var packets = sender.packets(of: Self.keyFrame)
    for index in 2..<4 { packets[index][9] += 1 }
    app.video(packets.flatMap { $0 })
    #expect(app.faults == [.missingMarker(timestamp: 1000)])
    #expect(
      app.shown == [Stream.units(Stream.sps480x320, Stream.pps), Stream.units(Stream.idr, Stream.secondIDRSlice)])
    app.forget()

    sender.packetizer = RTPSender(sequenceNumber: 104, timestamp: 900).packetizer
    app.video(sender.message(of: Stream.picture))
    #expect(app.faults == [.timestampNotGrowing(previous: 1001, got: 900)])
    #expect(app.shown == [Stream.picture])
  }

  @Test func lossIsReportedOnce() {
    var app = TestApp.streamingRTP()
    var sender = RTPSender()
    app.video(sender.message(of: Self.keyFrame))
    for _ in 0..<3 {
      _ = sender.message(of: Stream.picture)
      app.video(sender.message(of: Stream.picture))
    }
    #expect(app.faults == [.lostPackets(expected: 104, got: 105)])
    #expect(app.shown.count == 4)
    #expect(app.session.statistics.violations == 1)
  }

  @Test func everyStartOfTheServiceStartsTheStream() {
    var app = TestApp.streamingRTP()
    var sender = RTPSender()
    let message = sender.message(of: Self.keyFrame)
    app.video(message + message.prefix(20))
    app.restartRTP()
    sender = RTPSender(sequenceNumber: 7, timestamp: 3)
    app.video(sender.message(of: Self.keyFrame))
    #expect(app.events == [.videoTimestamp(3), .videoData(Self.keyFrame)])
  }

  /// SDL's iOS library sets its encoder up again after a suspension, with other sequence numbers and timestamps in the
  /// same service.
  @Test func otherNumbersAfterAPause() {
    var app = TestApp.streamingRTP()
    var sender = RTPSender()
    app.video(sender.message(of: Self.keyFrame))
    app.wait(.seconds(2))
    app.forget()
    sender = RTPSender(sequenceNumber: 7, timestamp: 3)
    app.video(sender.message(of: Self.keyFrame))
    #expect(app.events == [.videoTimestamp(3), .videoData(Self.keyFrame)])
    app.wait(.milliseconds(100))
    app.forget()
    sender = RTPSender(sequenceNumber: 1000, timestamp: 3)
    app.video(sender.message(of: Self.keyFrame))
    #expect(app.faults == [.lostPackets(expected: 11, got: 1000)])
  }

  @Test func nothingIsShownWhileForbidden() {
    var app = TestApp.streamingRTP()
    var sender = RTPSender()
    app.video(sender.message(of: Self.keyFrame))
    app.set(.background, .notStreamable)
    app.forget()
    app.video(sender.message(of: Stream.picture))
    #expect(app.shown == [])
    app.set(.full, .streamable)
    app.video(sender.message(of: Stream.picture))
    #expect(app.shown == [Stream.picture])
    #expect(app.violations == [])
  }

  /// Every fault has a sentence of its own, and none breaks the session.
  @Test func faultsReadAsSentences() {
    let faults: [RTPFault] = [
      .framing(firstBytes: [1, 0xAB]), .packetStructure(sequenceNumber: 1), .lostPackets(expected: 1, got: 3),
      .payloadType(29), .payloadStructure(sequenceNumber: 1), .strayFragment(sequenceNumber: 1),
      .unfinishedNALUnit(type: 5), .earlyMarker(sequenceNumber: 1), .missingMarker(timestamp: 9),
      .timestampNotGrowing(previous: 9, got: 8), .oversizedAccessUnit(limit: 1),
    ]
    let texts = faults.map { "\(Violation.stream(.rtp($0)))" }
    #expect(Set(texts).count == faults.count)
    #expect(
      texts[0]
        == "bytes that are not an RTP packet after its length (01 AB …), so the rest of the stream can't be read")
    #expect(texts[2] == "RTP packet 3 where 1 was next")
    #expect(texts[9] == "access unit with RTP timestamp 8 after one with 9")
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>) func hostilePackets(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var app = TestApp.streamingRTP()
    var sender = RTPSender(packetSize: 24)
    var shown = 0
    for index in 0..<3000 {
      if index % 50 == 0 {
        // Each rule once per service.
        #expect(app.faults.count <= 11)
        shown += app.shown.count
        app.restartRTP()
        sender = RTPSender(packetSize: 24)
      }
      var message = sender.message(of: index % 10 == 0 ? Self.keyFrame : Stream.picture)
      if index % 4 == 0 {
        message[Int.random(in: 0..<message.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      app.video(message)
      app.wait(.milliseconds(Int.random(in: 0...80, using: &generator)))
    }
    #expect(shown > 500, "the streams are not mere garbage")
    #expect(app.session.statistics.messages == 3000)
  }
}
