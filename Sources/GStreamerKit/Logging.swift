@_exported import CGStreamer

/// A debug category: what `GST_DEBUG=name:level` selects.
package struct LogCategory: Sendable {
  // Categories are never freed, and GStreamer's own accessors are atomic.
  nonisolated(unsafe) let category: UnsafeMutablePointer<GstDebugCategory>

  /// Registers the category; both texts must be literals, GStreamer keeps the pointers.
  package init(_ name: StaticString, _ description: StaticString) {
    category = _gst_debug_category_new(name.cString, 0, description.cString)
  }

  /// Whether messages of this level are logged.
  package func isEnabled(_ level: GstDebugLevel) -> Bool { cgst_log_enabled(category, level) != 0 }

  /// Logs for `object` (a GObject, or nil); the message is built only if it is logged.
  @inline(__always)
  package func log(
    _ level: GstDebugLevel, _ object: UnsafeMutableRawPointer?, _ message: @autoclosure () -> String,
    file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    guard cgst_log_enabled(category, level) != 0 else { return }
    gst_debug_log_literal(
      category, level, file.cString, function.cString, line, object?.assumingMemoryBound(to: GObject.self), message())
  }
}

extension StaticString {
  /// The literal as a C string that is never freed.
  @inlinable
  package var cString: UnsafePointer<CChar> {
    UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
