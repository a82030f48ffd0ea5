import Foundation
import GStreamerKit
import SDLHeadUnit
import SDLLink
import Testing

import struct TestSupport.SeededGenerator

@testable import Plugin
@testable import PluginTestSupport

/// The application's states, seeks and settings, the driver and the link in any order, from several threads at once and
/// in the handler of messages: nothing hangs, what was counted adds up, the picture comes back, and nothing is left.
///
/// `SDL_RANDOM_ORDER_SECONDS` in the environment is how long each pipeline is kept at it.
@Suite(.serialized) struct RandomOrderWholeProcessTests {
  enum Content: String, CaseIterable {
    case raw = "videotestsrc is-live=true ! video/x-raw,framerate=30/1"
    case encoded = """
      videotestsrc is-live=true ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=15 \
      ! video/x-h264,profile=constrained-baseline
      """
    case unpaced = "videotestsrc ! video/x-raw,framerate=30/1"
  }

  private static let time = Duration.seconds(
    ProcessInfo.processInfo.environment["SDL_RANDOM_ORDER_SECONDS"].flatMap { Double($0) } ?? 2)

  private static let driver = [
    "level full", "level full", "level limited", "level background", "level none", "resize 480x320 scale 1",
    "resize 800x480 scale 1", "framerate 15", "max-bitrate 500", "phone-call on", "phone-call off", "end-video",
    "end-audio", "refuse width", "touch begin 0 10 10", "touch move 0 90 90", "touch end 0 90 90", "stall 0.05", "cut",
    "press OK long",
  ]

  @Test(arguments: Content.allCases) func everything(_ content: Content) throws {
    let seed = testSeed()
    // What is loaded and started once.
    try Self.run(content, seed: 0, for: .milliseconds(200))
    _ = g_main_context_default()
    let before = ProcessUsage()
    try Self.run(content, seed: seed, for: Self.time)
    #expect(before.isRestored(), "seed \(seed): \(before), then \(ProcessUsage())")
  }

  private static func run(_ content: Content, seed: UInt64, for time: Duration) throws {
    let headUnit = try TestHeadUnit(.small(800, 480).with { $0.refusesTakenNames = false })
    let pipeline = try Pipeline(
      """
      \(content.rawValue) ! sdlvideosink name=sink uri=\(headUnit.uri) \
      audiotestsrc is-live=\(content != .unpaced) ! sdlaudiosink name=sound uri=\(headUnit.uri)
      """)
    let (sink, sound) = (try pipeline.sink, try pipeline["sound"])
    let server = headUnit.server
    nonisolated(unsafe) let element = pipeline.element.pointer
    nonisolated(unsafe) let video = sink
    nonisolated(unsafe) let audio = sound
    let handler = MessageHandler(element, seed: seed)
    let deadline = MonotonicClock.now + time
    let threads = [
      RandomThread("application", seed, 20_000) { random in
        let states =
          [GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED] + Array(repeating: GST_STATE_PLAYING, count: 6)
        gst_element_set_state(element, states.randomElement(using: &random) ?? GST_STATE_PLAYING)
        g_usleep(UInt.random(in: 0...60_000, using: &random))
      },
      RandomThread("settings", seed &+ 1, 10_000) { random in change(element, video, audio, &random) },
      RandomThread("driver", seed &+ 2, 30_000) { random in
        if let line = driver.randomElement(using: &random), let command = try? HeadUnitCommand.parse(line) {
          server.perform(command)
        }
      },
    ]
    for thread in threads { thread.start(until: deadline) }
    for thread in threads { #expect(thread.waitForEnd(), "seed \(seed): \(thread.name) hangs") }
    handler.detach()
    pipeline.stop()
    try comesBack(pipeline, headUnit, seed, blocked: handler.longestBlock)
  }

  /// Something that an application may do at any time.
  private static func change(
    _ pipeline: UnsafeMutablePointer<GstElement>, _ sink: Element, _ sound: Element, _ random: inout SeededGenerator
  ) {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0)
    case 1: sink.set("bitrate", "\(Int.random(in: 0...3000, using: &random))")
    case 2: sink.set("max-framerate", "\(Int.random(in: 0...30, using: &random))/1")
    case 3: sink.set("keep-alive-interval", "\(Int.random(in: 0...500, using: &random))")
    case 4: sound.set("volume", "\(Double.random(in: 0...1, using: &random))")
    case 5: _ = (sink.statistics, sink.structure("head-unit"), sound.statistics)
    case 6: sink.set("app-state", Bool.random(using: &random) ? "resigning" : "foreground")
    default:
      var position: gint64 = 0
      gst_element_query_position(pipeline, GST_FORMAT_TIME, &position)
    }
  }

  /// The driver opens the app: the picture is there, and what happened adds up.
  private static func comesBack(
    _ pipeline: Pipeline, _ headUnit: TestHeadUnit, _ seed: UInt64, blocked: Duration
  ) throws {
    let (sink, sound) = (try pipeline.sink, try pipeline["sound"])
    sink.set("app-state", "foreground")
    func perform(_ line: String) { _ = try? HeadUnitCommand.parse(line).map { headUnit.server.perform($0) } }
    for line in ["phone-call off", "max-bitrate 0"] { perform(line) }
    // Refusals that were set before may cost the app its place on the screen, or end it, once more.
    let count = headUnit.record.video.count
    #expect(
      eventually {
        pipeline.setState(GST_STATE_NULL)
        let registrations = headUnit.record.registrations.count
        pipeline.setState(GST_STATE_PLAYING)
        _ = headUnit.await(until: MonotonicClock.now + .seconds(5)) { $0.registrations.count > registrations }
        // With sound: a status without it, crossed by the start of the sound, would cost the app its place again.
        perform("level full")
        return headUnit.await(until: MonotonicClock.now + .seconds(5)) { $0.video.count >= count + 3 }
      }, "seed \(seed): no picture, but \(headUnit.record.events.suffix(20))")
    pipeline.stop()
    let statistics = sink.statistics
    #expect(statistics.areFramesConserved && statistics["frames-queued"] == 0, "seed \(seed): \(statistics)")
    #expect(sound.statistics.areSamplesConserved, "seed \(seed): \(sound.statistics)")
    // The connection's thread answers nothing while the application has it.
    let violations = headUnit.record.violations.filter {
      blocked < .milliseconds(500) || !"\($0)".contains("not acknowledged after")
    }
    #expect(violations == [], "seed \(seed): blocked for \(blocked), \(headUnit.record.events)")
  }
}

