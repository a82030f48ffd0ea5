import CGStreamerApp
import Foundation
import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Applications that stop the pipeline, seek in it, or unref it, in the sync handler of its bus: on the thread that
/// posts the message, which may be the connection's.
@Suite struct CallbackTests {
  @Test func restartAfterwards() throws {
    // The former run's session is still ending when the next run registers.
    let headUnit = try TestHeadUnit(.small().with { $0.refusesTakenNames = false })
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink sync=false uri=\(headUnit.uri)")
    for round in 1...5 {
      let stop = Reaction(of: pipeline.element.pointer, at: "sdl-connected") {
        gst_element_set_state($0, GST_STATE_NULL)
      }
      try pipeline.play()
      try stop.wait()
      #expect(try pipeline.sink["connection-state"] == "idle")
      let count = headUnit.record.video.count
      try pipeline.play()
      try headUnit.waitForFrames(count + 3)
      pipeline.stop()
      #expect(try pipeline.sink.statistics["connections"] == 2 * round)
      #expect(try pipeline.sink.statistics.areFramesConserved)
    }
  }

  @Test func lastReferenceGoesOnceConnected() throws {
    for _ in 0..<5 {
      let headUnit = try TestHeadUnit()
      let sink = SinkWatch()
      let stopper = try play(
        "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)", sink,
        until: "sdl-connected")
      sink.release()
      try stopper.wait()
      #expect(eventually { sink.isGone })
      try headUnit.wait(for: "disconnection") { $0.disconnections == 1 ? true : nil }
    }
  }

  /// The connection still writes a frame when the elements have been freed.
  @Test func lastReferenceGoesWithFramesUnderWay() throws {
    let headUnit = try TestHeadUnit(.small(640, 480, maximumBitrate: nil))
    let sink = SinkWatch()
    let stopper = try play(
      """
      videotestsrc is-live=true pattern=snow ! \(Picture.caps(640, 480)) \
      ! sdlvideosink name=sink bitrate=50000 speed-preset=ultrafast max-latency=0 uri=\(headUnit.uri)
      """, sink, until: "sdl-stream-stopped")
    try headUnit.waitForFrames(3)
    headUnit.server.setReading(false, for: try headUnit.waitForApp())
    #expect(eventually { sink.statistics["frames-dropped-queue-full"] > 3 })
    sink.release()
    try headUnit.show(.background)
    try stopper.wait()
    #expect(eventually { sink.isGone })
    headUnit.server.setReading(true, for: try headUnit.waitForApp())
    try headUnit.wait(for: "disconnection") { $0.disconnections == 1 ? true : nil }
  }

  enum Cause {
    case departure, resize, loss
  }

  /// A flushing seek neither waits for what the thread of the message holds, nor takes the stream with it.
  @Test(arguments: [
    ("sdl-hmi-status", Cause.departure), ("sdl-stream-stopped", .departure),
    ("sdl-stream-started", .resize), ("sdl-resized", .resize),
    ("sdl-disconnected", .loss), ("sdl-connected", .loss),
  ])
  func flushingSeek(at message: String, after cause: Cause) throws {
    let headUnit = try TestHeadUnit(.small().with { $0.refusesTakenNames = false })
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! sdlvideosink name=sink background-notice=false uri=\(headUnit.uri)")
    try pipeline.play()
    try headUnit.waitForFrames(3)
    let hasSought = Monitor(false)
    let seek = Reaction(of: pipeline.element.pointer, at: message) { pipeline in
      let isDone = gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0) != 0
      hasSought.withLock { $0 = isDone }
    }
    switch cause {
    case .departure: try headUnit.show(.background)
    case .resize: headUnit.server.perform(.resize(VideoSize(480, 320), scale: 1))
    case .loss: headUnit.server.perform(.cut)
    }
    try seek.wait()
    #expect(hasSought.withLock { $0 })
    #expect(seek.thread == "sdl-connection", "\(seek.thread)")
    if cause == .departure { try headUnit.show(.full) }
    let count = headUnit.record.video.count
    try headUnit.waitForFrames(count + 3)
    pipeline.stop()
    #expect(try pipeline.sink.statistics.areFramesConserved)
  }

  /// Plays a pipeline to which only the bus's handler keeps a reference.
  private func play(_ description: String, _ watch: SinkWatch, until message: String) throws -> Reaction {
    let pipeline = try PipelineReference(description)
    watch.observe(try pipeline.sink())
    let stopper = Reaction(of: pipeline.pointer, at: message) {
      gst_element_set_state($0, GST_STATE_NULL)
      gst_object_unref($0)
    }
    gst_object_ref(pipeline.pointer)
    #expect(gst_element_set_state(pipeline.pointer, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    return stopper
  }
}

