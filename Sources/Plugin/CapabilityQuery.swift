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
/// The array is empty when the head unit takes any size. A `sdlrangefilter` in between leaves out what it does not support,
/// unless nothing would be left.
enum CapabilityQuery {
  private static let name = "application/x-sdl-video-capabilities"
  private static let field = "capabilities"

  /// Asks what is downstream of `pad`, a source pad.
  static func ask(_ pad: UnsafeMutablePointer<GstPad>) -> VideoRangeJudge.HeadUnit {
    guard let query = Query(custom: Structure(name)), query.askPeer(of: pad), let answer = query.structure else {
      return .none
    }
    return DisplayStructure.displays(answer, field).map { .displays($0) } ?? .silent
  }

  /// Answers if that is what `query` asks; false if it asks for something else. `displays` is nil while they are unknown.
  static func answer(_ query: UnsafeMutablePointer<GstQuery>, _ displays: @autoclosure () -> [VideoDisplay]?) -> Bool {
    guard query.isCustom(name) else { return false }
    guard let displays = displays(), let structure = gst_query_writable_structure(query) else { return true }
    structure.set(field, StructureArray(displays, DisplayStructure.structure))
    return true
  }

  /// Leaves out what `ranges` reject of an answer, if `query` has one.
  static func prune(_ query: UnsafeMutablePointer<GstQuery>, by ranges: @autoclosure () -> VideoRanges) {
    guard query.isCustom(name), let structure = gst_query_writable_structure(query),
      let displays = DisplayStructure.displays(StructureView(structure), field)
    else { return }
    let judge = VideoRangeJudge(ranges: ranges(), headUnit: .displays(displays))
    guard !judge.survivors.isEmpty, judge.survivors.count < displays.count else { return }
    structure.set(field, StructureArray(judge.survivors, DisplayStructure.structure))
  }
}

extension UnsafeMutablePointer<GstQuery> {
  /// Whether this is the custom query of that name.
  func isCustom(_ name: String) -> Bool {
    guard pointee.type == GST_QUERY_CUSTOM, let structure = gst_query_get_structure(self) else { return false }
    return gst_structure_has_name(structure, name) != 0
  }
}
