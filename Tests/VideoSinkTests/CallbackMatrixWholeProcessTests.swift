import CGStreamerApp
import Foundation
import GStreamerKit
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Every message, notification, signal, upstream event and CAPS query of both sinks, and in the handler of each whatever
/// an application may do: nothing hangs, the stream can be had again, what was counted adds up, and nothing is left.
///
/// A run has an eighth of all pairs, another one each time; `SDL_CALLBACK_MATRIX` in the environment says which
/// (0 to 7), or has `all` of them.
@Suite(.serialized) struct CallbackMatrixWholeProcessTests {
  enum Content: String {
    case picture = "videotestsrc is-live=true ! video/x-raw,framerate=30/1 ! sdlvideosink name=sink gestures=true"
    case film = "videotestsrc ! video/x-raw,framerate=30/1 ! sdlvideosink name=sink"
    case encoded = """
      videotestsrc is-live=true ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=300 \
      ! video/x-h264,profile=constrained-baseline ! sdlvideosink name=sink
      """
    case sound = "audiotestsrc is-live=true ! sdlaudiosink name=sink"
    case record = "audiotestsrc ! sdlaudiosink name=sink"
  }

  /// What brings a callback about.
  enum Cause: Sendable {
    /// Of a head unit's script.
    case command(String)
    case state(GstState)
    case set(String, String)
    case request, end
  }

  struct Row: Sendable, CustomStringConvertible {
    var content: Content
    var trigger: CallbackApplication.Trigger
    /// The last of these, or the start if there is none.
    var causes: [Cause] = []
    var properties = ""
    /// Commands of the head unit before the start.
    var before: [String] = []

    var description: String { "\(content), \(trigger), \(causes)" }
  }

  private static let second = ["secondary-transport on 0", "video-transports 2,1", "audio-transports 2,1"]
  private static let onlySecond = ["video-transports 2", "audio-transports 2"]

  /// What both sinks have.
  private static func rows(_ live: Content, _ file: Content) -> [Row] {
    [
      Row(content: live, trigger: .message("sdl-connected")),
      Row(content: live, trigger: .message("sdl-hmi-status"), causes: [.command("level background")]),
      Row(content: live, trigger: .message("sdl-stream-started")),
      Row(content: file, trigger: .message("sdl-stream-started")),
      Row(content: live, trigger: .message("sdl-stream-suspended"), causes: [.state(GST_STATE_PAUSED)]),
      Row(content: live, trigger: .message("sdl-stream-stopped"), causes: [.command("level none")]),
      Row(
        content: live, trigger: .message("sdl-stream-waiting"), properties: "secondary-transport=none",
        before: ["secondary-transport on 0"] + onlySecond),
      Row(content: live, trigger: .message("sdl-transport-changed"), before: second),
      Row(content: live, trigger: .message("sdl-driver-distraction"), causes: [.command("distraction on")]),
      Row(content: live, trigger: .message("sdl-lock-screen")),
      Row(content: live, trigger: .message("sdl-rpc"), causes: [.request]),
      Row(
        content: live, trigger: .message("sdl-system-request"), causes: [.command("policy-update http://[::1]:1/")],
        properties: "policy-updates=application"),
      Row(content: live, trigger: .message("sdl-disconnected"), causes: [.command("cut")]),
      Row(content: live, trigger: .type(GST_MESSAGE_PROGRESS)),
      Row(content: live, trigger: .type(GST_MESSAGE_WARNING), causes: [.command("cut")]),
      Row(
        content: live, trigger: .type(GST_MESSAGE_ERROR), causes: [.command("cut")],
        properties: "auto-reconnect=false"),
      Row(content: file, trigger: .type(GST_MESSAGE_BUFFERING), causes: [.command("level none")]),
      Row(content: file, trigger: .type(GST_MESSAGE_EOS), causes: [.end]),
      Row(content: file, trigger: .type(GST_MESSAGE_ASYNC_DONE)),
      Row(content: live, trigger: .type(GST_MESSAGE_LATENCY)),
      Row(content: live, trigger: .type(GST_MESSAGE_NEED_CONTEXT)),
      Row(content: live, trigger: .type(GST_MESSAGE_HAVE_CONTEXT)),
      Row(content: live, trigger: .property("connection-state")),
      Row(content: live, trigger: .property("stream-state"), causes: [.command("level none")]),
      Row(content: live, trigger: .property("hmi-level"), causes: [.command("cut")]),
      Row(content: live, trigger: .property("head-unit")),
      Row(content: live, trigger: .property("permissions")),
      Row(content: live, trigger: .event(GST_EVENT_LATENCY)),
      Row(content: live, trigger: .event(GST_EVENT_QOS), properties: "qos=true"),
      Row(content: file, trigger: .capsQuery),
    ]
  }

