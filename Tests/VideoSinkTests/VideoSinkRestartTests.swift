import GStreamerKit
@testable import SDLAppLink
import SDLHeadUnit
@testable import SDLHeadUnitLink
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Applications that stop and restart the sink from inside its callbacks on the connection thread: the new run streams,
/// and nothing of the old one reaches it.
@Suite struct VideoSinkRestartTests {
  /// What makes the head unit or the connection do what the callback is about.
  enum Cause: String {
    /// A new run of the pipeline.
    case start
    /// The head unit ends the connection.
    case loss = "unregister MASTER_RESET"
    /// The driver leaves the app.
    case leave = "level background"
    case touch = "touch begin 0 20 20"
    case press = "press ok"
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var trigger: RestartingApplication.Trigger
    /// In turns.
    var causes: [Cause]
    var properties = ""

    var testDescription: String { trigger.testDescription }
  }

  private static let cases = [
    Case(trigger: .element("sdl-connected"), causes: [.start]),
    Case(trigger: .element("sdl-disconnected"), causes: [.loss]),
    Case(trigger: .element("sdl-stream-started"), causes: [.start]),
    Case(trigger: .element("sdl-stream-stopped"), causes: [.leave, .loss]),
    Case(trigger: .element("sdl-hmi-status"), causes: [.start, .leave]),
    Case(trigger: .element("sdl-lock-screen"), causes: [.start, .loss]),
    Case(trigger: .type(GST_MESSAGE_ERROR), causes: [.loss], properties: "auto-reconnect=false"),
    Case(trigger: .type(GST_MESSAGE_PROGRESS), causes: [.start, .loss]),
    Case(trigger: .property("connection-state"), causes: [.start, .loss]),
    Case(trigger: .property("stream-state"), causes: [.start, .leave, .loss]),
    Case(trigger: .property("hmi-level"), causes: [.start, .leave, .loss]),
    Case(trigger: .property("head-unit"), causes: [.start]),
    Case(trigger: .property("permissions"), causes: [.start, .loss]),
    Case(trigger: .navigation, causes: [.touch, .press]),
    Case(trigger: .element("sdl-button"), causes: [.press]),
  ]
  /// 120 restarts in all for each kind of head unit.
  private static let rounds = 8

  @Test(arguments: cases) func overTCP(_ restart: Case) async throws {
    try await onOwnThread {
      // The former run's session is still ending when the next run registers.
      let headUnit = try TestHeadUnit(.small().with { $0.refusesTakenNames = false })
      let bench = try Bench(restart, uri: headUnit.uri)
      try bench.restart(Self.rounds, restart.causes, { headUnit.server }) {
        _ = try headUnit.wait(for: "frames of the new run") { record in
          record.starts.last.flatMap { record.video.count > $0 ? true : nil }
        }
      }
    }
  }

  @Test(arguments: cases) func onTheBuiltInHeadUnit(_ restart: Case) async throws {
    try await onOwnThread {
      let bench = try Bench(restart, uri: nil)
      try bench.restart(Self.rounds, restart.causes, { bench.builtInServer }) {}
    }
  }

  /// For as many restarting pipelines as keep two cores busy without slowing each other down.
  private static let freePlaces = Monitor(6)

  /// Most of the time is spent waiting, and Swift's own threads, of which there are as many as cores, must not wait.
  private func onOwnThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try WorkerThread.detach(name: "test") {
          Self.freePlaces.wait { places in
            guard places > 0 else { return false }
            places -= 1
            return true
          }
          let result = Result<Void, any Error>(catching: body)
          Self.freePlaces.withLock { $0 += 1 }
          Self.freePlaces.broadcast()
          continuation.resume(with: result)
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  /// The application's own thread: the callback comes from inside the state change.
  @Test(arguments: [
    RestartingApplication.Trigger.type(GST_MESSAGE_PROGRESS), .type(GST_MESSAGE_INFO), .property("connection-state"),
  ])
  func insideTheStateChange(_ trigger: RestartingApplication.Trigger) async throws {
    try await onOwnThread {
      let bench = try Bench(Case(trigger: trigger, causes: []), uri: nil, skipsOtherThreads: false)
      // The outer change of state goes on through a pipeline that the inner one has just started. GStreamer does not
      // promise that it runs then: videotestsrc ! fakesink stands still once in some hundred times. The next start has
      // to work.
      var standstills = 0
      for round in 1...8 {
        bench.application.arm()
        bench.pipeline.setState(GST_STATE_NULL)
        bench.pipeline.setState(GST_STATE_PLAYING)
        try bench.application.wait()
        bench.application.disarm()
        try bench.pipeline.play()
        do {
          try bench.expectStream("round \(round)")
        } catch {
          standstills += 1
          guard standstills == 1 else { throw error }
          bench.pipeline.setState(GST_STATE_NULL)
          try bench.pipeline.play()
          try bench.expectStream("round \(round), started again")
        }
      }
    }
  }

  /// A callback that waits for a lock of the thread which stops the element must not keep that waiting without end.
  @Test(arguments: ["sdl-connected", "sdl-stream-started"]) func stopFromTwoThreads(_ message: String) throws {
    let bench = try Bench(Case(trigger: .element(message), causes: []), uri: nil, waitsForStop: true)
    bench.application.arm()
    try bench.pipeline.play()
    try bench.application.waitForTrigger()
    // Holds the pipeline's state lock, for which the callback waits meanwhile.
    bench.pipeline.stop()
    try bench.application.wait()
    try bench.expectStream("after both")
    #expect(bench.application.late.isEmpty, "\(bench.application.late)")
    bench.application.disarm()
  }
}

/// A pipeline whose application restarts it.
private final class Bench {
  let pipeline: Pipeline
  let application: RestartingApplication
  private let sink: Element
  private let navigation: NavigationRecorder

