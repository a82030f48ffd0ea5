import GStreamerKit
import SDLHeadUnit
import SDLWire
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLLink

/// Video over a second connection to the head unit, as the application and the viewer see it.
@Suite struct SecondaryTransportTests {
  private static func headUnit(_ video: [TransportRole]) -> HeadUnitConfiguration {
    .small().with {
      $0.behaviour.secondaryTransport = .served
      $0.behaviour.videoTransports = video
    }
  }

  /// Pushes pictures, of which some may be dropped on the way, until the head unit has `count` more.
  private func stream(_ harness: SinkHarness, _ count: Int) throws {
    let expected = harness.headUnit.record.video.count + count
    for _ in 0..<200 where harness.headUnit.record.video.count < expected {
      let before = harness.headUnit.record.video.count
      harness.pushPicture()
      _ = harness.headUnit.await(until: MonotonicClock.now + .milliseconds(200)) { $0.video.count > before }
    }
    try #require(harness.headUnit.record.video.count >= expected)
  }

  /// The number of a picture of ``Picture`` in its first line, modulo 40.
  private func number(of picture: [UInt8]) -> Int? {
    let line = Array(picture.prefix(320))
    return (0..<40).first { index in
      let expected = Picture(320, 2, index).luma.prefix(320)
      return zip(line, expected).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } < 10 * 320
    }
  }

  /// The picture moves to the second connection, which is cut, goes on over the first, and moves again.
  @Test func cutAndRestored() throws {
    let harness = try SinkHarness(Self.headUnit([.secondary, .primary]))
    let pipeline = harness.pipeline
    try pipeline.play()
    harness.push([], flags: GST_BUFFER_FLAG_GAP)
    let first = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(first["transport"] == "secondary" && first["reason"] == "first-start")
    try stream(harness, 5)
    let transports = try #require(try pipeline.sink.structure("transports")).mapValues { $0.filter { $0 != "\\" } }
    #expect(transports["primary"]?.contains("services=(string)rpc") == true, "\(transports)")
    #expect(transports["secondary"]?.contains("services=(string)video") == true, "\(transports)")

    harness.headUnit.server.perform(.cutSecondary)
    #expect(try pipeline.waitForElementMessage("sdl-stream-stopped")["reason"] == "transport-lost")
    let second = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(second["transport"] == "primary" && second["reason"] == "moved")
    try stream(harness, 5)

    let third = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(third["transport"] == "secondary" && third["reason"] == "moved")
    try stream(harness, 5)
    let record = harness.headUnit.record
    let statistics = try harness.statistics
    #expect(statistics.areFramesConserved && statistics["frames-sent"] >= 10, "\(statistics)")
    #expect(statistics["stream-starts"] == 3)
    pipeline.drain()
    pipeline.stop()

    #expect(record.violations == [] && record.starts.count == 3 && record.connections == [1])
    for start in record.starts { #expect(isKeyFrame(record.video[start])) }
    let decoded = try decode(record.video, width: 320, height: 240)
    #expect(decoded.count == record.video.count)
    // In order. A service that begins may show the last picture again.
    let numbers = decoded.map { number(of: $0) }
    #expect(!numbers.contains(nil), "\(numbers)")
    let steps = zip(numbers.dropFirst(), numbers).map { (($0 ?? 0) - ($1 ?? 0) + 40) % 40 }
    #expect(steps.allSatisfy { (0...20).contains($0) }, "\(numbers)")
    let states = pipeline.messages.filter { $0.isElement("sdl-transport-changed") }.compactMap { $0.fields["state"] }
    #expect(
      states.prefix(8) == [
        "waiting", "connecting", "registering", "registered", "waiting", "connecting", "registering", "registered",
      ])
  }

  /// Video that needs a connection which is not there waits, and says why; that is no error.
  @Test func unused() throws {
    let harness = try SinkHarness(Self.headUnit([.secondary]), properties: "sync=false secondary-transport=none")
    try harness.pipeline.play()
    harness.pushPictures(3)
    let message = try harness.pipeline.waitForElementMessage("sdl-stream-waiting")
    #expect(message["reason"] == "secondary-transport-unused" && message["service"] == "video")
    #expect(try harness.pipeline.sink["stream-state"] == "stopped")
    #expect(try harness.pipeline.sink["connection-state"] == "ready")
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil && !$0.isElement("sdl-transport-changed") })
    harness.pipeline.stop()
  }

  /// A player pauses until the other connection is there again, and loses nothing.
  @Test func fileLosesNothing() throws {
    let harness = try SinkHarness(Self.headUnit([.secondary]), isLive: false)
    try harness.start()
    try harness.deliver(5)
    harness.headUnit.server.perform(.cutSecondary)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-waiting")["reason"] == "secondary-transport")
    let standstills = Standstills()
    harness.pushPictures(20)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let statistics = try harness.statistics
    let sent = Int(statistics["frames-sent"])
    let lost = standstills.lostFrames(harness.pipeline.pauseDelay)
    #expect((max(5, 25 - lost)...25).contains(sent), "\(standstills.total), \(statistics)")
    #expect(statistics.areFramesConserved)
    try harness.headUnit.waitForFrames(sent)
    harness.pipeline.stop()
  }
}
