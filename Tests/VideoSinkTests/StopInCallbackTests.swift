import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Applications that stop the pipeline, or unref it, in the sync handler of its bus: on whatever thread a message
/// was posted, which may be the connection's.
@Suite struct StopInCallbackTests {
  @Test func restartAfterwards() throws {
    // The former run's session is still ending when the next run registers.
    let headUnit = try TestHeadUnit(.small().with { $0.refusesTakenNames = false })
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink sync=false uri=\(headUnit.uri)")
    for round in 1...5 {
      let stopper = Stopper(pipeline.element.pointer, at: "sdl-connected", releases: false)
      try pipeline.play()
      try stopper.wait()
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

  /// Plays a pipeline to which only the bus's handler keeps a reference.
  private func play(_ description: String, _ watch: SinkWatch, until message: String) throws -> Stopper {
    let pipeline = try PipelineReference(description)
    watch.observe(try pipeline.sink())
    let stopper = Stopper(pipeline.pointer, at: message, releases: true)
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

/// Takes a pipeline to NULL at its first element message of a name.
///
/// `@unchecked Sendable`: what changes is in a monitor, and GStreamer's objects have locks of their own.
private final class Stopper: @unchecked Sendable {
  private enum Progress { case waiting, stopping, done }

  private let pipeline: UnsafeMutablePointer<GstElement>
  private let name: String
  private let releases: Bool
  private let progress = Monitor(Progress.waiting)

  /// - Parameter releases: whether a reference to the pipeline is dropped as well.
  init(_ pipeline: UnsafeMutablePointer<GstElement>, at name: String, releases: Bool) {
    self.pipeline = pipeline
    self.name = name
    self.releases = releases
    let bus = gst_element_get_bus(pipeline)
    gst_bus_set_sync_handler(bus, handleMessage, Unmanaged.passRetained(self).toOpaque(), releaseStopper)
    gst_object_unref(bus)
  }

  func wait() throws {
    guard
      progress.wait(until: MonotonicClock.now + testTimeout, for: { if case .done = $0 { true } else { nil } }) != nil
    else { throw TestFailure("no \(name), or no end of the pipeline") }
  }

  fileprivate func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    guard message.pointee.type == GST_MESSAGE_ELEMENT, let structure = gst_message_get_structure(message),
      gst_structure_has_name(structure, name) != 0,
      progress.withLock({ progress in
        guard case .waiting = progress else { return false }
        progress = .stopping
        return true
      })
    else { return }
    gst_element_set_state(pipeline, GST_STATE_NULL)
    if releases { gst_object_unref(pipeline) }
    progress.withLock { $0 = .done }
    progress.broadcast()
  }
}

/// Keeps no message, since each holds on to the element that posted it.
private func handleMessage(
  _ bus: UnsafeMutablePointer<GstBus>?, _ message: UnsafeMutablePointer<GstMessage>?, _ data: gpointer?
) -> GstBusSyncReply {
  guard let message, let data else { return GST_BUS_PASS }
  Unmanaged<Stopper>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.handle(message) }
  gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
  return GST_BUS_DROP
}

private func releaseStopper(_ data: gpointer?) {
  if let data { Unmanaged<Stopper>.fromOpaque(data).release() }
}
