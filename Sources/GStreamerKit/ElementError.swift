/// What goes wrong in an element, as GStreamer reports it: domain, code, a sentence for people, and details.
public struct ElementError: Error, Sendable {
  public var domain: GQuark
  public var code: Int32
  /// What happened and what to do.
  public var text: String
  /// Details for developers.
  public var details: String?

  /// RESOURCE: the network, the head unit, settings.
  public static func resource(_ code: GstResourceError, _ text: String, details: String? = nil) -> ElementError {
    ElementError(domain: gst_resource_error_quark(), code: Int32(code.rawValue), text: text, details: details)
  }

  /// STREAM: the pictures.
  public static func stream(_ code: GstStreamError, _ text: String, details: String? = nil) -> ElementError {
    ElementError(domain: gst_stream_error_quark(), code: Int32(code.rawValue), text: text, details: details)
  }

  /// LIBRARY: libx264.
  public static func library(_ code: GstLibraryError, _ text: String, details: String? = nil) -> ElementError {
    ElementError(domain: gst_library_error_quark(), code: Int32(code.rawValue), text: text, details: details)
  }

  /// Posts an ERROR, WARNING or INFO message from `element`. Call without locks.
  public func post(
    as type: GstMessageType, from element: UnsafeMutablePointer<GstElement>, file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) {
    gst_element_message_full(
      element, type, domain, code, g_strdup(text), details.map { g_strdup($0) }, file.cString, function.cString, line)
  }
}
