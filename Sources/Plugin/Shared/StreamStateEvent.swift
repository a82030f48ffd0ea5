import GStreamerKit
import SDLApp

/// The event with which `sdlvideosink` tells upstream whether pictures are shown: a custom upstream event whose
/// structure is named `application/x-sdl-stream-state`. It comes at each change, between two pictures or while one is
/// made.
///
/// Its field `streaming` says whether the driver can see the pictures (gboolean). While that is false, pictures are
/// dropped, so a source need not make them as often. Some must still come, since the sink needs one for preroll, and
/// one in each size that it requests.
enum StreamStateEvent {
  private static let name = "application/x-sdl-stream-state"

  static func make(_ state: StreamState) -> Event? {
    let structure = Structure(name)
    structure.set("streaming", state == .streaming)
    return Event(custom: GST_EVENT_CUSTOM_UPSTREAM, structure)
  }

  /// Nil for other events.
  static func isStreaming(_ event: UnsafeMutablePointer<GstEvent>) -> Bool? {
    guard event.pointee.type == GST_EVENT_CUSTOM_UPSTREAM,
      let structure = StructureView(gst_event_get_structure(event)), structure.hasName(name)
    else { return nil }
    return structure.boolean("streaming")
  }
}