  private static let ownRows = [
    Row(content: .picture, trigger: .message("sdl-bitrate")),
    Row(content: .picture, trigger: .message("sdl-resized"), causes: [.command("resize 320x240 scale 1")]),
    Row(
      content: .picture, trigger: .message("sdl-resize-ignored"), causes: [.command("resize 320x240 scale 1")],
      properties: "resize-policy=keep"),
    Row(content: .picture, trigger: .message("sdl-gesture"), causes: [.command("touch tap 10 10")]),
    Row(content: .picture, trigger: .message("sdl-button"), causes: [.command("press OK")]),
    Row(content: .picture, trigger: .message("GstNavigationMessage"), causes: [.command("touch begin 0 10 10")]),
    Row(content: .picture, trigger: .property("target-bitrate")),
    Row(content: .picture, trigger: .property("stream-state"), causes: [.set("app-state", "resigning")]),
    Row(content: .picture, trigger: .signal("encoder-setup"), properties: "encoder=x264enc"),
    Row(content: .picture, trigger: .event(GST_EVENT_NAVIGATION), causes: [.command("touch begin 0 10 10")]),
    Row(content: .picture, trigger: .event(GST_EVENT_RECONFIGURE), causes: [.command("resize 320x240 scale 1")]),
    Row(content: .picture, trigger: .event(GST_EVENT_CUSTOM_UPSTREAM)),
    Row(content: .encoded, trigger: .event(GST_EVENT_CUSTOM_UPSTREAM)),
    Row(content: .sound, trigger: .message("sdl-stream-suspended"), causes: [.command("phone-call on")]),
  ]

  private static let rows = rows(.picture, .film) + rows(.sound, .record) + ownRows

  /// What is done in the handler, after all properties were read and set, and the states were asked for.
  enum Action: CaseIterable {
    case nothing, seek, paused, ready, null, restart, lockedNull, asyncNull, remove, release
  }

