import GStreamerKit
import SDLApp

/// One of the filter's children: the range of one orientation. Its settings are the range itself.
final class RangeChild: Sendable {
  // Unowned: the instance frees this object in finalize.
  nonisolated(unsafe) let object: UnsafeMutablePointer<GstObject>
  let settings = ElementSettings(VideoRange())

  private init(_ object: UnsafeMutablePointer<GstObject>) {
    self.object = object
  }

  /// All of a child's properties may change at any time.
  var isRunning: Bool { false }

  /// The parent warns while it runs, since a child has no bus. Before that, the reason is kept: the filter does not
  /// start with it.
  func refuse(_ property: PropertyName, id: UInt32, _ reason: String) {
    let refusal = Self.refusal("\(name)::\(property)", reason)
    let isTold = withParent { filter in
      guard filter.run != nil else { return false }
      filter.warn(refusal)
      return true
    }
    if isTold != true { settings.keepRefusal(refusal, of: id) }
  }

  private var name: String { String(freeing: gst_object_get_name(object)) ?? "" }

  /// Why the values can't be used together: minimums above their maximums.
  var conflicts: [String] {
    settings.current.conflicts.map { "\(name)::\($0)" }
  }

  func rangeChanged() {
    withParent { $0.rangesChanged() }
  }

  /// Calls `body` with the filter, unless this child has outlived it.
  private func withParent<Result>(_ body: (RangeFilter) -> Result) -> Result? {
    guard let parent = ObjectReference(owning: gst_object_get_parent(object)) else { return nil }
    return body(RangeFilterType.object(of: parent.pointer))
  }
}

private typealias RangeChildType = ObjectType<GstObject, GstObjectClass, RangeChild>

nonisolated(unsafe) private let parentClass: UnsafeMutablePointer<GstObjectClass> = retainedClass(gst_object_get_type())

extension RangeChild {
  static let type = RangeChildType.register("GstSdlVideoRange", derivedFrom: gst_object_get_type()) { childClass, _ in
    guard let objectClass = childClass?.assumingMemoryBound(to: GObjectClass.self) else { return }
    objectClass.pointee.set_property = { child, id, value, _ in
      RangeChildType.object(of: child).setProperty(id, value.unsafelyUnwrapped)
    }
    objectClass.pointee.get_property = { child, id, value, _ in
      RangeChildType.object(of: child).getProperty(id, value.unsafelyUnwrapped)
    }
    objectClass.pointee.finalize = { child in
      _ = RangeChildType.detach(from: child)
      parentClass.pointee.parent_class.finalize(child)
    }
    RangeChild.properties.install(on: objectClass)
  } initInstance: { instance, _ in
    RangeChildType.attach(RangeChild(RangeChildType.parent(of: instance)), to: instance)
  }

  /// Makes a child of a filter, with a reference for the caller.
  static func make(_ name: String, parent: UnsafeMutablePointer<GstObject>) -> RangeChild {
    let object = g_object_new_with_properties(type, 0, nil, nil)
    let child = RangeChildType.object(of: object)
    gst_object_ref_sink(child.object)
    gst_object_set_name(child.object, name)
    gst_object_set_parent(child.object, parent)
    return child
  }

  /// The filter is disposed of, perhaps not for the first time.
  func unparent() {
    if object.pointee.parent != nil { gst_object_unparent(object) }
  }
}

/// The properties of the children `landscape` and `portrait`. 0 means no bound.
///
/// The types allow any number, so that an invalid one is refused with a reason instead of being clamped by GObject.
extension RangeChild: PropertyOwner {
  static let properties: PropertyList<RangeChild> = [
    .boolean("enabled", \.isEnabled, "Enabled", "Whether the app supports this orientation at all", .mutablePlaying) {
      $0.rangeChanged()
    },
    side(
      "min-width", \.minimumWidth, "Minimum width", "Minimum width of the pictures, in pixels; 0: no limit"),
    side(
      "min-height", \.minimumHeight, "Minimum height", "Minimum height of the pictures, in pixels; 0: no limit"),
    side(
      "max-width", \.maximumWidth, "Maximum width", "Maximum width of the pictures, in pixels; 0: no limit"),
    side(
      "max-height", \.maximumHeight, "Maximum height", "Maximum height of the pictures, in pixels; 0: no limit"),
    number(
      "min-diagonal", \.minimumDiagonal, "Minimum diagonal",
      "Minimum diagonal of the display, in inches; 0: no limit. A head unit that does not send its diagonal passes"),
    number(
      "min-aspect-ratio", \.minimumAspectRatio, "Minimum aspect ratio",
      "Minimum longer side ÷ shorter side of the display, from 1 on; 0: no limit"),
    number(
      "max-aspect-ratio", \.maximumAspectRatio, "Maximum aspect ratio",
      "Maximum longer side ÷ shorter side of the display, from 1 on; 0: no limit"),
  ]

  private static func side(
    _ name: PropertyName, _ bound: WritableKeyPath<VideoRange, Int?> & Sendable, _ nick: StaticString,
    _ blurb: StaticString
  ) -> Property<RangeChild> {
    .integer(name, \.[pixels: bound], .min ... .max, nick, blurb, .mutablePlaying) { $0.rangeChanged() }
  }

  private static func number(
    _ name: PropertyName, _ bound: WritableKeyPath<VideoRange, Double?> & Sendable, _ nick: StaticString,
    _ blurb: StaticString
  ) -> Property<RangeChild> {
    .double(name, \.[number: bound], -.infinity ... .infinity, nick, blurb, .mutablePlaying) { $0.rangeChanged() }
  }

  static func check(_ range: VideoRange) throws(InvalidPropertyValue) {
    do { try range.validate() } catch { throw InvalidPropertyValue(error.description) }
  }
}

extension VideoRange: PropertySettings {
  /// A bound in pixels as the property's value.
  fileprivate subscript(pixels bound: WritableKeyPath<VideoRange, Int?>) -> Int32 {
    get { Int32(clamping: self[keyPath: bound] ?? 0) }
    set { self[keyPath: bound] = newValue == 0 ? nil : Int(newValue) }
  }

  /// A bound in inches, or of a ratio, as the property's value.
  fileprivate subscript(number bound: WritableKeyPath<VideoRange, Double?>) -> Double {
    get { self[keyPath: bound] ?? 0 }
    set { self[keyPath: bound] = newValue == 0 ? nil : newValue }
  }
}
