/// The Swift object that does the work of one GstElement, which owns it from `instance_init` to `finalize`.
///
///     final class RangeFilter: GStreamerElement {
///       static let log = LogCategory("sdlrangefilter", "SmartDeviceLink range filter")
///       nonisolated(unsafe) let transform: UnsafeMutablePointer<GstBaseTransform>   // unowned
///       var gstElement: UnsafeMutablePointer<GstElement> { transform.cast() }
///     }
///
/// None of these may be called with a lock held: handlers of the application run in them.
package protocol GStreamerElement: AnyObject, Sendable {
  static var log: LogCategory { get }
  /// The element, unowned.
  var gstElement: UnsafeMutablePointer<GstElement> { get }
}

extension GStreamerElement {
  /// Whether the element is in PAUSED or PLAYING, or on its way down from there.
  package var isRunning: Bool { cgst_element_state(gstElement).rawValue > GST_STATE_READY.rawValue }

  /// Whether messages can reach an application.
  package var hasBus: Bool { ObjectReference(owning: gst_element_get_bus(gstElement)) != nil }

  /// Whether messages reach an application: the outermost bin has a bus. playbin takes its sinks to READY before they
  /// belong to the pipeline, and their messages are then lost.
  package var hasListener: Bool {
    let pipeline = Self.outermostBin(of: gstElement)
    return ObjectReference(owning: gst_element_get_bus(pipeline.pointer.cast())) != nil
  }

  /// Identifies the pipeline, or the element itself if it is in no bin.
  package var pipelineAddress: UInt { UInt(bitPattern: Self.outermostBin(of: gstElement).pointer) }

  /// The pipeline, or the element itself if it is in no bin.
  static func outermostBin(of element: UnsafeMutablePointer<GstElement>) -> ObjectReference<GstObject> {
    var outermost = ObjectReference<GstObject>(retaining: element.cast())
    while let parent = ObjectReference(owning: gst_object_get_parent(outermost.pointer)) { outermost = parent }
    return outermost
  }

  /// Logs in the element's category; the message is built only if it is logged.
  @inline(__always)
  package func log(
    _ level: GstDebugLevel, _ message: @autoclosure () -> String, file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) {
    Self.log.log(level, gstElement, message(), file: file, function: function, line: line)
  }

  /// Logs and posts a warning; the stream goes on.
  package func warn(
    _ error: ElementError, file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    log(GST_LEVEL_WARNING, "\(error.text) \(error.details ?? "")", file: file, function: function, line: line)
    error.post(as: GST_MESSAGE_WARNING, from: gstElement, file: file, function: function, line: line)
  }

  /// Logs and posts an error.
  package func postError(
    _ error: ElementError, file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    log(GST_LEVEL_ERROR, "\(error.text) \(error.details ?? "")", file: file, function: function, line: line)
    error.post(as: GST_MESSAGE_ERROR, from: gstElement, file: file, function: function, line: line)
  }

  /// Posts a message, and takes ownership of it.
  package func post(_ message: UnsafeMutablePointer<GstMessage>?) {
    guard let message else { return }
    gst_element_post_message(gstElement, message)
  }

  package func postElementMessage(_ structure: consuming Structure) {
    post(gst_message_new_element(gstElement.cast(), structure.take()))
  }

  /// Emits `notify::NAME`.
  package func notify(_ property: PropertyName) {
    g_object_notify(gstElement.cast(), property.text.cString)
  }
}

/// An error as GStreamer reports it: domain, code, a sentence for users, and details.
package struct ElementError: Error, Sendable {
  package var domain: GQuark
  package var code: Int32
  /// What happened, and advice.
  package var text: String
  /// Details for developers.
  package var details: String?

  /// RESOURCE: the network, the head unit, settings.
  package static func resource(_ code: GstResourceError, _ text: String, details: String? = nil) -> ElementError {
    ElementError(domain: gst_resource_error_quark(), code: Int32(code.rawValue), text: text, details: details)
  }

  /// STREAM: the pictures.
  package static func stream(_ code: GstStreamError, _ text: String, details: String? = nil) -> ElementError {
    ElementError(domain: gst_stream_error_quark(), code: Int32(code.rawValue), text: text, details: details)
  }

  /// LIBRARY: libx264.
  package static func library(_ code: GstLibraryError, _ text: String, details: String? = nil) -> ElementError {
    ElementError(domain: gst_library_error_quark(), code: Int32(code.rawValue), text: text, details: details)
  }

  /// Posts an ERROR, WARNING or INFO message from `element`. Call without locks.
  package func post(
    as type: GstMessageType, from element: UnsafeMutablePointer<GstElement>, file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) {
    gst_element_message_full(
      element, type, domain, code, g_strdup(text), details.map { g_strdup($0) }, file.cString, function.cString, line)
  }
}
