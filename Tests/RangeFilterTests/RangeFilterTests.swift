import CGStreamerApp
import GStreamerKit
import SDLApp
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct RangeFilterPropertyTests {
  private static let values: [(String, String, String)] = [
    ("enabled", "true", "false"), ("min-width", "0", "500"), ("min-height", "0", "200"), ("max-width", "0", "800"),
    ("max-height", "0", "400"), ("min-diagonal", "0", "7.5"), ("min-aspect-ratio", "0", "1.25"),
    ("max-aspect-ratio", "0", "2.5"),
  ]

  @Test(arguments: ["landscape", "portrait"], values)
  func children(_ name: String, _ value: (String, String, String)) throws {
    let filter = try Element("sdlrangefilter")
    let child = try Child(name, of: filter)
    #expect(child[value.0] == value.1)
    child.set(value.0, value.2)
    #expect(child[value.0] == value.2)
    let other = try Child(name == "portrait" ? "landscape" : "portrait", of: filter)
    #expect(other[value.0] == value.1)
  }

  @Test(arguments: ["landscape", "portrait"], values)
  func launchSyntax(_ name: String, _ value: (String, String, String)) throws {
    let pipeline = try Pipeline("sdlrangefilter name=filter \(name)::\(value.0)=\(value.2) ! fakesink")
    #expect(try Child(name, of: pipeline["filter"])[value.0] == value.2)
  }

  @Test func childProxy() throws {
    let filter = try Element("sdlrangefilter")
    let proxy = OpaquePointer(filter.pointer)
    #expect(gst_child_proxy_get_children_count(proxy) == 2)
    #expect(gst_child_proxy_get_child_by_index(proxy, 2) == nil)
    #expect(gst_child_proxy_get_child_by_name(proxy, "square") == nil)
    var value = GValue()
    g_value_init(&value, cgst_type_int())
    g_value_set_int(&value, 640)
    gst_child_proxy_set_property(proxy, "portrait::max-width", &value)
    g_value_set_int(&value, 0)
    gst_child_proxy_get_property(proxy, "portrait::max-width", &value)
    #expect(g_value_get_int(&value) == 640)
    g_value_unset(&value)
  }

  /// An application may keep a child for longer than the filter.
  @Test func childrenOutliveTheFilter() throws {
    var filter: Element? = try Element("sdlrangefilter")
    let child = try Child("landscape", of: #require(filter))
    filter = nil
    child.set("min-width", "100")
    child.set("min-width", "-1")
    #expect(child["min-width"] == "100")
  }

  /// `dispose` may run more than once, and children be used after it: the filter keeps them until it is freed.
  @Test func childrenOutliveDispose() throws {
    let reference = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)
    g_weak_ref_init(reference, nil)
    defer {
      g_weak_ref_clear(reference)
      reference.deallocate()
    }
    func isThere() -> Bool {
      guard let child = g_weak_ref_get(reference) else { return false }
      g_object_unref(child)
      return true
    }
    var filter: Element? = try Element("sdlrangefilter")
    g_weak_ref_set(reference, try Child("portrait", of: #require(filter)).object)
    for _ in 0..<2 {
      g_object_run_dispose(try #require(filter).object)
      try #require(isThere())
      let child = try Child("portrait", of: #require(filter))
      child.set("max-width", "640")
      #expect(child["max-width"] == "640")
    }
    filter = nil
    #expect(!isThere())
  }

  /// What an application has attached to a child goes with it.
  @Test func childrenAreFinalized() throws {
    var isFreed = false
    try withUnsafeMutablePointer(to: &isFreed) { freed in
      let child = try Child("landscape", of: Element("sdlrangefilter"))
      g_object_set_data_full(child.object, "attached", freed) { $0?.storeBytes(of: true, as: Bool.self) }
    }
    #expect(isFreed)
  }

  @Test func tableMatchesTheClass() throws {
    let child = try Child("landscape", of: Element("sdlrangefilter"))
    let objectClass = UnsafeMutableRawPointer(child.object.pointee.g_type_instance.g_class)
      .assumingMemoryBound(to: GObjectClass.self)
    for property in RangeChild.properties.properties {
      let spec = try nonNull(g_object_class_find_property(objectClass, property.name.description), "\(property.name)")
      let flags = UInt32(bitPattern: spec.pointee.flags.rawValue)
      #expect(flags & UInt32(CGST_PARAM_MUTABLE_PLAYING) != 0, "\(property.name)")
      #expect(flags & UInt32(CGST_PARAM_STATIC_STRINGS) == UInt32(CGST_PARAM_STATIC_STRINGS), "\(property.name)")
    }
  }

  private static let refusals: [(String, [String])] = [
    ("min-width=-5", ["min-width -5"]), ("max-height=2000000000", ["max-height 2000000000", "10000"]),
    ("min-diagonal=-1", ["min-diagonal -1.0"]),
    ("max-aspect-ratio=0.5", ["max-aspect-ratio 0.5"]), ("max-aspect-ratio=inf", ["max-aspect-ratio inf"]),
  ]

  private func set(_ settings: String, of child: Child) {
    for setting in settings.split(separator: " ") {
      let parts = setting.split(separator: "=").map(String.init)
      child.set(parts[0], parts[1])
    }
  }

  @Test("A value that is none is refused: the start fails, or a filter that runs warns", arguments: refusals)
  func refused(_ settings: String, _ numbers: [String]) throws {
    for isRunning in [false, true] {
      let pipeline = try Pipeline("videotestsrc ! sdlrangefilter name=filter ! fakesink")
      if isRunning { try pipeline.reach(GST_STATE_PAUSED) }
      let child = try Child("portrait", of: pipeline["filter"])
      set(settings, of: child)
      if !isRunning { #expect(pipeline.setState(GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE) }
      let fault = try isRunning ? pipeline.waitForWarning() : pipeline.waitForError()
      #expect(fault.isResource(GST_RESOURCE_ERROR_SETTINGS), "\(fault)")
      #expect(fault.text.hasPrefix("The property portrait::"), "\(fault)")
      for number in numbers { #expect(fault.text.contains(number), "\(fault)") }
      let name = String(settings.split(separator: "=").first ?? "")
      #expect(child[name] == "0")
      guard !isRunning else { continue }
      // The next value replaces it.
      child.set(name, "2")
      pipeline.stop()
      try pipeline.reach(GST_STATE_PAUSED)
    }
  }

  private static let conflicts: [(String, String)] = [
    ("min-width=800 max-width=400", "portrait::min-width 800 is above max-width 400"),
    ("max-width=400 min-width=800", "portrait::min-width 800 is above max-width 400"),
    ("min-height=201 max-height=200", "portrait::min-height 201 is above max-height 200"),
    ("max-aspect-ratio=2 min-aspect-ratio=3", "portrait::min-aspect-ratio 3.0 is above max-aspect-ratio 2.0"),
  ]

  @Test("A minimum above its maximum is an error at the start", arguments: conflicts)
  func conflict(_ settings: String, _ text: String) throws {
    let pipeline = try Pipeline("videotestsrc ! sdlrangefilter name=filter ! fakesink")
    let child = try Child("portrait", of: pipeline["filter"])
    set(settings, of: child)
    for setting in settings.split(separator: " ") {
      let parts = setting.split(separator: "=").map(String.init)
      #expect(child[parts[0]] == parts[1])
    }
    #expect(pipeline.setState(GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_SETTINGS) && error.text.contains(text), "\(error)")
    pipeline.stop()
    for name in ["width", "height", "aspect-ratio"] { child.set("max-\(name)", "0") }
    try pipeline.reach(GST_STATE_PAUSED)
  }

  /// On the way to another range; until then the former one stays.
  @Test func conflictWhilePlaying() throws {
    let pipeline = try Pipeline(
      "videotestsrc ! sdlrangefilter name=filter landscape::max-width=400 portrait::enabled=false ! fakesink name=sink sync=true"
    )
    try pipeline.reach(GST_STATE_PLAYING)
    let child = try Child("landscape", of: pipeline["filter"])
    child.set("min-width", "500")
    let warning = try pipeline.waitForWarning()
    #expect(warning.text.contains("landscape::min-width 500 is above max-width 400"), "\(warning)")
    #expect(child["min-width"] == "500")
    child.set("max-width", "600")
    let pad = try pipeline.sink.pad("sink")
    #expect(
      eventually {
        guard let caps = Caps.current(of: pad), let picture = CapsSizes.fixedPicture(caps.pointer) else { return false }
        return (500...600).contains(picture.size.width)
      })
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
  }
}

/// What passes is not touched.
@Suite struct RangeFilterDataTests {
  @Test(arguments: ["", "landscape::min-width=300 landscape::max-aspect-ratio=2"])
  func buffersAndMetas(_ ranges: String) throws {
    let bench = try RangeFilterBench(caps: Picture.caps(320, 240), ranges)
    try bench.pipeline.play()
    for index in 0..<5 {
      let buffer = try #require(bench.source.buffer(of: [UInt8](repeating: UInt8(index), count: 16)))
      gst_buffer_add_video_region_of_interest_meta(buffer, "sdl-haptic", 1, 2, 3, 4)
      bench.push(buffer)
      try bench.pull { sample in
        let received = try nonNull(gst_sample_get_buffer(sample))
        #expect(received == buffer)
        #expect(received.pointee.pts == UInt(index) * 1_000_000_000 / 30)
        #expect(gst_buffer_get_meta(received, gst_video_region_of_interest_meta_api_get_type()) != nil)
      }
    }
    bench.source.end()
    try bench.pipeline.waitForEnd()
    #expect(bench.pipeline.drain().allSatisfy { $0.warning == nil })
  }

  /// GstBaseTransform splits lists; every buffer passes, in order.
  @Test func lists() throws {
    let bench = try RangeFilterBench(caps: Picture.caps(320, 240), "landscape::min-width=300")
    try bench.pipeline.play()
    for round in 0..<3 {
      let list = try nonNull(gst_buffer_list_new_sized(4))
      for index in 0..<4 { gst_buffer_list_insert(list, -1, bench.source.buffer(of: [UInt8(4 * round + index)])) }
      gst_app_src_push_buffer_list(try bench.pipeline["src"].pointer.cast(), list)
    }
    for index in 0..<12 {
      try bench.pull { sample in
        var byte: UInt8 = 0
        #expect(gst_buffer_extract(gst_sample_get_buffer(sample), 0, &byte, 1) == 1 && byte == UInt8(index))
      }
    }
  }

  @Test func listsOfCapsThatDoNotPass() throws {
    let bench = try RangeFilterBench(caps: Picture.caps(320, 240), "landscape::min-width=400")
    try bench.pipeline.play()
    let list = try nonNull(gst_buffer_list_new_sized(1))
    gst_buffer_list_insert(list, -1, bench.source.buffer(of: [1]))
    gst_app_src_push_buffer_list(try bench.pipeline["src"].pointer.cast(), list)
    let error = try bench.pipeline.waitForError()
    #expect(error.text.contains("width 320 is below landscape::min-width 400"), "\(error)")
  }
}
