import CGStreamerApp
import GStreamerKit
import SDLApp
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Displays in custom queries, which any element may send.
@Suite struct RangeQueryTests {
  private static let maximumCount = 256

  private func displays(_ count: Int) -> [VideoDisplay] {
    (0..<count).map { VideoDisplay(size: VideoSize(320 + 2 * $0, 240)) }
  }

  init() throws {
    // Its plugin registers the types.
    _ = try Element("sdlrangefilter")
  }

  @Test func aDisplayIsReadAsItWasWritten() throws {
    var display = VideoDisplay(
      size: VideoSize(1200, 480), scale: 1.5, diagonal: 8.5, pixelsPerInch: 120, frameRate: 25)
    for takesHapticData in [true, false] {
      display.takesHapticData = takesHapticData
      for written in [display, display.streaming(VideoSize(640, 320)), VideoDisplay(size: VideoSize(64, 32))] {
        guard let structure = DisplayStructure.structure(written) else { throw TestFailure("no structure") }
        let read = DisplayStructure.display(structure.view)
        #expect(read == written)
      }
    }
  }

  /// As the page of `sdlrangefilter` tells them to other elements, which write them on their own.
  @Test func namesOfADisplay() throws {
    var display = VideoDisplay(
      size: VideoSize(1200, 480), scale: 1.5, diagonal: 8.5, pixelsPerInch: 120, frameRate: 25)
    display.takesHapticData = true
    guard let structure = DisplayStructure.structure(display) else { throw TestFailure("no structure") }
    let view = structure.view
    #expect(view.name == "application/x-sdl-video-capability" && view.fieldNames.count == 9)
    #expect(view.integer("width") == 800 && view.integer("height") == 320)
    #expect(view.integer("display-width") == 1200 && view.integer("display-height") == 480)
    #expect(view.double("scale") == 1.5 && view.double("diagonal") == 8.5 && view.double("pixels-per-inch") == 120)
    #expect(view.integer("preferred-fps") == 25 && view.boolean("haptics") == true)
  }

  /// Likewise, of those that ask what the head unit can show, and which displays are supported.
  @Test func namesOfQueries() throws {
    guard let asking = Query(custom: Structure("application/x-sdl-video-capabilities")) else {
      throw TestFailure("no query")
    }
    let isAnswered = CapabilityQuery.answer(asking.pointer, displays(2))
    let capabilities = asking.structure?.structures("capabilities", limit: 10)
    #expect(isAnswered && capabilities?.count == 2)
    let asked = Structure("application/x-sdl-video-ranges")
    asked.set("displays", StructureArray(displays(2), DisplayStructure.structure))
    guard let query = Query(custom: asked) else { throw TestFailure("no query") }
    var ranges = VideoRanges()
    ranges.landscape.minimumWidth = 322
    let isTaken = RangesQuery.answer(query.pointer, ranges)
    let rejections = query.structure?.structures("rejections", limit: 10) ?? []
    #expect(isTaken)
    #expect(rejections.map(\.name) == ["application/x-sdl-video-rejection"])
    #expect(rejections.first?.integer("index") == 0 && rejections.first?.string("reason")?.contains("322") == true)
  }

  @Test func namesOfEvents() throws {
    guard let change = RangesQuery.changeEvent()?.take() else { throw TestFailure("no event") }
    defer { gst_event_unref(change) }
    #expect(gst_event_has_name(change, "application/x-sdl-video-ranges") != 0)
    for (state, isStreaming) in [(StreamState.streaming, true), (.suspended, false)] {
      guard let event = StreamStateEvent.make(state)?.take() else { throw TestFailure("no event") }
      defer { gst_event_unref(event) }
      let structure = try #require(StructureView(gst_event_get_structure(event)))
      #expect(structure.name == "application/x-sdl-stream-state" && structure.boolean("streaming") == isStreaming)
    }
  }

  @Test func whatIsNoDisplayIsLeftOut() {
    let tooSmall = DisplayStructure.structure(VideoDisplay(size: VideoSize(8, 240))) == nil
    #expect(tooSmall)
    // With either side alone.
    for side in ["display-width", "display-height"] {
      let structure = Structure("application/x-sdl-video-capability")
      structure.set(side, Int32(320))
      let display = DisplayStructure.display(structure.view)
      #expect(display == nil, "\(side)")
    }
  }

  /// Whoever sends more can't make an element read them all.
  @Test func onlySoManyAreRead() {
    let structure = Structure("query")
    structure.set("list", StructureArray(displays(Self.maximumCount + 1), DisplayStructure.structure))
    let read = DisplayStructure.displays(structure.view, "list")
    #expect(read?.count == Self.maximumCount && read?.last == displays(Self.maximumCount).last)
    let others = DisplayStructure.displays(structure.view, "others")
    #expect(others == nil)
  }

  /// The indices of the answer would not match those of more.
  @Test(arguments: [(1, 1), (maximumCount, maximumCount), (maximumCount + 1, 0), (0, 0)])
  func onlySoManyAreAskedAbout(_ count: Int, _ rejections: Int) throws {
    let filter = try Element("sdlrangefilter")
    try Child("landscape", of: filter).set("enabled", "false")
    let pad = try nonNull(gst_pad_new("sink", GST_PAD_SINK))
    gst_object_ref_sink(pad)
    defer { gst_object_unref(pad) }
    let source = try filter.pad("src")
    try #require(gst_pad_link(source, pad) == GST_PAD_LINK_OK)
    defer { gst_pad_unlink(source, pad) }
    let reasons = RangesQuery.ask(pad, displays(count))
    #expect(reasons.keys.sorted() == Array(0..<rejections))
    #expect(reasons.values.allSatisfy { $0.contains("landscape::enabled is false") }, "\(reasons)")
  }

  /// One that can't be encoded has no index.
  @Test func displaysThatCannotBeEncodedAreNotAskedAbout() throws {
    let filter = try Element("sdlrangefilter")
    try Child("landscape", of: filter).set("enabled", "false")
    let pad = try nonNull(gst_pad_new("sink", GST_PAD_SINK))
    gst_object_ref_sink(pad)
    defer { gst_object_unref(pad) }
    let source = try filter.pad("src")
    try #require(gst_pad_link(source, pad) == GST_PAD_LINK_OK)
    defer { gst_pad_unlink(source, pad) }
    #expect(RangesQuery.ask(pad, displays(1) + [VideoDisplay(size: VideoSize(8, 4))]).isEmpty)
  }
}

/// The state of one run of the filter.
@Suite struct RangeFilterRunTests {
  private func ranges(_ body: (inout VideoRange) -> Void) -> VideoRanges {
    var ranges = VideoRanges()
    body(&ranges.landscape)
    return ranges
  }

  /// The one that waits will cover this change, too.
  @Test func oneNotificationAtATime() {
    let run = RangeFilterRun(ranges: VideoRanges())
    #expect(run.beginNotification())
    #expect(!run.beginNotification() && !run.beginNotification())
    run.endNotification()
    #expect(run.beginNotification())
  }

  @Test func onlyValidRangesThatAreNewCount() {
    let first = ranges { $0.minimumWidth = 400 }
    let run = RangeFilterRun(ranges: first)
    #expect(!run.updateRanges { first } && run.ranges == first)
    let invalid = ranges {
      $0.minimumWidth = 400
      $0.maximumWidth = 300
    }
    #expect(!run.updateRanges { invalid } && run.ranges == first)
    let second = ranges { $0.maximumWidth = 300 }
    #expect(run.updateRanges { second } && run.ranges == second)
    #expect(!run.updateRanges { second })
  }
}
