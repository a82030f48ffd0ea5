import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Applications that stop and restart the pipeline from inside a callback: nothing of the old run reaches the new one.
@Suite struct HeadUnitSourceRestartTests {
  /// All callbacks of the server's thread; an app that does everything which causes one of them is ``misbehave(_:)``.
  private static let triggers: [RestartingApplication.Trigger] = [
    .element("sdl-app-registered"), .element("sdl-hmi-status"), .element("sdl-stream-refused"),
    .element("sdl-violation"), .element("sdl-stream-started"), .element("sdl-stream-stopped"),
    .element("sdl-app-unregistered"), .type(GST_MESSAGE_WARNING), .type(GST_MESSAGE_LATENCY), .property("apps"),
    .property("hmi-level"), .property("violations"),
  ]

  /// Does what an app can do, until the restart of the head unit has cut it off.
  private func misbehave(_ app: RawApp, until isDone: () -> Bool) throws {
    let steps: [() throws -> Void] = [
      { try app.register(name: "Old") },
      { try app.wait(for: .full) },
      { try app.startVideo(VideoServiceParameters(width: 320, height: 240, videoProtocol: "RAW", videoCodec: "H265")) },
      { app.endVideo() },
      { try app.startVideo(.rtp320x240) },
      { app.endVideo() },
      // A refusal, and data without a service, cost the app its HMI level.
      { _ = try app.requestVideo(VideoServiceParameters(videoProtocol: "WEBM", videoCodec: "VP8")) },
      { app.video([0, 0, 0, 1, 0x67]) },
      { app.close() },
    ]
    for step in steps {
      do { try step() } catch { guard isDone() || app.isClosed() else { throw error } }
      if isDone() { return }
    }
  }

  @Test(arguments: triggers)
  func newRunIsUndisturbed(trigger: RestartingApplication.Trigger) throws {
    let screen = try HeadUnitPipeline(
      "screen-size=320x240 strict=false eos-on-disconnect=true formats=\"RAW/H264, RTP/H264, RAW/H265\"")
    let units = try encodedUnits(3)
    let application = RestartingApplication(screen.pipeline.element.pointer, screen.source.pointer, at: trigger)
    for round in 1...9 {
      application.arm()
      let old = try RawApp(port: screen.currentPort)
      try misbehave(old) { application.hasRestarted }
      try application.wait()
      let app = try RawApp.streaming(port: screen.currentPort, name: "New")
      defer { app.close() }
      for unit in units { app.video(unit.bytes) }
      app.endVideo()
      let samples = try screen.pull(units.count)
      #expect(samples.map(\.bytes) == units.map(\.bytes), "round \(round)")
      #expect(screen.apps.contains("New") && !screen.apps.contains("Old"))
      #expect(screen.statistics["connections-open"] == 1)
      // Nothing that the old run went on to say was heard.
      #expect(application.late.isEmpty, "\(application.late)")
      #expect(application.endOfStreamCount == 0)
      application.disarm()
      // Before the end of this app ends the stream as well.
      screen.pipeline.stop()
      try screen.pipeline.play()
    }
    #expect(screen.statistics.areFramesBalanced)
  }

  /// The application's own thread: the notification comes from inside the state change.
  @Test(arguments: [RestartingApplication.Trigger.property("current-port"), .type(GST_MESSAGE_INFO)])
  func restartInsideTheStateChange(trigger: RestartingApplication.Trigger) throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let units = try encodedUnits(3)
    let application = RestartingApplication(screen.pipeline.element.pointer, screen.source.pointer, at: trigger)
    for _ in 1...10 {
      application.arm()
      screen.pipeline.stop()
      screen.pipeline.setState(GST_STATE_PLAYING)
      try application.wait()
      try screen.pipeline.reach(GST_STATE_READY)
      try screen.pipeline.play()
      let app = try RawApp.streaming(port: screen.currentPort)
      for unit in units { app.video(unit.bytes) }
      app.endVideo()
      #expect(try screen.pull(units.count).map(\.bytes) == units.map(\.bytes))
    }
  }

  /// A callback that waits for a lock of the thread which stops the element must not keep that waiting without end.
  @Test func stopFromTwoThreads() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let pipeline = screen.pipeline.element
    for _ in 0..<3 {
      let application = RestartingApplication(
        pipeline.pointer, screen.source.pointer, at: .element("sdl-app-registered"), waitsForStop: true)
      application.arm()
      let app = try RawApp(port: screen.currentPort)
      try app.register()
      try application.waitForTrigger()
      // Holds the pipeline's state lock, for which the callback waits meanwhile.
      screen.pipeline.stop()
      try application.wait()
      #expect(screen.currentPort != 0)
    }
  }

  /// The application keeps nothing, and gives up its last reference on the server's own thread.
  @Test(arguments: ["sdl-app-registered", "sdl-hmi-status", "sdl-stream-started"])
  func lastReferenceGoesInACallback(message: String) throws {
    for _ in 0..<5 {
      let isGone = Monitor(false)
      let port = try RawPeer.unusedPort()
      let owner = try OwningApplication("sdlheadunitsrc name=src port=\(port) screen-size=320x240 ! fakesink", message)
      {
        isGone.withLock { $0 = true }
      }
      try owner.play()
      let app = try RawApp(port: port)
      _ = try? app.register()
      _ = try? app.wait(for: .full)
      _ = try? app.startVideo(.raw320x240)
      #expect(eventually { isGone.withLock { $0 } })
      #expect(app.isClosed())
    }
  }
}