/// Does something again and again, with pauses of any length up to a bound.
private final class RandomThread: Sendable {
  let name: String
  private let seed: UInt64
  /// In microseconds.
  private let longestPause: UInt
  private let action: @Sendable (inout SeededGenerator) -> Void
  private let isOver = Monitor(false)

  init(
    _ name: String, _ seed: UInt64, _ longestPause: UInt, _ action: @escaping @Sendable (inout SeededGenerator) -> Void
  ) {
    self.name = name
    self.seed = seed
    self.longestPause = longestPause
    self.action = action
  }

  func start(until deadline: Duration) {
    try? WorkerThread.detach(name: name) { [self] in
      var random = SeededGenerator(seed: seed)
      while MonotonicClock.now < deadline {
        action(&random)
        g_usleep(UInt.random(in: 0...longestPause, using: &random))
      }
      isOver.withLock { $0 = true }
      isOver.broadcast()
    }
  }

  func waitForEnd() -> Bool { isOver.wait(atLatest: MonotonicClock.now + testTimeout) { $0 } }
}

/// Drops every message, and does something at some of those of the connection's thread: an application may.
private final class MessageHandler: Sendable {
  private let random: Monitor<SeededGenerator>
  private let longest = Monitor(Duration.zero)
  nonisolated(unsafe) private let pipeline: UnsafeMutablePointer<GstElement>

  init(_ pipeline: UnsafeMutablePointer<GstElement>, seed: UInt64) {
    self.pipeline = pipeline
    random = Monitor(SeededGenerator(seed: seed &+ 3))
    setHandler(handleMessage, Unmanaged.passRetained(self).toOpaque()) { data in
      if let data { Unmanaged<MessageHandler>.fromOpaque(data).release() }
    }
  }

  /// How long an action took that the connection's thread did.
  var longestBlock: Duration { longest.withLock { $0 } }

  func detach() {
    setHandler(nil, nil, nil)
  }

  private func setHandler(_ handler: GstBusSyncHandler?, _ data: gpointer?, _ notify: GDestroyNotify?) {
    let bus = gst_element_get_bus(pipeline)
    gst_bus_set_sync_handler(bus, handler, data, notify)
    gst_object_unref(bus)
  }

  fileprivate func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    guard message.pointee.type == GST_MESSAGE_ELEMENT, (try? threadName()) == "sdl-connection" else { return }
    let began = MonotonicClock.now
    defer {
      let time = MonotonicClock.now - began
      longest.withLock { $0 = max($0, time) }
    }
    switch random.withLock({ Int.random(in: 0..<12, using: &$0) }) {
    case 0: gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0)
    case 1: gst_element_set_state(pipeline, GST_STATE_NULL)
    case 2: gst_element_set_state(pipeline, GST_STATE_PAUSED)
    default: break
    }
  }

  private func threadName() throws -> String {
    try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
  }
}

private func handleMessage(
  _ bus: UnsafeMutablePointer<GstBus>?, _ message: UnsafeMutablePointer<GstMessage>?, _ data: gpointer?
) -> GstBusSyncReply {
  guard let message, let data else { return GST_BUS_PASS }
  Unmanaged<MessageHandler>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.handle(message) }
  gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
  return GST_BUS_DROP
}
