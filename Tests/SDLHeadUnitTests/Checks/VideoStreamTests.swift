import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing
import TestSupport

@Suite struct VideoStreamTests {
  private func violations(_ messages: [UInt8]...) -> [Violation] {
    var app = TestApp.streaming()
    for message in messages { app.video(message) }
    return app.violations
  }

  @Test func goodStreams() {
    #expect(violations(Stream.keyFrame, Stream.picture, Stream.keyFrame, Stream.picture) == [])
    // An access unit delimiter may come first.
    #expect(violations(Stream.units(Stream.delimiter) + Stream.keyFrame) == [])
    #expect(violations(Stream.units(Stream.sps800x480, Stream.pps, [6, 5, 1, 0x80], Stream.idr)) == [])
    // Parameter sets alone, three-byte start codes.
    #expect(violations(Stream.units(Stream.sps800x480), Stream.units(Stream.pps), [0, 0, 1] + Stream.idr) == [])
  }

  /// Decoders begin at recovery points, and at I pictures behind parameter sets, as well.
  @Test func beginningsWithoutAnIDRPicture() {
    let headers = Stream.units(Stream.sps800x480, Stream.pps)
    let recovery = Stream.units([6, 6, 1, 0xC4, 0x80])
    #expect(violations(headers + recovery + Stream.picture, Stream.picture) == [])
    #expect(violations(headers + Stream.units([0x41, 0x88, 0x84]), Stream.picture) == [])
    #expect(violations(headers, Stream.picture, recovery) == [.stream(.pictureBeforeKeyFrame)])
    #expect(
      violations(headers + Stream.picture, Stream.units([0x41, 0x88, 0x84])) == [.stream(.pictureBeforeKeyFrame)])
  }

  @Test func anythingButAnSPSFirst() {
    #expect(violations(Stream.units(Stream.idr)).first == .stream(.firstNALUnit(type: 5)))
    #expect(violations(Stream.units(Stream.pps), Stream.keyFrame) == [.stream(.firstNALUnit(type: 8))])
    #expect(violations(Stream.units([6, 5, 1, 0x80]), Stream.keyFrame) == [.stream(.firstNALUnit(type: 6))])
  }

  @Test func keyFrameWithoutPPS() {
    #expect(
      violations(Stream.units(Stream.sps800x480, Stream.idr)) == [.stream(.missingPictureParameterSet)])
  }

  @Test func pictureBeforeKeyFrameIsReportedOnce() {
    let headers = Stream.units(Stream.sps800x480, Stream.pps)
    #expect(violations(headers, Stream.picture, Stream.picture) == [.stream(.pictureBeforeKeyFrame)])
  }

  @Test func sizeOfTheSPSMustBeTheAcceptedOne() {
    let wrong = Stream.units(Stream.sps480x320, Stream.pps, Stream.idr)
    let expected = Violation.stream(
      .pictureSize(expected: VideoSize(800, 480), got: VideoSize(480, 320)))
    #expect(violations(wrong, Stream.picture, wrong) == [expected])
    #expect(violations(Stream.keyFrame, wrong, Stream.keyFrame, wrong) == [expected, expected])
    // One of seven bytes; there is hardly a shorter one.
    let short = Stream.units([0x67, 0x42, 0x00, 0x0A, 0xF8, 0x41, 0xA2], Stream.pps, Stream.idr)
    #expect(
      violations(short) == [.stream(.pictureSize(expected: VideoSize(800, 480), got: VideoSize(128, 96)))])
  }

  @Test func unreadableSPS() {
    #expect(
      violations(Stream.units([0x67, 0x42], Stream.pps, Stream.idr)) == [.stream(.unreadableSequenceParameterSet)])
    let endless = Stream.units([0x67] + [UInt8](repeating: 0x01, count: 100_000))
    #expect(violations(endless) == [.stream(.unreadableSequenceParameterSet)])
  }

  @Test func bytesBeforeTheFirstStartCode() {
    #expect(violations([0, 0, 0, 0] + Stream.keyFrame) == [])
    #expect(violations([9] + Stream.keyFrame) == [.stream(.notByteStream(firstByte: 9))])
    let avcc = joined([0, 0, 0, 4], Stream.pps, [0, 0, 0, 7], Stream.p)
    #expect(violations(avcc, avcc) == [.stream(.notByteStream(firstByte: 4))])
  }

  /// SDL's Android library splits access units at the mtu.
  @Test(arguments: [1, 2, 3, 5, 7, 11, 64])
  func messagesMayCutTheStreamAnywhere(size: Int) {
    var app = TestApp.streaming()
    let stream = Stream.keyFrame + Stream.picture + Stream.keyFrame + Stream.picture
    var offset = 0
    while offset < stream.count {
      app.video(Array(stream[offset..<min(offset + size, stream.count)]))
      offset += size
    }
    #expect(app.violations == [])
    #expect(app.session.statistics.pictures == 4)
    #expect(app.session.statistics.keyFrames == 2)
    #expect(app.session.statistics.bytes == UInt64(stream.count))
  }

  @Test func everyStartOfTheServiceStartsTheStream() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    app.send(.endService, .video)
    app.startVideo(.standard)
    app.video(Stream.picture)
    #expect(app.violations == [.stream(.firstNALUnit(type: 1)), .stream(.pictureBeforeKeyFrame)])
    #expect(app.session.statistics.violations == 2)
  }

  @Test func frameRate() {
    var app = TestApp.streaming(
      HeadUnitPreset.core.configuration, start: VideoServiceParameters(width: 480, height: 320))
    let keyFrame = Stream.units(Stream.sps480x320, Stream.pps, Stream.idr)
    app.video(keyFrame)
    for _ in 0..<300 {
      app.wait(.milliseconds(66))
      app.video(Stream.picture)
    }
    #expect(app.violations == [])
    for _ in 0..<300 {
      app.wait(.milliseconds(33))
      app.video(Stream.picture)
    }
    #expect(app.violations.first == .stream(.frameRate(pictures: 86, limit: 75, within: .seconds(5))))
    #expect(app.violations.count == 4)
  }

  @Test func queuedFramesMayArriveAtOnce() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    for _ in 0..<20 {
      app.wait(.milliseconds(500))
      for _ in 0..<15 { app.video(Stream.picture) }
    }
    #expect(app.violations == [])
  }

  /// A decoder that joins late gets all since the last key frame at once, as does one that was opened anew.
  @Test func whatIsCaughtUpDoesNotCount() {
    var app = TestApp.streaming()
    for round in 1...2 {
      app.video(Stream.keyFrame)
      for _ in 0..<300 { app.video(Stream.picture) }
      app.wait(.milliseconds(900))
      for _ in 0..<300 { app.video(Stream.picture) }
      for _ in 0..<200 {
        app.wait(.milliseconds(33))
        app.video(Stream.picture)
      }
      #expect(app.violations == [], "round \(round)")
      app.wait(.milliseconds(1500))
    }
    app.video(Stream.keyFrame)
    for _ in 0..<3 {
      app.wait(.milliseconds(500))
      app.video(Stream.picture)
    }
    for _ in 0..<300 { app.video(Stream.picture) }
    #expect(app.violations.first == .stream(.frameRate(pictures: 169, limit: 150, within: .seconds(5))))
  }

  @Test func newRatesNeedTimeToBeKept() {
    var app = TestApp.streaming()
    app.request(.getSystemCapability, ["systemCapabilityType": .string("VIDEO_STREAMING"), "subscribe": .bool(true)])
    app.video(Stream.keyFrame)
    func stream(_ milliseconds: Int, seconds: Int) {
      for _ in 0..<(seconds * 1000 / milliseconds) {
        app.wait(.milliseconds(milliseconds))
        app.video(Stream.picture)
      }
    }
    stream(33, seconds: 10)
    var update = VideoStreamingCapability()
    update.preferredFPS = 10
    app.run { $0.updateCapability(update, now: $1) }
    stream(33, seconds: 1)
    stream(100, seconds: 10)
    #expect(app.violations == [])
    stream(33, seconds: 5)
    #expect(app.violations.first == .stream(.frameRate(pictures: 59, limit: 50, within: .seconds(5))))
  }

  @Test func bitrate() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.videoCapability?.maxBitrate = 100
    var app = TestApp.streaming(configuration)
    app.video(Stream.keyFrame)
    // 100 kbit/s are 1250 bytes in 100 ms.
    let picture = Stream.picture + [UInt8](repeating: 0xAB, count: 1250 - Stream.picture.count)
    for _ in 0..<100 {
      app.wait(.milliseconds(100))
      app.video(picture)
    }
    #expect(app.violations == [])
    for _ in 0..<20 {
      app.wait(.milliseconds(100))
      app.video(picture + picture)
    }
    #expect(app.violations.count == 1)
    guard case .stream(.bitrate(let bits, limit: 500_000, within: .seconds(5)))? = app.violations.first else {
      Issue.record("\(app.violations)")
      return
    }
    #expect(bits > 550_000 && bits < 600_000)
  }

  @Test func otherFormatsAreNotLookedInto() {
    var app = TestApp.streaming(
      HeadUnitPreset.core.configuration,
      start: VideoServiceParameters(width: 800, height: 380, videoProtocol: "RTSP", videoCodec: "Theora"))
    app.video([0, 3, 0x80, 0x60, 1])
    #expect(app.events == [.videoData([0, 3, 0x80, 0x60, 1])])
    #expect(app.session.statistics.messages == 1 && app.session.statistics.pictures == 0)
  }

  @Test func violationsReadAsSentences() {
    let size = Violation.stream(.pictureSize(expected: VideoSize(800, 480), got: VideoSize(480, 320)))
    #expect("\(size)" == "pictures of 480×320, where 800×480 was accepted")
    #expect(
      "\(Violation.hashID(expected: 7, got: nil))" == "end of the session with hash missing, not 7")
  }

  @Test func presets() {
    for preset in HeadUnitPreset.allCases {
      let configuration = preset.configuration
      #expect((configuration.behaviour == HeadUnitBehaviour()) == ![.hostile, .bluetoothAndWiFi].contains(preset))
      #expect(HeadUnitPreset(rawValue: preset.rawValue) == preset)
      #expect((configuration.videoCapability == nil) == (preset == .legacy))
      #expect(configuration.videoCapability?.preferredResolution ?? configuration.screen == configuration.screen)
    }
    #expect(
      HeadUnitPreset.allCases.map(\.rawValue)
        == ["default", "core", "core-listed", "generic-hmi", "legacy", "bluetooth-and-wifi", "hostile"])
  }
}