  init(_ restart: VideoSinkRestartTests.Case, uri: String?, skipsOtherThreads: Bool = true, waitsForStop: Bool = false)
    throws
  {
    let (width, height) = uri == nil ? (800, 480) : (320, 240)
    pipeline = try Pipeline(
      """
      videotestsrc is-live=true pattern=black ! \(Picture.caps(width, height)) ! sdlvideosink name=sink \
      speed-preset=ultrafast skip-unchanged=false \(restart.properties) \(uri.map { "uri=\($0)" } ?? "")
      """)
    sink = try pipeline.sink
    let application = RestartingApplication(
      pipeline.element.pointer, sink.pointer, at: restart.trigger, waitsForStop: waitsForStop,
      skipsOtherThreads: skipsOtherThreads)
    self.application = application
    navigation = NavigationRecorder(at: try sink.pad("sink"), consumesEvents: false) { application.handleNavigation() }
  }

  /// The head unit inside the sink's connection.
  var builtInServer: HeadUnitServer? {
    let app = VideoSink.of(OpaquePointer(sink.pointer))?.app
    guard case .transport(let transport) = app?.connection.configuration.endpoint else { return nil }
    return (transport as? BuiltInHeadUnit)?.server
  }

  /// Has the application restart the pipeline `rounds` times.
  func restart(
    _ rounds: Int, _ causes: [VideoSinkRestartTests.Cause], _ server: () -> HeadUnitServer?,
    expectFrames: () throws -> Void
  ) throws {
    try pipeline.play()
    try expectStream("at first")
    for round in 0..<rounds {
      let cause = causes[round % causes.count]
      let name = "round \(round), \(cause)"
      if cause == .start {
        pipeline.setState(GST_STATE_NULL)
        application.arm()
        try pipeline.play()
      } else {
        application.arm()
        let command = try #require(try HeadUnitCommand.parse(cause.rawValue))
        try #require(server()).perform(command)
      }
      try application.wait()
      try expectStream(name)
      try expectFrames()
      try check("progress \(application.progress)", name) {
        application.progress.first == GST_PROGRESS_TYPE_START && application.progress.last == GST_PROGRESS_TYPE_COMPLETE
          && application.progress.dropFirst().dropLast().allSatisfy { $0 == GST_PROGRESS_TYPE_CONTINUE }
      }
      // Nothing that the old run went on to say was heard.
      try check("late: \(application.late)", name) { application.late.isEmpty }
      try check("errors: \(application.errors)", name) { application.errors.isEmpty }
      try check("EOS", name) { application.endOfStreamCount == 0 }
      application.disarm()
    }
    pipeline.stop()
    try check("\(sink.statistics)", "at last") { sink.statistics.areFramesConserved }
    guard eventually({ self.sink.statistics["frames-queued"] == 0 }) else { throw TestFailure("\(sink.statistics)") }
  }

  /// An issue that is recorded on a thread of our own would not say which test it belongs to.
  private func check(_ what: String, _ name: String, _ condition: () -> Bool) throws {
    if !condition() { throw TestFailure("\(name): \(what)") }
  }

  /// Frames are sent from now on.
  func expectStream(_ name: String) throws {
    // First, since the last frames of the former run may be counted late.
    let isStreaming = eventually {
      self.sink["connection-state"] == "streaming" && self.sink["stream-state"] == "streaming"
    }
    let count = sink.statistics["frames-sent"]
    guard isStreaming, eventually({ self.sink.statistics["frames-sent"] > count }) else {
      throw TestFailure("\(name): no frames, but \(sink.statistics), \(pipeline.drain())")
    }
    try check("\(sink.statistics)", name) { sink.statistics.areFramesConserved }
    pipeline.forgetMessages()
  }
}
