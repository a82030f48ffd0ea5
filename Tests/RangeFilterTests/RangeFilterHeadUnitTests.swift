import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// With `sdlvideosink` downstream: the ranges are applied to the head unit's displays.
@Suite struct RangeFilterHeadUnitTests {
  private static let core = HeadUnitPreset.listedInCore.configuration.with { $0.activation = .zero }

  /// Without GstBaseSink's warning of late pictures, on a busy machine.
  private func pipeline(_ headUnit: TestHeadUnit, _ ranges: String, between: String = "") throws -> Pipeline {
    try Pipeline(
      """
      videotestsrc is-live=true ! sdlrangefilter name=filter \(ranges) \(between) \
      ! sdlvideosink name=sink max-lateness=-1 uri=\(headUnit.uri)
      """)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var ranges: String
    /// Sizes of the accepted displays, in order of preference.
    var sizes: [String]
    init(_ name: String, _ ranges: String, _ sizes: [String]) {
      (testDescription, self.ranges, self.sizes) = (name, ranges, sizes)
    }
  }

  @Test(arguments: [
    Row("no range", "", ["800 x 380", "320 x 200", "480 x 320", "400 x 380", "800 x 240", "532 x 252", "400 x 190"]),
    Row(
      "sizes",
      "landscape::min-width=500 landscape::min-height=200 landscape::max-width=800 landscape::max-height=400 portrait::enabled=false",
      ["800 x 380", "800 x 240", "532 x 252"]),
    Row("diagonal", "landscape::min-diagonal=5 landscape::max-width=700", ["480 x 320", "532 x 252"]),
    // The rounded size is what counts: 533×253.
    Row("odd", "landscape::min-width=533 landscape::max-width=533", ["532 x 252"]),
  ])
  func choice(_ row: Row) throws {
    let headUnit = try TestHeadUnit(Self.core)
    let pipeline = try pipeline(headUnit, row.ranges)
    try pipeline.play()
    let started = try pipeline.waitForElementMessage("sdl-stream-started")
    let size = "\(started["width"] ?? "") x \(started["height"] ?? "")"
    #expect(size == row.sizes.first)
    // Until upstream has changed, what flows is taken as well.
    try headUnit.waitForFrames(2)
    let caps = try nonNull(gst_pad_query_caps(try pipeline["filter"].pad("sink"), nil))
    defer { gst_caps_unref(caps) }
    var seen: [String] = []
    for size in sizes(in: caps) where !seen.contains(size) { seen.append(size) }
    #expect(seen == row.sizes)
    #expect(headUnit.record.violations == [])
    #expect(pipeline.drain().allSatisfy { $0.warning == nil })
  }

