/// An owner of GstCaps, which can also build them without any text:
///
///     var caps = Caps()
///     let raw = Structure("video/x-raw")
///     raw.set("format", oneOf: ["I420", "NV12"])
///     raw.set("width", Int32(800))
///     raw.setFractionRange("framerate", from: (0, 1), to: (30, 1))
///     caps.append(raw)
///     let common = caps.intersected(with: Caps(retaining: filter))
///     return common.take()
package typealias Caps = MiniObject<GstCaps>

extension MiniObject where Pointee == GstCaps {
  /// Empty caps, which nothing fits.
  package init() {
    self.init(taking: gst_caps_new_empty())
  }

  package init(_ structure: consuming Structure) {
    self.init()
    append(structure)
  }

  /// Caps as `gst_caps_from_string` reads them; nil if the text is none. For constants and tests; queries should append
  /// structures instead.
  package init?(_ text: String) {
    self.init(owning: gst_caps_from_string(text))
  }

  package static func template(of pad: UnsafeMutablePointer<GstPad>) -> Caps {
    Caps(owning: gst_pad_get_pad_template_caps(pad)) ?? Caps()
  }

  /// The present caps of a pad; nil before the first CAPS event.
  package static func current(of pad: UnsafeMutablePointer<GstPad>) -> Caps? {
    Caps(owning: gst_pad_get_current_caps(pad))
  }

  /// The answer of a pad's peer to a CAPS query; ANY without a peer. Call without locks.
  package static func peerQuery(_ pad: UnsafeMutablePointer<GstPad>) -> Caps? {
    Caps(owning: gst_pad_peer_query_caps(pad, nil))
  }

  /// The same with a filter, whose order the answer has.
  package static func peerQuery(_ pad: UnsafeMutablePointer<GstPad>, filter: borrowing Caps) -> Caps? {
    Caps(owning: gst_pad_peer_query_caps(pad, filter.pointer))
  }

  package var count: Int { Int(gst_caps_get_size(pointer)) }

  package var isEmpty: Bool { gst_caps_is_empty(pointer) != 0 }

  /// Whether everything that fits these caps fits `other` too.
  package borrowing func isSubset(of other: borrowing Caps) -> Bool { gst_caps_is_subset(pointer, other.pointer) != 0 }

  /// Whether both describe the same formats.
  package borrowing func isEqual(to other: borrowing Caps) -> Bool { gst_caps_is_equal(pointer, other.pointer) != 0 }

  /// What both have in common, in the order of these caps (GST_CAPS_INTERSECT_FIRST).
  package borrowing func intersected(with other: borrowing Caps) -> Caps {
    Caps(owning: gst_caps_intersect_full(pointer, other.pointer, GST_CAPS_INTERSECT_FIRST)) ?? Caps()
  }

  /// Appends a structure, even if the caps cover it already.
  ///
  /// - Parameter features: of the memory; nil is system memory. They are copied.
  package mutating func append(
    _ structure: consuming Structure, features: OpaquePointer? = nil
  ) {
    makeWritable()
    gst_caps_append_structure_full(pointer, structure.take(), features.map { gst_caps_features_copy($0) })
  }

  /// Appends a structure, unless the caps cover it already.
  ///
  /// - Parameter features: of the memory; nil is system memory. They are copied.
  package mutating func merge(
    _ structure: consuming Structure, features: OpaquePointer? = nil
  ) {
    // Takes the caps over, copies them if they are shared, and returns them.
    pointer =
      gst_caps_merge_structure_full(pointer, structure.take(), features.map { gst_caps_features_copy($0) }) ?? pointer
  }

  /// Appends those structures of `other` that these caps do not cover already.
  package mutating func merge(_ other: consuming Caps) {
    pointer = gst_caps_merge(pointer, other.take()) ?? pointer
  }

  /// A structure to be read, as long as the caps are there and unchanged; nil if there is none at `index`.
  package borrowing func structure(at index: Int) -> StructureView? {
    StructureView(caps: pointer, index)
  }

  /// The features of a structure, to be read or passed to ``append(_:features:)``.
  package borrowing func features(at index: Int) -> OpaquePointer? {
    index >= 0 && index < count ? gst_caps_get_features(pointer, guint(index)) : nil
  }

  /// As gst-launch writes them.
  package var text: String { Caps.text(pointer) }

  /// Borrowed caps as gst-launch writes them; "NULL" if there are none.
  package static func text(_ caps: UnsafePointer<GstCaps>?) -> String {
    String(freeing: gst_caps_to_string(caps)) ?? ""
  }

  private mutating func makeWritable() {
    pointer = UnsafeMutableRawPointer(gst_mini_object_make_writable(miniObject(pointer)))
      .assumingMemoryBound(to: GstCaps.self)
  }
}
