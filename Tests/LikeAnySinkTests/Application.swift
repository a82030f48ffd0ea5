import CGStreamerApp
import GStreamerKit
import SDLLink
import SDLMessages

@testable import PluginTestSupport

/// The application of a run: changes states, watches the bus, and does what the case says.
final class Application {
  /// What playing takes before and after the driver does something.
  private static let pause = Duration.milliseconds(80)
  /// The longest wait for what a call has begun. The application then goes on, as one that does not wait.
  private static let patience = Duration.seconds(3)

  private let pipeline: Pipeline
  private let kind: PipelineKind
  private let testCase: Case
  private let record: Monitor<TimedRun.Record>
  private let act: () throws -> Void

  /// The state that the application wants, whatever BUFFERING makes of it.
  private var target = GST_STATE_NULL
  private var isLive = false
  /// The last level that has not been followed yet.
  private var bufferingLevel: Int?
  private var hasEnded = false
  private var error: String?

  init(
    _ pipeline: Pipeline, _ kind: PipelineKind, _ testCase: Case, _ record: Monitor<TimedRun.Record>,
    _ act: @escaping () throws -> Void
  ) {
    self.pipeline = pipeline
    self.kind = kind
    self.testCase = testCase
    self.record = record
    self.act = act
  }

  func run() throws {
    if testCase.action == .query { try runQueries() } else { try runAction() }
    measure("NULL") { pipeline.setState(GST_STATE_NULL) }
    lookAtBus()
    if let error { throw TestFailure("error: \(error)") }
  }

  private func runAction() throws {
    let state = testCase.state.state
    reach(state, TimedRun.opening)
    play()
    try act()
    play()
    switch testCase.action {
    case .stop, .query: break
    case .restart:
      reach(GST_STATE_READY, "READY")
      guard kind.restarts else { break }
      reach(state, kind.isPlayer ? TimedRun.opening : "READY and back")
      play()
    case .seek:
      measure("flushing seek") {
        gst_element_seek_simple(pipeline.element.pointer, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 100_000_000)
        settle()
      }
      play()
    case .pause:
      reach(testCase.state.other.state, testCase.state.other.rawValue)
      play()
      reach(state, testCase.state.rawValue)
      play()
    case .end: end()
    }
  }
}

// MARK: Actions

extension Application {
  /// Sends EOS. A pipeline in PAUSED plays for a moment before: the source's thread, for which the event may have to wait,
  /// would wait in the sink until then, in any sink.
  private func end() {
    reach(GST_STATE_PLAYING, Case.State.playing.rawValue)
    g_usleep(20_000)
    measure("EOS") {
      gst_element_send_event(pipeline.element.pointer, gst_event_new_eos())
      wait { hasEnded }
    }
  }

  private func runQueries() throws {
    try query("NULL")
    reach(GST_STATE_READY, TimedRun.opening)
    try query("READY")
    reach(GST_STATE_PAUSED, kind.isPlayer ? TimedRun.opening : "PAUSED")
    try act()
    try query("PAUSED")
    reach(GST_STATE_PLAYING, "PLAYING")
    play()
    try query("PLAYING")
  }

  private func query(_ state: String) throws {
    for (name, property, text) in [
      ("sink", "video-sink", Picture.caps()), ("sound", "audio-sink", SoundSource.caps(PCMFormat())),
    ] {
      guard let sink = pipeline.sink(name, ofPlayer: property) else { continue }
      let pad = try sink.pad("sink")
      measure("CAPS query in \(state)") { gst_caps_unref(gst_pad_query_caps(pad, nil)) }
      let caps = gst_caps_from_string(text)
      measure("ACCEPT_CAPS query in \(state)") { _ = gst_pad_query_accept_caps(pad, caps) }
      gst_caps_unref(caps)
    }
  }
}

// MARK: States

extension Application {
  private func measure(_ name: String, _ body: () -> Void) {
    let began = MonotonicClock.now
    record.withLock { record in
      record.current = name
      record.began = began
    }
    body()
    record.withLock { $0.steps.append(TimedRun.Step(name: name, time: MonotonicClock.now - began)) }
  }