  /// Each row has its place in the documentation, and each message and notification a row.
  @Test(arguments: ["sdlvideosink", "sdlaudiosink"]) func everythingHasARow(element: String) throws {
    let folder = "/" + "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/") + "/docs"
    let page = try String(contentsOfFile: "\(folder)/\(element).md", encoding: .utf8)
    let isVideo = element == "sdlvideosink"
    let triggers = Self.rows.filter { [.picture, .film, .encoded].contains($0.content) == isVideo }.map(\.trigger)
    for message in page.matches(of: /\n\| `(sdl-[a-z-]+)` \| [^|]+ \| `/).map({ String($0.1) }) {
      #expect(triggers.contains { if case .message(message) = $0 { true } else { false } }, "\(message)")
    }
    let notifying = page.firstMatch(of: /\n(`[a-z-]+`.*) notify\.\n/).map { $0.1.matches(of: /`([a-z-]+)`/) } ?? []
    #expect(notifying.count > 3 || !isVideo)
    for property in notifying.map({ String($0.1) }) {
      #expect(triggers.contains { if case .property(property) = $0 { true } else { false } }, "\(property)")
    }
  }

  @Test func everyPair() throws {
    let choice = ProcessInfo.processInfo.environment["SDL_CALLBACK_MATRIX"]
    let turn = choice.flatMap { Int($0) } ?? Int.random(in: 0..<8)
    if choice == nil { print("SDL_CALLBACK_MATRIX=\(turn)") }
    // What is loaded and started once.
    for content in [Content.picture, .sound] {
      try Self.run(Row(content: content, trigger: .message("sdl-stream-started")), .null)
    }
    _ = g_main_context_default()
    let before = ProcessUsage()
    for (index, row) in Self.rows.enumerated() {
      for (number, action) in Action.allCases.enumerated() where choice == "all" || (index + number) % 8 == turn {
        try Self.run(row, action)
      }
      #expect(before.isRestored(), "\(row), turn \(turn): \(before), then \(ProcessUsage())")
    }
  }

  private static func run(_ row: Row, _ action: Action) throws {
    let name = "\(row), \(action)"
    let headUnit = try TestHeadUnit(.small(480, 320).with { $0.refusesTakenNames = false })
    for line in row.before { headUnit.perform(line) }
    let cell = try Cell(row, action, headUnit.uri)
    if row.causes.isEmpty {
      cell.application.arm()
      cell.play()
    } else {
      cell.play()
      // Before the first picture there is nothing to resize.
      guard eventually({ cell.isStreaming && cell.hasSent }) else { throw TestFailure("\(name): no stream") }
      for (index, cause) in row.causes.enumerated() {
        if index == row.causes.count - 1 { cell.application.arm() }
        switch cause {
        case .command(let line): headUnit.perform(line)
        case .state(let state): cell.set(state)
        case .set(let property, let value): cell.setProperty(property, value)
        case .request: cell.request()
        case .end: cell.sendEndOfStream()
        }
      }
    }
    guard cell.waitForEnd() else { throw TestFailure("\(name): no callback, or no end of it") }
    if ![.remove, .release].contains(action) {
      cell.set(GST_STATE_NULL)
      for line in ["phone-call off", "video-transports 1", "audio-transports 1"] { headUnit.perform(line) }
      cell.setProperty("app-state", "foreground")
      cell.play()
      #expect(eventually { cell.isStreaming }, "\(name): no stream again, but \(headUnit.record.events.suffix(9))")
    }
    #expect(cell.stop(), "\(name): does not stop")
    #expect(cell.isConserved, "\(name): \(cell.lastStatistics)")
    #expect(eventually { cell.isGone }, "\(name): the sink was not freed")
    #expect(headUnit.record.violations == [], "\(name)")
  }
}

extension TestHeadUnit {
  /// Carries out a command of a script.
  fileprivate func perform(_ line: String) {
    if let command = try? HeadUnitCommand.parse(line) { server.perform(command) }
  }
}

/// A pipeline whose application does something in one of its callbacks.
private final class Cell {
  /// The application's own references, which it may drop in the callback.
  private final class Holder: Sendable {
    /// `@unchecked Sendable`: GStreamer's objects have locks of their own.
    private struct References: @unchecked Sendable {
      var pipeline: UnsafeMutablePointer<GstElement>?
      var sink: UnsafeMutablePointer<GstElement>?
    }

    /// What GStreamer's pool has still to do.
    let calls = Monitor(0)
    private let state: Monitor<References>

    init(_ pipeline: UnsafeMutablePointer<GstElement>, _ sink: UnsafeMutablePointer<GstElement>) {
      state = Monitor(References(pipeline: pipeline, sink: sink))
    }

    /// A reference; nil once it was dropped.
    func pipeline() -> Element? { state.withLock { $0.pipeline.map(Self.reference) } }
    func sink() -> Element? { state.withLock { $0.sink.map(Self.reference) } }

    private static func reference(_ pointer: UnsafeMutablePointer<GstElement>) -> Element {
      gst_object_ref(pointer)
      return Element(owning: pointer)
    }

    func dropSink() {
      if let sink = state.withLock({ $0.sink.take() }) { gst_object_unref(sink) }
    }

    func dropPipeline() {
      if let pipeline = state.withLock({ $0.pipeline.take() }) { gst_object_unref(pipeline) }
    }
  }

  let application: CallbackApplication
  private(set) var lastStatistics = Statistics(fields: [:])
  private let holder: Holder
  private let gone = Monitor(false)

  init(_ row: CallbackMatrixWholeProcessTests.Row, _ action: CallbackMatrixWholeProcessTests.Action, _ uri: String)
    throws
  {
    guard GStreamer.isReady,
      let pipeline = gst_parse_launch("\(row.content.rawValue) uri=\(uri) \(row.properties)", nil)
    else { throw TestFailure("no pipeline") }
    gst_object_ref_sink(pipeline)
    let bin: UnsafeMutablePointer<GstBin> = pipeline.cast()
    guard let sink = gst_bin_get_by_name(bin, "sink") else { throw TestFailure("no sink") }
    let holder = Holder(pipeline, sink)
    self.holder = holder
    g_object_weak_ref(
      sink.cast(),
      { data, _ in
        if let data { Unmanaged<Monitor<Bool>>.fromOpaque(data).takeRetainedValue().withLock { $0 = true } }
      }, Unmanaged.passRetained(gone).toOpaque())
    application = CallbackApplication(pipeline, sink, at: row.trigger) { elsewhere in
      Self.askForEverything(holder)
      Self.act(action, holder, elsewhere)
    }
  }

  private static func askForEverything(_ holder: Holder) {
    guard let sink = holder.sink(), let pipeline = holder.pipeline() else { return }
    for element in [sink, pipeline] { gst_element_get_state(element.pointer, nil, nil, 0) }
    var count: guint = 0
    guard
      let list = g_object_class_list_properties(
        UnsafeMutableRawPointer(sink.object.pointee.g_type_instance.g_class).assumingMemoryBound(
          to: GObjectClass.self), &count)
    else { return }
    defer { g_free(list) }
    for case let property? in UnsafeBufferPointer(start: list, count: Int(count)) { exercise(property, sink) }
  }

  /// Reads a property, and sets it to its default and back again.
  private static func exercise(_ property: UnsafeMutablePointer<GParamSpec>, _ sink: Element) {
    let flags = property.pointee.flags.rawValue
    guard flags & Int32(CGST_PARAM_READABLE) != 0 else { return }
    var value = GValue()
    g_value_init(&value, property.pointee.value_type)
    defer { g_value_unset(&value) }
    g_object_get_property(sink.object, property.pointee.name, &value)
    // GstBaseSink takes its preroll lock to set async, which the streaming thread has.
    let isAsync = strcmp(property.pointee.name, "async") == 0
    let isOfBase = property.pointee.owner_type == gst_base_sink_get_type() && !isAsync
    let isMutable = flags & Int32(CGST_PARAM_MUTABLE_PLAYING) != 0
    guard flags & Int32(CGST_PARAM_WRITABLE) != 0, isOfBase || isMutable else { return }
    g_object_set_property(sink.object, property.pointee.name, g_param_spec_get_default_value(property))
    g_object_set_property(sink.object, property.pointee.name, &value)
  }

  private static func act(
    _ action: CallbackMatrixWholeProcessTests.Action, _ holder: Holder,
    _ elsewhere: (@escaping @Sendable () -> Void) -> Void
  ) {
    func set(_ state: GstState) {
      elsewhere { if let pipeline = holder.pipeline() { gst_element_set_state(pipeline.pointer, state) } }
    }
    switch action {
    case .nothing: break
    case .seek:
      elsewhere {
        guard let pipeline = holder.pipeline() else { return }
        gst_element_seek_simple(pipeline.pointer, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0)
      }
    case .paused: set(GST_STATE_PAUSED)
    case .ready: set(GST_STATE_READY)
    case .null: set(GST_STATE_NULL)
    case .restart:
      elsewhere {
        guard let pipeline = holder.pipeline() else { return }
        gst_element_set_state(pipeline.pointer, GST_STATE_NULL)
        gst_element_set_state(pipeline.pointer, GST_STATE_PLAYING)
      }
    case .lockedNull:
      elsewhere {
        guard let sink = holder.sink() else { return }
        gst_element_set_locked_state(sink.pointer, 1)
        gst_element_set_state(sink.pointer, GST_STATE_NULL)
        gst_element_set_locked_state(sink.pointer, 0)
        gst_element_sync_state_with_parent(sink.pointer)
      }
    case .asyncNull:
      guard let pipeline = holder.pipeline() else { return }
      holder.calls.withLock { $0 += 1 }
      gst_element_call_async(
        pipeline.pointer,
        { element, data in
          gst_element_set_state(element, GST_STATE_NULL)
          guard let data else { return }
          Unmanaged<Holder>.fromOpaque(data)._withUnsafeGuaranteedRef { holder in
            holder.calls.withLock { $0 -= 1 }
            holder.calls.broadcast()
          }
        }, Unmanaged.passRetained(holder).toOpaque(),
        { if let data = $0 { Unmanaged<Holder>.fromOpaque(data).release() } })
    case .remove:
      elsewhere {
        guard let pipeline = holder.pipeline(), let sink = holder.sink() else { return }
        gst_bin_remove(pipeline.pointer.cast(), sink.pointer)
        gst_element_set_state(sink.pointer, GST_STATE_NULL)
        holder.dropSink()
      }
    case .release:
      elsewhere {
        if let pipeline = holder.pipeline() { gst_element_set_state(pipeline.pointer, GST_STATE_NULL) }
        holder.dropSink()
        holder.dropPipeline()
      }
    }
  }

  var isStreaming: Bool { holder.sink()?["stream-state"] == "streaming" }
  var hasSent: Bool {
    holder.sink().map { $0.statistics["frames-sent"] > 0 || $0.statistics["samples-sent"] > 0 } ?? false
  }
  var isGone: Bool { gone.withLock { $0 } }
  /// At the last ``stop()``, if there was a sink.
  var isConserved: Bool {
    if lastStatistics.fields.isEmpty { return true }
    return lastStatistics.fields["frames-in"] == nil
      ? lastStatistics.areSamplesConserved : lastStatistics.areFramesConserved
  }

  /// False if something hangs that was done in the callback.
  func waitForEnd() -> Bool {
    application.waitForEnd()
      && holder.calls.wait(atLatest: MonotonicClock.now + testTimeout) { $0 == 0 }
  }

  func play() { set(GST_STATE_PLAYING) }

  func set(_ state: GstState) {
    guard let pipeline = holder.pipeline() else { return }
    gst_element_set_state(pipeline.pointer, state)
    // A callback inside this very change of state has gone to NULL, from which the outer change goes on.
    if holder.pipeline() == nil { gst_element_set_state(pipeline.pointer, GST_STATE_NULL) }
  }

  func setProperty(_ property: String, _ value: String) {
    guard let sink = holder.sink(),
      g_object_class_find_property(
        UnsafeMutableRawPointer(sink.object.pointee.g_type_instance.g_class).assumingMemoryBound(
          to: GObjectClass.self), property) != nil
    else { return }
    sink.set(property, value)
  }

  func request() { _ = holder.sink()?.emit("send-rpc", "GetVehicleData", "{\"speed\": true}") }

  func sendEndOfStream() {
    if let pipeline = holder.pipeline() { gst_element_send_event(pipeline.pointer, gst_event_new_eos()) }
  }

  /// Goes to NULL in time, and drops what the application still has.
  func stop() -> Bool {
    let began = MonotonicClock.now
    set(GST_STATE_NULL)
    if let sink = holder.sink() { lastStatistics = sink.statistics }
    if let pipeline = holder.pipeline() {
      let bus = gst_element_get_bus(pipeline.pointer)
      gst_bus_set_sync_handler(bus, nil, nil, nil)
      gst_object_unref(bus)
    }
    holder.dropSink()
    holder.dropPipeline()
    return MonotonicClock.now - began < Pipeline.stopLimit
  }
}
