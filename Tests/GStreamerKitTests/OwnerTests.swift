import GStreamerKit
import TestSupport
import Testing

private struct NoCaps: Error {}

/// `#require` takes no owners.
private func parsed(_ text: String) throws -> Caps {
  guard let caps = Caps(text) else { throw NoCaps() }
  return caps
}

/// References are given back exactly once.
@Suite struct OwnerTests {
  private func references(_ pointer: UnsafeMutablePointer<GstCaps>) -> Int32 {
    pointer.pointee.mini_object.refcount
  }

  @Test func ownersCount() throws {
    #expect(isGStreamerReady)
    let outer = try nonNull(gst_caps_new_empty())
    defer { gst_caps_unref(outer) }
    do {
      let owner = Caps(retaining: outer)
      #expect(references(outer) == 2)
      let second = owner.shared()
      #expect(references(outer) == 3)
      #expect(second.pointer == outer)
    }
    #expect(references(outer) == 1)
    let taken = Caps(retaining: outer).take()
    #expect(references(outer) == 2)
    do { _ = Caps(owning: taken) }
    #expect(references(outer) == 1)
    if Caps(owning: nil) != nil { Issue.record("an owner of nothing") }
  }

  @Test func arraysCount() throws {
    #expect(isGStreamerReady)
    let caps = try nonNull(gst_caps_new_empty())
    defer { gst_caps_unref(caps) }
    do {
      let entry = Structure("entry")
      var value = GValue()
      g_value_init(&value, gst_caps_get_type())
      g_value_set_boxed(&value, caps)
      gst_structure_take_value(entry.pointer, "caps", &value)
      var array = StructureArray()
      array.append(entry)
      #expect(references(caps) == 2)
    }
    #expect(references(caps) == 1)
  }

  @Test func sharedCapsAreCopiedBeforeTheyChange() {
    #expect(isGStreamerReady)
    let first = Caps(Structure("video/x-raw"))
    var second = first.shared()
    second.append(Structure("video/x-h264"))
    #expect(first.count == 1 && second.count == 2)
    let isSubset = [first.isSubset(of: second), second.isSubset(of: first)]
    #expect(isSubset == [true, false])
  }

  @Test func capsAreBuiltWithoutText() throws {
    #expect(isGStreamerReady)
    let raw = Structure("video/x-raw")
    raw.set("format", oneOf: ["I420", "NV12"])
    raw.set("width", 320...640)
    raw.set("height", Int32(240))
    raw.setFractionRange("framerate", from: (0, 1), to: (30, 1))
    raw.setFraction("pixel-aspect-ratio", (1, 1))
    var caps = Caps(raw)
    let h264 = Structure("video/x-h264")
    h264.set("stream-format", "byte-stream")
    caps.append(h264)
    let written = try parsed(
      "video/x-raw,format={I420,NV12},width=[320,640],height=240,framerate=[0/1,30/1],pixel-aspect-ratio=1/1;video/x-h264,stream-format=byte-stream"
    )
    let isEqual = caps.isEqual(to: written)
    #expect(isEqual, "\(caps.text)")
    // Covered by what is there.
    let narrow = Structure("video/x-h264")
    narrow.set("stream-format", "byte-stream")
    narrow.set("width", Int32(8))
    caps.merge(narrow)
    #expect(caps.count == 2 && !caps.isEmpty)
    let common = caps.intersected(with: try parsed("video/x-h264;video/x-raw,width=400"))
    #expect(common.count == 2)
    #expect(common.structure(at: 0)?.integer("width") == 400)
    #expect(common.structure(at: 0)?.fraction("pixel-aspect-ratio")?.denominator == 1)
    #expect(common.structure(at: 1)?.string("stream-format") == "byte-stream")
    #expect(common.structure(at: 2) == nil && common.structure(at: -1) == nil)
    #expect(Caps().isEmpty && Caps.text(nil) == "NULL")
    #expect(throws: NoCaps.self) { _ = try parsed("no caps, at=(all") }
  }

