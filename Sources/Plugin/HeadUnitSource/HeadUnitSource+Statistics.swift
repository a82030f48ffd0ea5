import GStreamerKit

/// What is counted: the property `sdl-stats`.
extension HeadUnitSource {
  /// Valid in every state.
  func statistics() -> Structure {
    let (queue, count, totals, apps, violations) = state.withLock { state in
      (state.queue.counters, state.queue.count, state.totals, state.apps, state.violations.count)
    }
    let structure = Structure("application/x-sdl-stats")
    structure.set("frames-in", queue.framesIn)
    structure.set("frames-out", queue.framesOut)
    structure.set("frames-queued", UInt64(clamping: count))
    structure.set("frames-dropped-queue-full", queue.droppedFull)
    structure.set("frames-dropped-waiting-for-key-frame", queue.droppedWaiting)
    structure.set("frames-dropped-discarded", queue.droppedDiscarded)
    structure.set("key-frames-out", queue.keyFramesOut)
    structure.set("discontinuities", queue.discontinuities)
    structure.set("video-bytes-in", queue.bytesIn)
    structure.set("connections", totals.connections)
    structure.set("connections-refused", totals.refusals)
    structure.set("connections-open", UInt64(clamping: apps.peers.count))
    structure.set("registrations", totals.registrations)
    structure.set("apps", UInt64(clamping: apps.all.count))
    structure.set("stream-starts", totals.streamStarts)
    structure.set("stream-refusals", totals.streamRefusals)
    structure.set("navigation-events", totals.navigationEvents)
    structure.set("touches", totals.touches)
    structure.set("violations", violations)
    return structure
  }
}
