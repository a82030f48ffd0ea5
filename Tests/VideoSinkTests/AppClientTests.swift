import CGStreamerApp
import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// An app that was not started: what its element posts.
@Suite struct AppClientTests {
  private let elements: [Element]
  private let sink: VideoSink
  private let otherSink: VideoSink
  private let sound: AudioSink

  init() throws {
    elements = try ["sdlvideosink", "sdlvideosink", "sdlaudiosink"].map { try Element($0) }
    sink = VideoSink(elements[0].pointer.cast())
    otherSink = VideoSink(elements[1].pointer.cast())
    sound = AudioSink(elements[2].pointer.cast())
  }

  /// The messages that `body` leads to, with an app that ends after it.
  private func messages(
    _ settings: AppSettings = AppSettings(), _ body: (AppClient) throws -> Void
  ) throws -> [BusMessage] {
    let bus = try nonNull(gst_bus_new())
    gst_element_set_bus(sink.gstElement, bus)
    defer {
      gst_element_set_bus(sink.gstElement, nil)
      gst_object_unref(bus)
    }
    let app = try AppClient(settings, AppMember(sink), ProtocolLog(sink.gstElement))
    defer { app.end(isQuiet: true) }
    try body(app)
    var messages: [BusMessage] = []
    while let message = gst_bus_pop(bus) {
      messages.append(BusMessage(message))
      gst_message_unref(message)
    }
    return messages
  }

  private func error(_ text: String) -> ElementError { .resource(GST_RESOURCE_ERROR_FAILED, text) }

  /// What follows from an error says less.
  @Test func onlyTheFirstErrorIsPosted() throws {
    let messages = try messages { app in
      #expect(app.isUsable && app.awaitOpening(of: sink, atMost: .zero))
      #expect(app.fail(error("The first."), sink) && app.fail(error("The second."), sink))
      #expect(!app.isUsable && !app.isOver && app.status.connection == .failed)
      // The change to READY fails with it.
      #expect(!app.awaitOpening(of: sink, atMost: .seconds(60)))
    }
    #expect(messages.compactMap(\.error).map(\.text) == ["The first."])
    #expect(sink.counters.app.lastError == "The first.")
  }

  /// A stream's error ends the app's PROGRESS as well.
  @Test func progressEndsWithTheError() throws {
    let messages = try messages { app in
      app.failConnection(error("The first."), sink)
      app.failConnection(error("The second."), sink)
      app.end()
    }
    #expect(messages.compactMap(\.progress) == [GST_PROGRESS_TYPE_ERROR])
  }

  /// Each START of a PROGRESS has one end, and nothing is said twice of the end of an app.
  @Test func theEndCancelsTheProgress() throws {
    let canceled = try messages { app in
      for _ in 0..<2 { app.end() }
      #expect(app.isOver && !app.isUsable)
    }
    #expect(canceled.compactMap(\.progress) == [GST_PROGRESS_TYPE_CANCELED])
    let completed = try messages { app in
      for _ in 0..<2 { app.endProgress(GST_PROGRESS_TYPE_COMPLETE, "Registered") }
      app.end()
    }
    #expect(completed.compactMap(\.progress) == [GST_PROGRESS_TYPE_COMPLETE])
    let quiet = try messages { $0.end(isQuiet: true) }
    #expect(quiet.isEmpty)
  }

  @Test func elementsJoinWhileItGoesOn() throws {
    _ = try messages { app in
      let hasJoined = [app.join(AppMember(otherSink)), app.join(AppMember(sound))]
      #expect(hasJoined == [false, true] && app.elementName(of: .audio) == elements[2]["name"])
      let areThereOthers = [app.leave(sound), app.leave(sink)]
      #expect(areThereOthers == [true, false] && app.isAbandoned && app.firstElement == nil)
      // Another film, with the same settings or others.
      var other = AppSettings()
      other.language = "DE-DE"
      #expect(!app.isAbandoned(for: AppSettings()) && app.isAbandoned(for: other))
      #expect(app.join(AppMember(otherSink)) && !app.isAbandoned && !app.isAbandoned(for: other))
      app.fail(error("The first."), otherSink)
      let hasJoinedLate = app.join(AppMember(sound))
      #expect(!hasJoinedLate)
    }
  }

  /// Its connection refers to it until then.
  @Test(arguments: [true, false]) func anAppThatHasEndedIsFreed(isQuiet: Bool) throws {
    weak var app: AppClient?
    do {
      let made = try AppClient(AppSettings(), AppMember(sink), ProtocolLog(sink.gstElement))
      app = made
      made.end(isQuiet: isQuiet)
    }
    let isThere = app != nil
    #expect(!isThere)
  }

  /// The app is registered all the same.
  @Test func anIconThatCannotBeReadIsAFault() throws {
    var settings = AppSettings()
    settings.icon = "/nowhere/icon.png"
    _ = try messages(settings) { app in
      let fault = app.iconFault?.text ?? ""
      #expect(fault.contains("/nowhere/icon.png"))
    }
    _ = try messages { app in
      let hasFault = app.iconFault != nil
      #expect(!hasFault)
    }
  }
}

/// Whether upstream is live.
@Suite struct UpstreamLivenessTests {
  /// A source that answers, and counts how often.
  private func withSource(
    isLive: Bool, _ body: (_ source: UnsafeMutablePointer<GstPad>, _ count: () -> Int) throws -> Void
  )
    throws
  {
    _ = try Element("sdlvideosink")
    let source = try nonNull(gst_pad_new("src", GST_PAD_SRC))
    gst_object_ref_sink(source)
    defer { gst_object_unref(source) }
    let answers = UnsafeMutablePointer<(isLive: gboolean, count: Int)>.allocate(capacity: 1)
    answers.initialize(to: (isLive ? 1 : 0, 0))
    defer { answers.deallocate() }
    gst_pad_set_query_function_full(
      source,
      { pad, parent, query in
        guard let query, query.pointee.type == GST_QUERY_LATENCY, let data = pad?.pointee.querydata else {
          return gst_pad_query_default(pad, parent, query)
        }
        let answers = data.assumingMemoryBound(to: (isLive: gboolean, count: Int).self)
        answers.pointee.count += 1
        gst_query_set_latency(query, answers.pointee.isLive, 0, 0)
        return 1
      }, answers, nil)
    try body(source) { answers.pointee.count }
  }

  @Test(arguments: [true, false]) func askedOnceItIsThere(isLive: Bool) throws {
    try withSource(isLive: isLive) { source, count in
      let sink = try nonNull(gst_pad_new("sink", GST_PAD_SINK))
      gst_object_ref_sink(sink)
      defer { gst_object_unref(sink) }
      var liveness = UpstreamLiveness()
      let early = liveness.isLive(at: sink)
      #expect(!early && gst_pad_link(source, sink) == GST_PAD_LINK_OK)
      let answers = [liveness.isLive(at: sink), liveness.isLive(at: sink)]
      #expect(answers == [isLive, isLive] && count() == 1)
      gst_pad_unlink(source, sink)
      let last = liveness.isLive(at: sink)
      #expect(last == isLive)
    }
  }
}