  @Test func fieldsAreRestricted() {
    #expect(isGStreamerReady)
    let structure = Structure("video/x-raw")
    structure.set("width", 100...200)
    let left = [
      structure.restrict("width", to: 150...300), structure.restrict("height", to: 10...10),
      structure.restrict("width", to: 1...2),
    ]
    #expect(left == [true, true, false])
    #expect(structure.view.integer("height") == 10)
    let width = structure.view.value("width")
    #expect(width.map { gst_value_get_int_range_min($0) } == 150)
    #expect(width.map { gst_value_get_int_range_max($0) } == 200)
  }

  @Test func queriesAndNestedStructures() throws {
    #expect(isGStreamerReady)
    let fields = Structure("application/x-test")
    fields.set(
      "list",
      StructureArray(0..<5) { number in
        guard number != 2 else { return nil }
        let entry = Structure("entry")
        entry.set("number", Int32(number))
        return entry
      })
    guard let query = Query(custom: fields), let view = query.structure else { throw NoCaps() }
    #expect(view.name == "application/x-test" && view.hasName("application/x-test"))
    #expect(view.structures("list", limit: 9)?.map { $0.integer("number") } == [0, 1, 3, 4])
    #expect(view.structures("list", limit: 2)?.count == 2)
    #expect(view.structures("other", limit: 2) == nil)
    guard let pad = ObjectReference(owning: gst_pad_new("src", GST_PAD_SRC)) else { throw NoCaps() }
    let isAnswered = query.askPeer(of: pad.pointer)
    #expect(!isAnswered)
  }
}

/// Callbacks of other threads reach an element only while it is there.
@Suite struct ElementHandleTests {
  /// Only a GstElement without a Swift object that outlives it, to be freed by the test.
  final class Bin: GStreamerElement {
    static let log = LogCategory("gstreamerkitbin", "Tests of GStreamerKit")
    nonisolated(unsafe) let gstElement: UnsafeMutablePointer<GstElement>
    init(_ element: UnsafeMutablePointer<GstElement>) { gstElement = element }
  }

  @Test func aReferenceIsHeldMeanwhile() throws {
    #expect(isGStreamerReady)
    let element = try nonNull(gst_bin_new(nil))
    gst_object_ref_sink(element)
    let bin = Bin(element)
    let handle = ElementHandle(bin)
    let count = handle.withReference { $0.gstElement.pointee.object.object.ref_count }
    #expect(count == 2 && element.pointee.object.object.ref_count == 1)
    gst_object_unref(element)
    #expect(handle.withReference { _ in true } == nil)
  }

  @Test func anEndedHandleFindsNothing() throws {
    #expect(isGStreamerReady)
    let element = try nonNull(gst_bin_new(nil))
    gst_object_ref_sink(element)
    defer { gst_object_unref(element) }
    let bin = Bin(element)
    let handle = ElementHandle(bin)
    // From inside a callback, as an application that stops the element does.
    let value = handle.withReference { _ in
      handle.end()
      return 5
    }
    #expect(value == 5)
    #expect(handle.withReference { _ in true } == nil)
  }

  /// The last reference may go while callbacks come: each finds the element alive, or nothing.
  @Test func freedWhileCallbacksCome() async throws {
    #expect(isGStreamerReady)
    for _ in 0..<200 {
      let element = try nonNull(gst_bin_new(nil))
      gst_object_ref_sink(element)
      let bin = Bin(element)
      let handle = ElementHandle(bin)
      let address = UInt(bitPattern: element)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          group.addTask {
            for _ in 0..<50 { handle.withReference { #expect($0.gstElement.pointee.object.object.ref_count > 0) } }
          }
        }
        group.addTask {
          if let pointer = UnsafeMutableRawPointer(bitPattern: address) { gst_object_unref(pointer) }
        }
      }
      #expect(handle.withReference { _ in true } == nil)
      withExtendedLifetime(bin) {}
    }
  }
}
