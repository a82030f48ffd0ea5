import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin

/// The head unit resizes at the worst moments.
@Suite struct ResizeSituationTests {
  private static let first = ImageResolution(320, 240)
  private static let second = ImageResolution(480, 320)
  private static let third = ImageResolution(160, 120)
  private static let encoder = "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=300 threads=1"
  private static let profile = "video/x-h264,profile=constrained-baseline"

  private func expectEnd(_ drive: ResizeDrive, _ sizes: [ImageResolution]) throws {
    let last = try #require(sizes.last)
    try drive.waitForFrames(of: last)
    #expect(drive.headUnit.record.startedSizes == sizes)
    try drive.expectSettled()
  }

  @Test("L-c: the driver leaves at the same time", arguments: [true, false])
  func driverLeaves(isResizeFirst: Bool) throws {
    let drive = try ResizeDrive()
    try drive.start()
    drive.headUnit.server.steer(.everyApp) { session, now in
      let away = HMIStatus(level: .background, videoStreamingState: .notStreamable)
      let resizing = isResizeFirst ? session.resize(to: Self.second, scale: 1, now: now) : []
      let leaving = session.setHMIStatus(away, now: now)
      return resizing + leaving + (isResizeFirst ? [] : session.resize(to: Self.second, scale: 1, now: now))
    }
    try drive.pipeline.waitForElementMessage("sdl-stream-stopped")
    try drive.waitUntilKnown(Self.second)
    #expect(eventually { (try? drive.statistics["frames-dropped-suspended"]) ?? 0 > 10 })
    #expect(drive.headUnit.record.startedSizes == [Self.first])
    #expect(drive.headUnit.record.refusals == 0)
    try drive.headUnit.show(.full)
    try expectEnd(drive, [Self.first, Self.second])
  }

  @Test func whilePaused() throws {
    let drive = try ResizeDrive(source: "videotestsrc ! video/x-raw,format=I420,framerate=30/1")
    try drive.start()
    try drive.pipeline.reach(GST_STATE_PAUSED)
    drive.resize(Self.second)
    try drive.waitUntilKnown(Self.second)
    try drive.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : true }
    try drive.pipeline.play()
    try expectEnd(drive, [Self.first, Self.second])
    #expect(drive.resizes == ["320x240 to 480x320"])
  }

  /// The head unit forgets its resize with the connection, and so resizes back.
  @Test func whileReconnecting() throws {
    let drive = try ResizeDrive()
    try drive.start()
    drive.resize(Self.second)
    try drive.waitForFrames(of: Self.second)
    drive.headUnit.server.perform(.cut)
    try drive.waitForFrames(of: Self.first)
    try drive.pipeline.wait(for: "way back") { message -> Bool? in
      message.isElement("sdl-resized") && message.fields["width"] == "320" ? true : nil
    }
    #expect(drive.resizes == ["320x240 to 480x320", "480x320 to 320x240"])
    #expect(drive.headUnit.record.startedSizes == [Self.first, Self.second, Self.first])
    #expect(drive.pipeline.messages.allSatisfy { $0.error == nil })
    try drive.expectDecodable()
  }

  @Test func endIsNotConfirmed() throws {
    let drive = try ResizeDrive()
    try drive.start()
    drive.headUnit.server.perform(.silent(true))
    drive.resize(Self.second)
    try drive.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : true }
    drive.headUnit.server.perform(.silent(false))
    drive.resize(Self.third)
    try expectEnd(drive, [Self.first, Self.third])
  }

  enum Upstream: String, CaseIterable {
    case source = "videotestsrc is-live=true ! video/x-raw,framerate=60/1"
    case file = "videotestsrc num-buffers=2000 ! video/x-raw,framerate=60/1"
    case scaler = "videotestsrc is-live=true ! video/x-raw,width=640,height=480,framerate=60/1 ! videoconvertscale"
    case queue = "videotestsrc is-live=true ! video/x-raw,framerate=60/1 ! queue"
  }

  @Test(arguments: Upstream.allCases, [true, false]) func rawAndEncoded(_ upstream: Upstream, isEncoded: Bool) throws {
    let encoding = isEncoded ? " ! \(Self.encoder) ! \(Self.profile)" : ""
    let drive = try ResizeDrive(source: upstream.rawValue + encoding)
    try drive.start()
    for size in [Self.second, Self.third] {
      drive.resize(size)
      try drive.waitForFrames(5, of: size)
    }
    try expectEnd(drive, [Self.first, Self.second, Self.third])
    #expect(drive.resizes == ["320x240 to 480x320", "480x320 to 160x120"])
  }

  /// A parser answers with what it sends; upstream of it can change nevertheless.
  @Test func parserBehindTheEncoder() throws {
    let drive = try ResizeDrive(source: "\(Upstream.source.rawValue) ! \(Self.encoder) ! \(Self.profile) ! h264parse")
    try drive.start()
    drive.resize(Self.second)
    try expectEnd(drive, [Self.first, Self.second])
  }

  /// Neither can change, and neither ends the pipeline with an error of its own.
  @Test(arguments: ["", " ! h264parse"]) func encodedInAFixedSize(parser: String) throws {
    let drive = try ResizeDrive(
      source: "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1 ! \(Self.encoder)"
        + " ! \(Self.profile)\(parser)")
    try drive.start()
    drive.resize(Self.second)
    let error = try drive.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT), "\(error)")
    #expect(error.text.contains("320×240") && error.text.contains("480×320"), "\(error)")
    drive.expectNoOtherError()
    drive.pipeline.stop()
    let services = drive.headUnit.record.services.dropFirst()
    #expect(services.allSatisfy { $0.isEmpty })
    #expect(try drive.statistics.areFramesConserved)
    try drive.expectDecodable()
  }

  /// The application was asked to pause: it is asked to go on when the driver is back, although no service can start
  /// before upstream has changed.
  @Test(arguments: ["", " ! \(encoder) ! \(profile)", " ! \(encoder) ! \(profile) ! h264parse"])
  func whilePausedOnRequest(encoding: String) throws {
    let drive = try ResizeDrive(source: "videotestsrc ! video/x-raw,framerate=30/1\(encoding)")
    try drive.start()
    try drive.headUnit.show(.background)
    try drive.pipeline.wait(for: "pause") { $0.stateRequest == GST_STATE_PAUSED ? true : nil }
    try drive.pipeline.reach(GST_STATE_PAUSED)
    drive.resize(Self.second)
    try drive.waitUntilKnown(Self.second)
    try drive.headUnit.show(.full)
    try drive.pipeline.wait(for: "play") { $0.stateRequest == GST_STATE_PLAYING ? true : nil }
    try drive.pipeline.play()
    try expectEnd(drive, [Self.first, Self.second])
  }
}