  private func reach(_ state: GstState, _ name: String) {
    measure(name) {
      target = state
      pipeline.setState(state)
      settle()
    }
  }

  /// Waits until a change of state is over.
  private func settle() {
    wait {
      let result = gst_element_get_state(pipeline.element.pointer, nil, nil, 0)
      if result == GST_STATE_CHANGE_NO_PREROLL { isLive = true }
      return result != GST_STATE_CHANGE_ASYNC
    }
  }

  /// Watches the bus until `condition` holds; after an error it never may.
  private func wait(until condition: () -> Bool) {
    let end = MonotonicClock.now + Self.patience
    while !condition(), error == nil, MonotonicClock.now < end { lookAtBus(for: .milliseconds(5)) }
  }

  /// Does what the bus asks for, for a moment.
  private func play() {
    let end = MonotonicClock.now + Self.pause
    measure("following the bus") {
      while MonotonicClock.now < end {
        lookAtBus(for: min(.milliseconds(10), end - MonotonicClock.now))
        followBuffering()
      }
    }
  }

  private func followBuffering() {
    guard let level = bufferingLevel, target == GST_STATE_PLAYING, !isLive,
      testCase.application == .followsBuffering
    else { return }
    bufferingLevel = nil
    pipeline.setState(level < 100 ? GST_STATE_PAUSED : GST_STATE_PLAYING)
  }

  private func lookAtBus(for time: Duration = .zero) {
    var time = time
    while let message = pipeline.next(within: time) {
      if let level = message.buffering { bufferingLevel = level }
      if message.kind == .endOfStream { hasEnded = true }
      if let fault = message.error, error == nil { error = "\(message.source): \(fault.text) (\(fault.details))" }
      time = .zero
    }
  }
}

extension Pipeline {
  /// A sink; a player has it in its bin only while it plays.
  fileprivate func sink(_ name: String, ofPlayer property: String) -> Element? {
    if let sink = try? self[name] { return sink }
    guard g_object_class_find_property(element.object.pointee.g_type_instance.g_class.cast(), property) != nil else {
      return nil
    }
    var value = GValue()
    defer { g_value_unset(&value) }
    g_object_get_property(element.object, property, &value)
    guard let sink = g_value_dup_object(&value) else { return nil }
    return Element(owning: sink.assumingMemoryBound(to: GstElement.self))
  }
}

/// Brings what an appsrc of the name "src" pushes, on a thread of its own, as an application does.
final class Feeder: Sendable {
  private static let picture = Picture(320, 240, 0).bytes
  private static let sound = testSound(320)

  private let isStopped = Monitor(false)

  init(_ feed: PipelineKind.Feed, _ pipeline: Pipeline) throws {
    let push = try Self.push(feed, pipeline)
    nonisolated(unsafe) let pushNext = push
    try WorkerThread.detach(name: "feeder") { [isStopped] in
      var index = 0
      let pause = Duration.milliseconds(feed == .rarePictures ? 60 : 15)
      while !isStopped.withLock({ $0 }) {
        switch pushNext(index) {
        case GST_FLOW_OK: index += 1
        case GST_FLOW_FLUSHING: break
        default: return
        }
        isStopped.wait(atLatest: MonotonicClock.now + pause, until: { $0 })
      }
    }
  }

  /// The thread ends after the buffer at hand, which a pipeline in NULL does not take.
  func stop() {
    isStopped.change { $0 = true }
  }

  private static func push(_ feed: PipelineKind.Feed, _ pipeline: Pipeline) throws -> (Int) -> GstFlowReturn {
    if feed == .sound {
      let source = try SoundSource(pipeline)
      return { source.push(sound, at: .milliseconds(20 * $0)) }
    }
    let source = try FrameSource(pipeline, caps: Picture.caps())
    return { index in
      if feed == .unstampedPictures { return source.pushUnstamped(picture) }
      return source.push(picture, at: index)
    }
  }
}
