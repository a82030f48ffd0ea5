import GStreamerKit
import SDLApp

/// The query with which `sdlvideosink` asks upstream which of the head unit's displays the app supports: a custom query
/// whose structure is named `application/x-sdl-video-ranges`. It is not serialized and never blocks.
///
/// Its field `displays` is a GstValueArray of the structures of ``CapabilityQuery``. Every `sdlrangefilter` on the way
/// adds the displays that it does not support to the field `rejections`, a GstValueArray of structures
/// `application/x-sdl-video-rejection`, with
///
/// - `index`: place in `displays`, from 0 (gint);
/// - `reason`: the first condition that is not met, with both numbers, as text (gchararray);
///
/// and forwards the query, since there may be other filters. The reason is that of the filter nearest to the sink.
///
/// When a filter's bounds change, it sends a custom event of the same name downstream, out of band, without fields.
enum RangesQuery {
  private static let name = "application/x-sdl-video-ranges"
  private static let rejectionName = "application/x-sdl-video-rejection"

  /// Sends the query upstream from `pad`, a sink pad. Returns why displays are rejected, by their index.
  static func ask(_ pad: UnsafeMutablePointer<GstPad>, _ displays: [VideoDisplay]) -> [Int: String] {
    // Otherwise the indices would not match.
    guard (1...DisplayStructure.maximumEntryCount).contains(displays.count),
      displays.allSatisfy({ $0.streamSize != nil })
    else { return [:] }
    let asked = Structure(name)
    asked.set("displays", StructureArray(displays, DisplayStructure.structure))
    guard let query = Query(custom: asked), query.askPeer(of: pad), let answer = query.structure else { return [:] }
    return reasons(answer)
  }

  private static func reasons(_ structure: StructureView) -> [Int: String] {
    var reasons: [Int: String] = [:]
    for rejection in structure.structures("rejections", limit: DisplayStructure.maximumEntryCount) ?? [] {
      guard let index = rejection.integer("index").map(Int.init), reasons[index] == nil else { continue }
      reasons[index] = rejection.string("reason") ?? "not supported"
    }
    return reasons
  }

  /// Adds the displays that `ranges` reject to the answer; false if `query` is another one.
  static func answer(_ query: UnsafeMutablePointer<GstQuery>, _ ranges: @autoclosure () -> VideoRanges) -> Bool {
    guard query.isCustom(name), let structure = gst_query_writable_structure(query) else { return false }
    let view = StructureView(structure)
    guard let entries = view.structures("displays", limit: DisplayStructure.maximumEntryCount) else { return true }
    let ranges = ranges()
    var reasons = reasons(view)
    for (index, entry) in entries.enumerated() where reasons[index] == nil {
      guard let display = DisplayStructure.display(entry) else { continue }
      let result = ranges.evaluate(display)
      if !result.isAccepted { reasons[index] = result.description }
    }
    structure.set(
      "rejections",
      StructureArray(reasons.sorted { $0.key < $1.key }) { index, reason in
        let rejection = Structure(rejectionName)
        rejection.set("index", Int32(clamping: index))
        rejection.set("reason", reason)
        return rejection
      })
    return true
  }

  /// The event of a filter whose ranges have changed.
  static func changeEvent() -> Event? { Event(custom: GST_EVENT_CUSTOM_DOWNSTREAM_OOB, Structure(name)) }

  static func isChange(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    event.pointee.type == GST_EVENT_CUSTOM_DOWNSTREAM_OOB && gst_event_has_name(event, name) != 0
  }
}
