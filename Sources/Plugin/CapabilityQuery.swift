import GStreamerKit
import SDLApp

/// The query that asks, from anywhere upstream, what the head unit can show: a custom query whose structure is called
/// `application/x-sdl-video-capabilities`. It is not serialized and never blocks.
///
/// `sdlvideosink` answers it. As long as the head unit has not said what it takes, the answer is empty; then its field
/// `capabilities` is a GstValueArray of structures `application/x-sdl-video-capability`, in the head unit's order of
/// preference, with
///
/// - `width`, `height`: size of the pictures to send, in pixels (gint);
/// - `display-width`, `display-height`: size on the head unit's screen (gint);
/// - `scale`: by which the head unit enlarges the pictures, 1…10 (gdouble);
/// - `diagonal`, in inches, and `pixels-per-inch` (gdouble), `preferred-fps` (gint): those that the head unit has told.
///
/// The array is empty when the head unit takes any size.
enum CapabilityQuery {
  private static let name = "application/x-sdl-video-capabilities"
  private static let entryName = "application/x-sdl-video-capability"
  private static let field = "capabilities"
  /// The most entries that are read of an answer.
  private static let mostEntries = 256

  /// Asks what is downstream of `pad`, a source pad; empty when nobody knows.
  static func ask(_ pad: UnsafeMutablePointer<GstPad>) -> [VideoDisplay] {
    guard let query = gst_query_new_custom(GST_QUERY_CUSTOM, Structure(name).take()) else { return [] }
    defer { gst_query_unref(query) }
    guard gst_pad_peer_query(pad, query) != 0, let answer = gst_query_get_structure(query),
      let array = gst_structure_get_value(answer, field), g_type_check_value_holds(array, cgst_type_array()) != 0
    else { return [] }
    return (0..<min(Int(gst_value_array_get_size(array)), mostEntries)).compactMap { index in
      guard let entry = gst_value_array_get_value(array, guint(index)),
        g_type_check_value_holds(entry, cgst_type_structure()) != 0, let structure = gst_value_get_structure(entry)
      else { return nil }
      return display(structure)
    }
  }

  /// Answers if that is what `query` asks; false if it asks for something else. `displays` is nil while they are unknown.
  static func answer(_ query: UnsafeMutablePointer<GstQuery>, _ displays: @autoclosure () -> [VideoDisplay]?) -> Bool {
    guard query.pointee.type == GST_QUERY_CUSTOM, let asked = gst_query_get_structure(query),
      gst_structure_has_name(asked, name) != 0
    else { return false }
    guard let displays = displays(), let structure = gst_query_writable_structure(query) else { return true }
    // The query owns its structure, so what is built here is copied into it field by field.
    let built = Structure(name)
    built.set(field, displays.compactMap(entry))
    let source = built.take()
    gst_structure_set_value(structure, field, gst_structure_get_value(source, field))
    gst_structure_free(source)
    return true
  }

  private static func entry(_ display: VideoDisplay) -> Structure? {
    guard let size = display.streamSize else { return nil }
    let entry = Structure(entryName)
    entry.set("width", Int32(clamping: size.width))
    entry.set("height", Int32(clamping: size.height))
    entry.set("display-width", Int32(clamping: display.size.width))
    entry.set("display-height", Int32(clamping: display.size.height))
    entry.set("scale", display.scale)
    entry.set("diagonal", display.diagonal)
    entry.set("pixels-per-inch", display.pixelsPerInch)
    if let frameRate = display.frameRate { entry.set("preferred-fps", Int32(clamping: frameRate)) }
    return entry
  }

  private static func display(_ structure: UnsafePointer<GstStructure>) -> VideoDisplay? {
    func integer(_ field: String) -> Int? {
      var value: gint = 0
      return gst_structure_get_int(structure, field, &value) != 0 ? Int(value) : nil
    }
    func double(_ field: String) -> Double? {
      var value: gdouble = 0
      return gst_structure_get_double(structure, field, &value) != 0 ? value : nil
    }
    guard let width = integer("display-width"), let height = integer("display-height") else { return nil }
    let display = VideoDisplay(
      size: VideoSize(width, height), scale: double("scale"), diagonal: double("diagonal"),
      pixelsPerInch: double("pixels-per-inch"), frameRate: integer("preferred-fps"))
    return display.streamSize == nil ? nil : display
  }
}
