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

  /// The parent warns, since a child has no bus.
  func refuse(_ property: PropertyName, id: UInt32, _ reason: String) {
    let name = String(freeing: gst_object_get_name(object)) ?? ""
    let refusal = Self.refusal("\(name)::\(property)", reason)
    let isTold = withParent { filter in
      guard filter.hasBus else { return false }
      filter.warn(refusal)
      return true
    }
    if isTold != true { settings.keepRefusal(refusal, of: id) }
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

/// The type.
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

  /// Makes a child of a filter, which keeps it until ``unparent()``.
  static func make(_ name: String, parent: UnsafeMutablePointer<GstObject>) -> RangeChild {
    let object = g_object_new_with_properties(type, 0, nil, nil)
    let child = RangeChildType.object(of: object)
    gst_object_set_name(child.object, name)
    gst_object_set_parent(child.object, parent)
    return child
  }

  /// The filter is disposed of, perhaps not for the first time.
  func unparent() {
    if object.pointee.parent != nil { gst_object_unparent(object) }
  }
}
