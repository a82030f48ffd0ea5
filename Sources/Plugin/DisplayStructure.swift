import GStreamerKit
import SDLApp

/// Displays as the structures of custom queries: `application/x-sdl-video-capability`, see ``CapabilityQuery``.
enum DisplayStructure {
  private static let name = "application/x-sdl-video-capability"
  /// The most entries that are read of an array.
  static let mostEntries = 256

  /// Nil for a display of which no picture could be sent.
  static func structure(_ display: VideoDisplay) -> Structure? {
    guard let size = display.streamSize else { return nil }
    let entry = Structure(name)
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

  /// The displays in the array `field`, without those that can't be read; nil if there is no such array.
  static func displays(_ structure: UnsafePointer<GstStructure>, _ field: String) -> [VideoDisplay]? {
    entries(structure, field).map { $0.compactMap(display) }
  }

  /// The structures in the array `field`; nil if there is no such array.
  static func entries(
    _ structure: UnsafePointer<GstStructure>, _ field: String
  ) -> [UnsafePointer<GstStructure>]? {
    guard let array = gst_structure_get_value(structure, field), g_type_check_value_holds(array, cgst_type_array()) != 0
    else { return nil }
    return (0..<min(Int(gst_value_array_get_size(array)), mostEntries)).compactMap { index in
      guard let entry = gst_value_array_get_value(array, guint(index)),
        g_type_check_value_holds(entry, cgst_type_structure()) != 0
      else { return nil }
      return gst_value_get_structure(entry)
    }
  }

  static func display(_ structure: UnsafePointer<GstStructure>) -> VideoDisplay? {
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
    guard let ordinary = display.streamSize else { return nil }
    // A head unit may have insisted on another size.
    let told = VideoSize(integer("width") ?? ordinary.width, integer("height") ?? ordinary.height)
    return told == ordinary ? display : display.streaming(told)
  }

  /// A query owns its structure, so what is built elsewhere is copied into it.
  static func set(_ structure: UnsafeMutablePointer<GstStructure>, _ field: String, _ entries: [Structure]) {
    let built = Structure(name)
    built.set(field, entries)
    let source = built.take()
    gst_structure_set_value(structure, field, gst_structure_get_value(source, field))
    gst_structure_free(source)
  }
}
