/// Owners of GStreamer's reference-counted objects. An owner holds one reference and releases it when it goes out of
/// scope, so that no code path can forget to:
///
///     guard let caps = Caps.current(of: pad) else { return }   // its reference ends with the scope
///     gst_event_new_caps(caps.pointer)                         // lends it
///     return caps.take()                                       // hands the reference over to C
///
/// An owner is no larger than its pointer, and neither making nor ending one allocates, so the frame path may use them.
package struct MiniObject<Pointee>: ~Copyable {
  /// The object; valid as long as its owner. To be lent, not kept.
  package internal(set) var pointer: UnsafeMutablePointer<Pointee>

  /// Takes over a reference: that of a C function that transfers full ownership and never returns NULL.
  package init(taking pointer: UnsafeMutablePointer<Pointee>) {
    self.pointer = pointer
  }

  /// Takes over a reference, if there is one.
  package init?(owning pointer: UnsafeMutablePointer<Pointee>?) {
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  /// Adds a reference to an object of others, such as the argument of a virtual method.
  package init(retaining pointer: UnsafeMutablePointer<Pointee>) {
    gst_mini_object_ref(miniObject(pointer))
    self.pointer = pointer
  }

  deinit {
    gst_mini_object_unref(miniObject(pointer))
  }

  /// Ends the owner, and passes its reference to the caller.
  package consuming func take() -> UnsafeMutablePointer<Pointee> {
    let pointer = self.pointer
    discard self
    return pointer
  }

  /// A second owner of the same object.
  package borrowing func shared() -> MiniObject<Pointee> { MiniObject(retaining: pointer) }
}

/// Every GstMiniObject has its base as its first member.
func miniObject<Pointee>(_ pointer: UnsafeMutablePointer<Pointee>) -> UnsafeMutablePointer<GstMiniObject> {
  UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstMiniObject.self)
}

// The reference count is atomic, and GStreamer itself hands mini objects from thread to thread; none of the methods
// here writes to an object that has a second reference.
extension MiniObject: @unchecked Sendable {}

package typealias Buffer = MiniObject<GstBuffer>

/// An owner of a GstObject's reference: a pad, a bus, a parent.
package struct ObjectReference<Pointee>: ~Copyable {
  /// The object; valid as long as its owner.
  package let pointer: UnsafeMutablePointer<Pointee>

  /// Takes over a reference, if there is one.
  package init?(owning pointer: UnsafeMutablePointer<Pointee>?) {
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  package init(retaining pointer: UnsafeMutablePointer<Pointee>) {
    gst_object_ref(pointer)
    self.pointer = pointer
  }

  deinit {
    gst_object_unref(pointer)
  }
}

extension String {
  /// Copies a C string that the caller owns, and frees it; nil for NULL.
  package init?(freeing text: UnsafeMutablePointer<CChar>?) {
    guard let text else { return nil }
    self.init(cString: text)
    g_free(text)
  }
}

extension UnsafeMutablePointer {
  /// The same instance as one of its GObject parent or child types.
  @inline(__always)
  package func cast<T>(to type: T.Type = T.self) -> UnsafeMutablePointer<T> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: type)
  }
}
