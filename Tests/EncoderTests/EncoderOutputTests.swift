import CGStreamerApp
import GStreamerKit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What comes out of an encoder element.
@Suite struct EncoderOutputTests {
  private static let maximumCount = 64

  private let pipeline: Pipeline
  /// Posts messages of the encoder.
  private let listener: Element
  private let output: EncoderOutput

  init() throws {
    pipeline = try Pipeline("fakesrc ! fakesink name=sink")
    pipeline.setState(GST_STATE_READY)
    listener = try pipeline.sink
    output = EncoderOutput(for: listener.pointer)
  }

  private func withPad(
    of output: EncoderOutput? = nil, _ body: (UnsafeMutablePointer<GstPad>) throws -> Void
  ) throws {
    let output = output ?? self.output
    guard let caps = Caps("video/x-h264"), let pad = output.makePad(caps, preferred: caps) else {
      throw TestFailure("no pad")
    }
    gst_pad_set_active(pad.pointer, 1)
    defer { gst_pad_set_active(pad.pointer, 0) }
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    gst_pad_send_event(pad.pointer, gst_event_new_stream_start("test"))
    gst_pad_send_event(pad.pointer, gst_event_new_segment(&segment))
    try body(pad.pointer)
  }

  private func buffer(_ number: Int) throws -> UnsafeMutablePointer<GstBuffer> {
    let buffer = try nonNull(gst_buffer_new())
    buffer.pointee.pts = GstClockTime(number)
    return buffer
  }

  /// The next access unit's time.
  private func takeFirst() -> GstClockTime? {
    guard let buffer = output.takeFirst() else { return nil }
    return buffer.pointer.pointee.pts
  }

  @Test func accessUnitsInTheirOrderAndNotWithoutABound() throws {
    try withPad { pad in
      for number in 0..<Self.maximumCount { #expect(gst_pad_chain(pad, try buffer(number)) == GST_FLOW_OK) }
      let refused = try buffer(Self.maximumCount)
      gst_buffer_ref(refused)
      #expect(gst_pad_chain(pad, refused) == GST_FLOW_ERROR)
      // Nobody keeps it.
      #expect(refused.pointee.mini_object.refcount == 1)
      gst_buffer_unref(refused)
      #expect(output.count == Self.maximumCount)
      #expect(takeFirst() == 0 && takeFirst() == 1 && output.count == Self.maximumCount - 2)
    }
  }

  @Test func whatIsNeverTakenIsFreed() throws {
    let buffer = try buffer(0)
    gst_buffer_ref(buffer)
    defer { gst_buffer_unref(buffer) }
    try withPad(of: EncoderOutput(for: listener.pointer)) { pad in
      #expect(gst_pad_chain(pad, buffer) == GST_FLOW_OK && buffer.pointee.mini_object.refcount == 2)
    }
    #expect(buffer.pointee.mini_object.refcount == 1)
  }

  /// Waits for access units that will never come.
  private func expectReturn(sourceLocation: SourceLocation = #_sourceLocation) {
    let deadline = MonotonicClock.now + .seconds(20)
    output.wait(for: 1, until: deadline)
    #expect(MonotonicClock.now < deadline, sourceLocation: sourceLocation)
  }

  @Test func theEndIsNotWaitedFor() throws {
    try withPad { pad in
      gst_pad_send_event(pad, gst_event_new_eos())
      expectReturn()
      #expect(output.count == 0 && output.failure == nil)
    }
  }

  private func post(_ message: UnsafeMutablePointer<GstMessage>?) throws {
    guard let bus = output.makeBus() else { throw TestFailure("no bus") }
    gst_bus_post(bus.pointer, message)
  }

  private func error(_ text: String) -> UnsafeMutablePointer<GstMessage>? {
    let error = g_error_new_literal(gst_stream_error_quark(), gint(GST_STREAM_ERROR_ENCODE.rawValue), text)
    defer { g_error_free(error) }
    return gst_message_new_error(listener.pointer.cast(), error, nil)
  }

  /// What follows from it says less.
  @Test func theFirstErrorCounts() throws {
    try post(error("It is on fire"))
    try post(error("It gives no picture"))
    #expect(output.failure == "It is on fire")
    expectReturn()
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
  }

  /// An application may have the display that an encoder needs.
  @Test func contextsAreForTheApplication() throws {
    func count(_ kind: String) -> Int { pipeline.drain().count { $0.kind == .other(kind) && $0.source == "sink" } }
    func need() throws { try post(gst_message_new_need_context(listener.pointer.cast(), "gst.gl.GLDisplay")) }
    _ = pipeline.drain()
    let references = listener.object.pointee.ref_count
    try need()
    #expect(count("need-context") == 1)
    // All else is the encoder's own business.
    try post(gst_message_new_latency(listener.pointer.cast()))
    #expect(count("latency") == 0 && listener.object.pointee.ref_count == references)
    // The encoder has outlived the sink.
    output.forgetListener()
    try need()
    #expect(count("need-context") == 1)
  }
}
