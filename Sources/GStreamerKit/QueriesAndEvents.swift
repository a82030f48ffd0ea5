/// An owner of a GstQuery that this element sends:
///
///     guard let query = Query(custom: Structure("application/x-sdl-…")), query.askPeer(of: pad) else { return }
///     let answer = query.structure
package typealias Query = MiniObject<GstQuery>

extension MiniObject where Pointee == GstQuery {
  /// A custom query (GST_QUERY_CUSTOM).
  package init?(custom structure: consuming Structure) {
    self.init(owning: gst_query_new_custom(GST_QUERY_CUSTOM, structure.take()))
  }

  package static func latency() -> Query { Query(taking: gst_query_new_latency()) }

  /// Whether a LATENCY query was answered by live sources.
  package var isUpstreamLive: Bool {
    var isLive: gboolean = 0
    gst_query_parse_latency(pointer, &isLive, nil, nil)
    return isLive != 0
  }

  /// Sends the query to the peer of `pad`; false without an answer. Call without locks.
  package borrowing func askPeer(of pad: UnsafeMutablePointer<GstPad>) -> Bool { gst_pad_peer_query(pad, pointer) != 0 }

  /// The query's fields with its answer, to be read as long as the query is there.
  package var structure: StructureView? { StructureView(gst_query_get_structure(pointer)) }
}

/// Whether upstream is live: its time stamps continue while the sink holds it up. Queried once.
package struct UpstreamLiveness {
  private var known: Bool?

  package init() {}

  /// Before upstream answers, as before it is linked, it counts as not live.
  package mutating func isLive(at pad: UnsafeMutablePointer<GstPad>) -> Bool {
    if let known { return known }
    // GstBaseSink does not send the query before it has prerolled.
    let query = Query.latency()
    guard query.askPeer(of: pad) else { return false }
    known = query.isUpstreamLive
    return query.isUpstreamLive
  }
}

/// An owner of a GstEvent that this element sends:
///
///     Event.reconfigure()?.push(on: pad)
package typealias Event = MiniObject<GstEvent>

extension MiniObject where Pointee == GstEvent {
  /// Asks upstream to negotiate again.
  package static func reconfigure() -> Event? { Event(owning: gst_event_new_reconfigure()) }

  package init?(custom type: GstEventType, _ structure: consuming Structure) {
    self.init(owning: gst_event_new_custom(type, structure.take()))
  }

  /// Sends it to the peer of `pad`; false if it was not taken. Call without locks.
  @discardableResult
  package consuming func push(on pad: UnsafeMutablePointer<GstPad>) -> Bool { gst_pad_push_event(pad, take()) != 0 }
}
