import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// One run of `sdlheadunitsrc`: the video of the apps, and the touches. See ``HeadUnitRun``.
final class HeadUnitSourceRun: HeadUnitRun {
  struct State: HeadUnitRunState {
    var part: HeadUnitPart
    var video: ReceivedVideo
    var touches = WindowTouchQueue()
    /// Hands over the touches that wait for an app, on the server's thread.
    var fetchTouches: @Sendable (UInt8) -> [WindowTouchQueue.Touch] = { _ in [] }
    /// GstNavigation events that were meant for an app.
    var navigationEvents: UInt64
    /// OnTouchEvent notifications that were sent.
    var sentTouches: UInt64
  }

  let element: ElementHandle<HeadUnitSource>
  let reporter: HeadUnitReporter<HeadUnitSource>
  let name: String
  let state: Monitor<State>
  let output = Monitor(HeadUnitSourceOutput())

  /// - Parameters:
  ///   - element: what the run reports to until its end.
  ///   - settings: as they are at the start.
  ///   - history: what was counted in earlier runs.
  init(
    element: HeadUnitSource, settings: HeadUnitSourceSettings, history: HeadUnitHistory<HeadUnitSourceCounters>
  ) {
    self.element = ElementHandle(element)
    name = String(freeing: gst_object_get_name(element.gstElement.cast())) ?? ""
    reporter = HeadUnitReporter(self.element)
    state = Monitor(
      State(
        part: HeadUnitPart(history, endsWithApp: settings.endsWithApp), video: ReceivedVideo(history.stream.video),
        navigationEvents: history.stream.navigationEvents, sentTouches: history.stream.touches))
    let fetchTouches: @Sendable (UInt8) -> [WindowTouchQueue.Touch] = { [weak self] app in
      self?.state.withLock { $0.touches.fetch(for: app) } ?? []
    }
    state.withLock { $0.fetchTouches = fetchTouches }
  }

  var service: ServiceType { HeadUnitSource.service }
}

extension HeadUnitSourceRun.State {
  var counters: HeadUnitSourceCounters {
    HeadUnitSourceCounters(video: video.counters, navigationEvents: navigationEvents, touches: sentTouches)
  }

  var queuedCount: Int { video.queuedCount }
  var streamingApp: UInt8? { video.app }

  mutating func joined(_ setup: HeadUnitSetup, _ apps: ServedApps, now: Duration) {
    for app in apps.all {
      if let parameters = app.video { video.begin(parameters, by: app.id, now: now) }
    }
  }

  mutating func appsChanged(formerApp: UInt8?, now: Duration) {
    if touchableApp == nil { interruptTouches(now: now) }
    if let formerApp { touches.forget(formerApp) }
  }

  mutating func willEnd(now: Duration) {
    interruptTouches(now: now)
  }

  mutating func streamEnded(now: Duration) {
    video.flushPending(now: now)
  }

  mutating func discard() {
    video.discard()
    touches = WindowTouchQueue()
  }
}

/// What `sdlheadunitsrc` counts of its stream.
struct HeadUnitSourceCounters: HeadUnitStreamCounters {
  /// Of the access units that were received.
  var video = AccessUnitQueue.Counters()
  var navigationEvents: UInt64 = 0
  var touches: UInt64 = 0

  /// frames-in = frames-out + every frames-dropped-* + frames-queued.
  func fill(_ structure: borrowing Structure) {
    structure.set("frames-in", video.framesIn)
    structure.set("frames-out", video.framesOut)
    structure.set("frames-dropped-queue-full", video.droppedFull)
    structure.set("frames-dropped-waiting-for-key-frame", video.droppedWaiting)
    structure.set("frames-dropped-discarded", video.droppedDiscarded)
    structure.set("key-frames-out", video.keyFramesOut)
    structure.set("discontinuities", video.discontinuities)
    structure.set("video-bytes-in", video.bytesIn)
    structure.set("navigation-events", navigationEvents)
    structure.set("touches", touches)
  }
}
