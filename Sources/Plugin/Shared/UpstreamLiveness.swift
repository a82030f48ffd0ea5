import GStreamerKit

/// Whether upstream is live: its time stamps continue while the sink holds it up. Queried once.
struct UpstreamLiveness {
  private var known: Bool?

  /// Before upstream answers, as before it is linked, it counts as not live.
  mutating func isLive(at pad: UnsafeMutablePointer<GstPad>) -> Bool {
    if let known { return known }
    // GstBaseSink does not send the query before it has prerolled.
    let query = Query.latency()
    guard query.askPeer(of: pad) else { return false }
    known = query.isUpstreamLive
    return query.isUpstreamLive
  }
}
