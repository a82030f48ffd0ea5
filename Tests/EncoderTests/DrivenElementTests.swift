import CGStreamerApp
import GStreamerKit
import SDLLink
import Testing
import X264Encoder

@testable import Plugin
@testable import PluginTestSupport

/// What elements of hardware need, with elements that every machine has.
@Suite struct DrivenElementTests {
  private func open(
    _ kind: EncoderElement, _ format: Picture.Layout, for sink: Element,
    setUp: (UnsafeMutablePointer<GstElement>) -> Void = { _ in }
  ) throws -> ElementEncoder {
    var info = GstVideoInfo()
    gst_video_info_set_format(&info, gst_video_format_from_string(format.rawValue), 320, 240)
    let settings = EncoderSettings(
      width: 320, height: 240, frameRate: FrameRate(numerator: 30, denominator: 1), pixelFormat: .i420)
    return try ElementEncoder(kind, settings, info, for: sink.pointer, setUp: setUp)
  }

  private func put(
    _ picture: Picture, _ format: Picture.Layout, _ number: Int64, as kind: PictureKind = .frame,
    _ encoder: ElementEncoder
  ) throws {
    let bytes = picture.planes(format).flatMap(\.bytes)
    let buffer = try nonNull(gst_buffer_new_memdup(bytes, gsize(bytes.count)))
    defer { gst_buffer_unref(buffer) }
    #expect(try encoder.put(buffer, GstVideoInfo(), number: number, at: .milliseconds(33 * number), as: kind))
  }

  /// Where an encoder takes only memory of its own, another element is in front of it. Here it changes the format.
  @Test func elementInFront() throws {
    let sink = try Element("fakesink")
    let kind = EncoderElement("openh264enc", uploader: "videoconvert")
    guard let caps = Caps(Picture.caps(format: .nv12)) else { throw TestFailure("no caps") }
    #expect(EncoderChoice.rejectionReason(of: caps.pointer, by: .element(kind)) == nil)
    #expect(EncoderChoice.rejectionReason(of: caps.pointer, by: .element(EncoderElement("openh264enc"))) != nil)
    let encoder = try open(kind, .nv12, for: sink)
    for number in 0..<3 {
      try put(Picture(320, 240, number), .nv12, Int64(number), encoder)
      #expect(encoder.nextNumber == Int64(number))
      #expect(encoder.take(into: FramePayload()) == Int64(number))
    }
    #expect {
      try open(EncoderElement("openh264enc", uploader: "nothere"), .nv12, for: sink)
    } throws: { "\($0)".contains("nothere can't be made") }
  }

  /// The element would take the lowest of all levels.
  @Test(arguments: [true, false]) func levels(needsLevel: Bool) throws {
    let sink = try Element("fakesink")
    var element: Element?
    let encoder = try open(EncoderElement("openh264enc", needsLevel: needsLevel), .i420, for: sink) { pointer in
      gst_object_ref(pointer)
      element = Element(owning: pointer)
    }
    let pad = try #require(element).pad("src")
    let caps = try nonNull(gst_pad_peer_query_caps(pad, nil))
    defer { gst_caps_unref(caps) }
    #expect(text(of: caps).contains("level=(string){ 3, 3.1, 3.2") == needsLevel, "\(text(of: caps))")
    #expect(text(of: caps).contains("level") == needsLevel)
    try put(Picture(320, 240, 0), .i420, 0, encoder)
    #expect(encoder.nextNumber == 0)
  }

  /// Where each change costs a key frame, one by less than a quarter waits for the next one. The element counts
  /// pictures at the rate that it was opened with.
  @Test func costlyChangesOfTheBitrate() throws {
    let sink = try Element("fakesink")
    var element: Element?
    let encoder = try open(.named("openh264enc"), .i420, for: sink) { pointer in
      gst_object_ref(pointer)
      element = Element(owning: pointer)
    }
    func present(_ bitrate: Int, _ frameRate: Int = 30) throws -> String? {
      try encoder.setRates(
        EncoderRates(bitrate: bitrate, frameRate: FrameRate(numerator: frameRate, denominator: 1)))
      return element?["bitrate"]
    }
    #expect(element?["bitrate"] == "600000")
    #expect(try present(749) == "600000")
    #expect(try present(451) == "600000")
    #expect(try present(450) == "450000")
    #expect(try present(300, 15) == "600000")
    // The wanted one comes with a key frame.
    #expect(try present(601) == "600000")
    try put(Picture(320, 240, 0), .i420, 0, encoder)
    #expect(element?["bitrate"] == "601000")
  }

  /// Some elements do not listen to the event.
  @Test(arguments: [
    (EncoderElement.KeyFrameRequest.setting(EncoderElement.Setting(property: "qp-max", value: "40")), "40", 0),
    (.setting(EncoderElement.Setting(property: "nothere", value: "1")), "51", 0),
    (.signal("no-more-pads"), "51", 1), (.signal("nothere"), "51", 0),
    // It has an argument.
    (.signal("pad-added"), "51", 0),
  ]) func keyFrameBySettingOrSignal(
    _ request: EncoderElement.KeyFrameRequest, _ quantizer: String, _ emissions: Int
  ) throws {
    let sink = try Element("fakesink")
    let count = Monitor(0)
    var element: Element?
    var kind = EncoderElement("openh264enc")
    kind.keyFrameRequest = request
    let encoder = try open(kind, .i420, for: sink) { pointer in
      gst_object_ref(pointer)
      element = Element(owning: pointer)
      let handler: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
        guard let data else { return }
        Unmanaged<Monitor<Int>>.fromOpaque(data).takeUnretainedValue().withLock { $0 += 1 }
      }
      g_signal_connect_data(
        pointer, "no-more-pads", unsafeBitCast(handler, to: GCallback.self), Unmanaged.passRetained(count).toOpaque(),
        { data, _ in if let data { Unmanaged<Monitor<Int>>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0))
    }
    try put(Picture(320, 240, 0), .i420, 0, encoder)
    #expect(element?["qp-max"] == "51" && count.withLock { $0 } == 0)
    try put(Picture(320, 240, 1), .i420, 1, as: .keyFrame, encoder)
    #expect(element?["qp-max"] == quantizer && count.withLock { $0 } == emissions)
  }
}
