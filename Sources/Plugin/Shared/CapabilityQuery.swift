import GStreamerKit
import SDLApp

/// The query for the head unit's displays, from anywhere upstream: a custom query whose structure is named
/// `application/x-sdl-video-capabilities`. It is not serialized and never blocks.
///
/// `sdlvideosink` answers it. As long as the head unit has not reported its capability, the answer is empty; then its
/// field `capabilities` is a GstValueArray of structures `application/x-sdl-video-capability`, in the head unit's order
/// of preference, with
///
/// - `width`, `height`: size of the pictures to send, in pixels (gint);
/// - `display-width`, `display-height`: size on the head unit's screen (gint);
/// - `scale`: the factor by which the head unit enlarges the pictures, 1…10 (gdouble);
/// - `haptics`: whether it wants touchable rectangles (gboolean);
/// - `diagonal`, in inches, and `pixels-per-inch` (gdouble), `preferred-fps` (gint): if the head unit has reported
///   them.
///
/// The array is empty when the head unit accepts any size. An `sdlrangefilter` in between removes displays that it does
/// not support, unless none would be left.
enum CapabilityQuery {
  private static let name = "application/x-sdl-video-capabilities"
  private static let field = "capabilities"

  /// Sends the query downstream from `pad`, a source pad. Call without locks.
  static func ask(_ pad: UnsafeMutablePointer<GstPad>) -> VideoRangeFilter.HeadUnit {
    guard let query = Query(custom: Structure(name)), query.askPeer(of: pad), let answer = query.structure else {
      return .absent
    }
    return DisplayStructure.displays(answer, field).map { .displays($0) } ?? .unknown
  }

  /// Answers the query; false if `query` is another one. `displays` is nil while they are unknown.
  static func answer(_ query: UnsafeMutablePointer<GstQuery>, _ displays: @autoclosure () -> [VideoDisplay]?) -> Bool {
    guard query.isCustom(name) else { return false }
    guard let displays = displays(), let structure = gst_query_writable_structure(query) else { return true }
    structure.set(field, StructureArray(displays, DisplayStructure.structure))
    return true
  }

  /// Removes the displays that `ranges` reject from an answer, if `query` has one, unless none would be left.
  static func restrict(_ query: UnsafeMutablePointer<GstQuery>, to ranges: @autoclosure () -> VideoRanges) {
    guard query.isCustom(name), let structure = gst_query_writable_structure(query),
      let displays = DisplayStructure.displays(StructureView(structure), field)
    else { return }
    let accepted = VideoRangeFilter(ranges: ranges(), headUnit: .displays(displays)).acceptedDisplays
    guard !accepted.isEmpty, accepted.count < displays.count else { return }
    structure.set(field, StructureArray(accepted, DisplayStructure.structure))
  }
}

extension UnsafeMutablePointer<GstQuery> {
  func isCustom(_ name: String) -> Bool {
    guard pointee.type == GST_QUERY_CUSTOM, let structure = gst_query_get_structure(self) else { return false }
    return gst_structure_has_name(structure, name) != 0
  }
}

/// Displays as the structures of custom queries: `application/x-sdl-video-capability`, see ``CapabilityQuery``.
enum DisplayStructure {
  private static let name = "application/x-sdl-video-capability"
  /// The most entries of an array that are read.
  static let maximumEntryCount = 256

  /// The structure of a display; nil if it has no size that can be encoded.
  static func structure(_ display: VideoDisplay) -> Structure? {
    guard let size = display.streamSize else { return nil }
    let entry = Structure(name)
    entry.set("width", Int32(clamping: size.width))
    entry.set("height", Int32(clamping: size.height))
    entry.set("display-width", Int32(clamping: display.size.width))
    entry.set("display-height", Int32(clamping: display.size.height))
    entry.set("scale", display.scale)
    entry.set("haptics", display.takesHapticData)
    entry.set("diagonal", display.diagonal)
    entry.set("pixels-per-inch", display.pixelsPerInch)
    if let frameRate = display.frameRate { entry.set("preferred-fps", Int32(clamping: frameRate)) }
    return entry
  }

  /// The displays in the array `field`, without those that can't be read; nil if there is no such array.
  static func displays(_ structure: StructureView, _ field: String) -> [VideoDisplay]? {
    structure.structures(field, limit: maximumEntryCount).map { $0.compactMap(display) }
  }

  /// The display in a structure; nil if it has no size that can be encoded.
  static func display(_ structure: StructureView) -> VideoDisplay? {
    guard let width = structure.integer("display-width"), let height = structure.integer("display-height") else {
      return nil
    }
    var display = VideoDisplay(
      size: VideoSize(Int(width), Int(height)), scale: structure.double("scale"),
      diagonal: structure.double("diagonal"), pixelsPerInch: structure.double("pixels-per-inch"),
      frameRate: structure.integer("preferred-fps").map(Int.init))
    display.takesHapticData = structure.boolean("haptics") ?? false
    guard let usual = display.streamSize else { return nil }
    // The head unit may have acknowledged another size than the requested one.
    let stated = VideoSize(
      structure.integer("width").map(Int.init) ?? usual.width,
      structure.integer("height").map(Int.init) ?? usual.height)
    return stated == usual ? display : display.streaming(stated)
  }
}
