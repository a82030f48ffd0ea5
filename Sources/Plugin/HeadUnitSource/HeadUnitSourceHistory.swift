import GStreamerKit

/// What is counted over the life of the element: each run begins with what the ones before it have counted.
struct HeadUnitSourceHistory: Sendable {
  var totals = HeadUnitSourceTotals()
  var violations = ViolationLog()
  /// Of the access units that were received.
  var video = AccessUnitQueue.Counters()
}

/// What happened, over the life of the element.
struct HeadUnitSourceTotals: Sendable {
  var connections: UInt64 = 0
  var refusals: UInt64 = 0
  var registrations: UInt64 = 0
  var streamStarts: UInt64 = 0
  var streamRefusals: UInt64 = 0
  /// GstNavigation events that were meant for an app.
  var navigationEvents: UInt64 = 0
  /// OnTouchEvent notifications that were sent.
  var touches: UInt64 = 0
}

/// The property `sdl-stats`: what was counted, and how much of it there is now.
struct HeadUnitSourceStatistics: Sendable {
  var history: HeadUnitSourceHistory
  var framesQueued = 0
  var openConnections = 0
  var apps = 0

  /// Creates the statistics of an element that does not run.
  init(_ history: HeadUnitSourceHistory) {
    self.history = history
  }

  /// As `application/x-sdl-stats`: frames-in = frames-out + every frames-dropped-* + frames-queued.
  var structure: Structure {
    let (video, totals) = (history.video, history.totals)
    let structure = Structure("application/x-sdl-stats")
    structure.set("frames-in", video.framesIn)
    structure.set("frames-out", video.framesOut)
    structure.set("frames-queued", UInt64(clamping: framesQueued))
    structure.set("frames-dropped-queue-full", video.droppedFull)
    structure.set("frames-dropped-waiting-for-key-frame", video.droppedWaiting)
    structure.set("frames-dropped-discarded", video.droppedDiscarded)
    structure.set("key-frames-out", video.keyFramesOut)
    structure.set("discontinuities", video.discontinuities)
    structure.set("video-bytes-in", video.bytesIn)
    structure.set("connections", totals.connections)
    structure.set("connections-refused", totals.refusals)
    structure.set("connections-open", UInt64(clamping: openConnections))
    structure.set("registrations", totals.registrations)
    structure.set("apps", UInt64(clamping: apps))
    structure.set("stream-starts", totals.streamStarts)
    structure.set("stream-refusals", totals.streamRefusals)
    structure.set("navigation-events", totals.navigationEvents)
    structure.set("touches", totals.touches)
    structure.set("violations", history.violations.count)
    return structure
  }
}