/// A reference to a pipeline, without a stop at the end.
private struct PipelineReference: ~Copyable {
  let pointer: UnsafeMutablePointer<GstElement>

  init(_ description: String) throws {
    guard GStreamer.isReady, let parsed = gst_parse_launch(description, nil) else { throw TestFailure("no pipeline") }
    gst_object_ref_sink(parsed)
    pointer = parsed
  }

  deinit {
    gst_object_unref(pointer)
  }

  func sink() throws -> Element {
    let bin: UnsafeMutablePointer<GstBin> = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstBin.self)
    guard let found = gst_bin_get_by_name(bin, "sink") else { throw TestFailure("no sink") }
    return Element(owning: found)
  }
}

/// Tells whether a sink has been freed.
private final class SinkWatch {
  private let flag = Monitor(false)
  private var element: Element?

  var isGone: Bool { flag.withLock { $0 } }
  var statistics: Statistics { element?.statistics ?? Statistics(fields: [:]) }

  func observe(_ element: Element) {
    self.element = element
    g_object_weak_ref(element.object, markGone, Unmanaged.passRetained(flag).toOpaque())
  }

  /// Drops the reference to the sink.
  func release() {
    element = nil
  }
}

private func markGone(_ data: gpointer?, _ object: UnsafeMutablePointer<GObject>?) {
  if let data { Unmanaged<Monitor<Bool>>.fromOpaque(data).takeRetainedValue().withLock { $0 = true } }
}

/// Does something with a pipeline at its first element message of a name, on the thread that posts that.
///
/// `@unchecked Sendable`: what changes is in a monitor, and GStreamer's objects have locks of their own.
private final class Reaction: @unchecked Sendable {
  private enum Progress {
    case waiting, underway
    /// On a thread of this name.
    case done(String)
  }

  private let pipeline: UnsafeMutablePointer<GstElement>
  private let name: String
  private let action: (UnsafeMutablePointer<GstElement>) -> Void
  private let progress = Monitor(Progress.waiting)

  init(
    of pipeline: UnsafeMutablePointer<GstElement>, at name: String,
    _ action: @escaping (UnsafeMutablePointer<GstElement>) -> Void
  ) {
    self.pipeline = pipeline
    self.name = name
    self.action = action
    let bus = gst_element_get_bus(pipeline)
    gst_bus_set_sync_handler(bus, handleMessage, Unmanaged.passRetained(self).toOpaque(), releaseReaction)
    gst_object_unref(bus)
  }

  /// Empty before the end.
  var thread: String { progress.withLock { if case .done(let thread) = $0 { thread } else { "" } } }

  func wait() throws {
    guard
      progress.wait(atLatest: MonotonicClock.now + testTimeout, until: { if case .done = $0 { true } else { false } })
    else { throw TestFailure("no \(name), or no end of what is done about it") }
  }

  fileprivate func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    guard message.pointee.type == GST_MESSAGE_ELEMENT, let structure = gst_message_get_structure(message),
      gst_structure_has_name(structure, name) != 0,
      progress.withLock({ progress in
        guard case .waiting = progress else { return false }
        progress = .underway
        return true
      })
    else { return }
    action(pipeline)
    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    progress.withLock { $0 = .done(name?.trimmingCharacters(in: .newlines) ?? "") }
    progress.broadcast()
  }
}

/// Keeps no message, since each holds on to the element that posted it.
private func handleMessage(
  _ bus: UnsafeMutablePointer<GstBus>?, _ message: UnsafeMutablePointer<GstMessage>?, _ data: gpointer?
) -> GstBusSyncReply {
  guard let message, let data else { return GST_BUS_PASS }
  Unmanaged<Reaction>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.handle(message) }
  gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
  return GST_BUS_DROP
}

private func releaseReaction(_ data: gpointer?) {
  if let data { Unmanaged<Reaction>.fromOpaque(data).release() }
}