  @Test("No display is supported") func noDisplayIsSupported() throws {
    let headUnit = try TestHeadUnit(Self.core)
    let pipeline = try pipeline(headUnit, "landscape::enabled=false")
    try pipeline.play()
    let warning = try pipeline.waitForWarning()
    #expect(warning.text.components(of: "landscape::enabled is false") == 8, "\(warning)")
    for size in ["800×380", "320×200", "480×320", "400×380", "800×240", "scale 1.5", "scale 2.0"] {
      #expect(warning.text.contains(size), "\(warning)")
    }
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics["frames-dropped-wrong-size"] >= 3 })
    #expect(pipeline.drain().count { $0.warning != nil } == 1)
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
    #expect(sink.statistics.areFramesConserved)
    #expect(!headUnit.record.events.contains { if case .videoStarted = $0 { true } else { false } })
  }

  @Test("The warning has both numbers") func numbers() throws {
    let headUnit = try TestHeadUnit(
      .small(800, 480).with { $0.videoCapability?.diagonalScreenSize = 6.9 })
    let pipeline = try pipeline(headUnit, "landscape::min-diagonal=7")
    try pipeline.play()
    let warning = try pipeline.waitForWarning()
    #expect(warning.text.contains("diagonal 6.9 in is below landscape::min-diagonal 7.0 in"), "\(warning)")
  }

  @Test func changesWhilePlaying() throws {
    let headUnit = try TestHeadUnit(Self.core)
    let pipeline = try pipeline(headUnit, "portrait::enabled=false")
    try pipeline.play()
    let first = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(first["width"] == "800")
    try headUnit.waitForFrames(2)
    try Child("landscape", of: pipeline["filter"]).set("max-width", "480")
    let second = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(second["width"] == "320" && second["height"] == "200")
    try headUnit.waitForFrames(headUnit.record.video.count + 2)
    #expect(headUnit.record.violations == [])
    #expect(pipeline.drain().allSatisfy { $0.warning == nil && $0.error == nil })
  }

  /// What flows while the head unit changes is not refused, although it is none of the new displays: 533 pixels became
  /// 532, which by themselves are out of range.
  @Test func headUnitResizes() throws {
    let headUnit = try TestHeadUnit(Self.core)
    let pipeline = try pipeline(headUnit, "landscape::min-width=533 landscape::max-width=700")
    try pipeline.play()
    let first = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(first["width"] == "532")
    try headUnit.waitForFrames(2)
    for (width, size) in [(600, VideoSize(600, 300)), (640, VideoSize(640, 320))] {
      headUnit.server.perform(.resize(size, scale: 1))
      // A size that only the former displays have may come in between.
      let started = try pipeline.wait(for: "\(width)") { message -> [String: String]? in
        guard message.isElement("sdl-stream-started"), message.fields["width"] == "\(width)" else { return nil }
        return message.fields
      }
      #expect(started["height"] == "\(size.height)")
    }
    #expect(pipeline.drain().allSatisfy { $0.warning == nil && $0.error == nil }, "\(pipeline.drain())")
  }

  /// A scaler takes every size, but the head unit's own come first.
  @Test func scalerInBetween() throws {
    let headUnit = try TestHeadUnit(Self.core)
    let pipeline = try pipeline(
      headUnit, "landscape::max-width=480 portrait::enabled=false", between: "! videoconvertscale")
    try pipeline.play()
    try pipeline.waitForElementMessage("sdl-stream-started")
    let caps = try nonNull(gst_pad_query_caps(try pipeline["filter"].pad("sink"), nil))
    defer { gst_caps_unref(caps) }
    #expect(sizes(in: caps).first == "320 x 200", "\(sizes(in: caps))")
  }

  private func ask(_ sink: Element) throws -> VideoRangeFilter.HeadUnit {
    // Asked through an element that knows nothing of the query.
    let pad = try nonNull(gst_pad_new("src", GST_PAD_SRC))
    gst_object_ref_sink(pad)
    defer { gst_object_unref(pad) }
    let peer = try sink.pad("sink")
    try #require(gst_pad_link(pad, peer) == GST_PAD_LINK_OK)
    defer { gst_pad_unlink(pad, peer) }
    return CapabilityQuery.ask(pad)
  }

  @Test func sinkAnswersTheQuery() throws {
    let sink = try Element("sdlvideosink")
    #expect(try ask(sink) == .unknown)
    #expect(try ask(Element("fakesink")) == .absent)

    let headUnit = try TestHeadUnit(Self.core)
    let pipeline = try pipeline(headUnit, "", between: "! queue name=queue")
    try pipeline.play()
    try pipeline.waitForElementMessage("sdl-stream-started")
    guard case .displays(let displays) = CapabilityQuery.ask(try pipeline["filter"].pad("src")) else {
      throw TestFailure("no displays")
    }
    let expected = VideoDisplay.displays(of: try #require(Self.core.videoCapability))
    #expect(displays.map(\.description) == expected.map(\.description))
    #expect(displays.map(\.frameRate) == expected.map(\.frameRate))
    #expect(displays.count == 8)
  }

  @Test func legacyHeadUnitIsItsScreen() throws {
    let headUnit = try TestHeadUnit(HeadUnitPreset.legacy.configuration.with { $0.activation = .zero })
    let pipeline = try pipeline(headUnit, "landscape::min-width=500")
    try pipeline.play()
    let started = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(started["width"] == "800" && started["height"] == "480")
    #expect(
      CapabilityQuery.ask(try pipeline["filter"].pad("src")) == .displays([VideoDisplay(size: VideoSize(800, 480))]))
  }
}

extension String {
  /// How often `part` occurs.
  fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
