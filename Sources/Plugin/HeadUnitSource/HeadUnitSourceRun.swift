import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import TLSEngine

/// One run of the element, from READY→PAUSED to PAUSED→READY: the server, its apps, their video, and the touches.
///
/// One thread (of ``HeadUnitServer``) serves all apps, and reports to the run; it puts access units into a queue that the
/// streaming thread takes them from. The run is the only observer of its server, and a server only ever has one run: what
/// a callback does after the application has restarted the element from inside it still concerns the old run alone.
final class HeadUnitSourceRun: Sendable {
  /// What the server's thread, the streaming thread and the application's threads share.
  struct State: Sendable {
    /// Nil before ``HeadUnitSourceRun/begin(_:script:)`` and after the end.
    var server: HeadUnitServer?
    var apps = ServedApps()
    var video: ReceivedVideo
    var touches = WindowTouchQueue()
    var totals: HeadUnitSourceTotals
    var violations: ViolationLog
    /// The property `eos-on-disconnect`.
    var endsWithApp: Bool
    var isFlushing = false
    /// The stream ends when the queue is empty.
    var isAtEnd = false
    var hasServerEnded = false
    var isOver = false
  }

  /// A callback that waits for a lock of the thread which ends the run would otherwise keep both for ever.
  private static let longestEnd = Duration.seconds(1)

  let reporter: HeadUnitSourceReporter
  let clock: TimeSource
  let state: Monitor<State>
  let output = Monitor(HeadUnitSourceOutput())
  private let element: ElementHandle<HeadUnitSource>

  /// - Parameters:
  ///   - element: what the run reports to until its end.
  ///   - settings: as they are at the start.
  ///   - history: what was counted in earlier runs.
  ///   - clock: by which arrivals are measured.
  init(
    element: HeadUnitSource, settings: HeadUnitSourceSettings, history: HeadUnitSourceHistory, clock: TimeSource
  ) {
    self.element = ElementHandle(element)
    self.clock = clock
    reporter = HeadUnitSourceReporter(self.element)
    state = Monitor(
      State(
        video: ReceivedVideo(history.video), totals: history.totals, violations: history.violations,
        endsWithApp: settings.endsWithApp))
  }

  /// Begins to listen.
  ///
  /// - Returns: the address that apps connect to, with its port.
  /// - Throws: what keeps the server from listening; then ``end()`` has nothing to wait for.
  func begin(
    _ settings: HeadUnitSourceSettings, script: HeadUnitScript, tls: TLSContext? = nil
  ) throws(LinkError) -> String {
    let server = try HeadUnitServer(
      configuration: settings.configuration, address: settings.listeningAddress, port: settings.port,
      admission: Self.admission, script: script, messageTrace: element.withReference { ProtocolLog($0.gstElement) },
      tls: tls, clock: clock,
      observer: self)
    server.setCondition(.activationStatus(settings.status.level ?? HMILevel.none, settings.status.videoStreamingState))
    state.withLock { $0.server = server }
    do {
      try server.start()
    } catch {
      state.withLock { $0.server = nil }
      throw error
    }
    return server.address ?? ""
  }

  /// More than any desk has; connections that do not register are closed, so that they keep nobody out.
  private static var admission: HeadUnitServer.Admission {
    var admission = HeadUnitServer.Admission()
    admission.maximumConnectionCount = 16
    admission.refusesMore = true
    admission.registrationTime = .seconds(10)
    return admission
  }

  /// Closes all connections and waits for the server's thread, unless this is it. Returns whether there were apps.
  func end() -> Bool {
    let server = state.withLock { state in
      interruptTouches(&state)
      return state.server
    }
    if let server {
      server.stop()
      // The last reports of the server are still posted.
      if !server.isOnOwnThread, waitForServer() { server.join() }
    }
    element.end()
    let hadApps = state.withLock { state in
      defer { state.end() }
      return !state.apps.all.isEmpty
    }
    state.broadcast()
    return hadApps
  }

  /// False when the thread is still in a callback after ``longestEnd``.
  private func waitForServer() -> Bool {
    state.wait(until: MonotonicClock.now + Self.longestEnd) { $0.hasServerEnded ? true : nil } ?? false
  }
}

extension HeadUnitSourceRun.State {
  /// The run is over; what was counted stays.
  fileprivate mutating func end() {
    isOver = true
    server = nil
    apps = ServedApps()
    video.discard()
    touches = WindowTouchQueue()
  }
}

/// What properties show.
extension HeadUnitSourceRun {
  var port: UInt16 { state.withLock { $0.server?.port } ?? 0 }

  /// The registered apps, in their order.
  var apps: [AppRecord] { state.withLock { $0.apps.all } }

  /// Of the app on the screen; nil without one.
  var hmiLevel: HMILevel? { state.withLock { $0.apps.onScreen?.status?.level } }

  var history: HeadUnitSourceHistory { state.withLock { $0.history } }

  var statistics: HeadUnitSourceStatistics {
    state.withLock { state in
      var statistics = HeadUnitSourceStatistics(state.history)
      statistics.framesQueued = state.video.queuedCount
      statistics.openConnections = state.apps.connectionCount
      statistics.apps = state.apps.all.count
      return statistics
    }
  }
}

extension HeadUnitSourceRun.State {
  fileprivate var history: HeadUnitSourceHistory {
    HeadUnitSourceHistory(totals: totals, violations: violations, video: video.counters)
  }
}

/// Properties that were set while the element runs; apps are told.
extension HeadUnitSourceRun {
  func setEndsWithApp(_ endsWithApp: Bool) {
    state.withLock { $0.endsWithApp = endsWithApp }
  }

  func statusChanged(to settings: HeadUnitSourceSettings) {
    let status = settings.status
    server?.setCondition(.activationStatus(status.level ?? HMILevel.none, status.videoStreamingState))
    server?.control(.appOnScreen) { $0.setHMIStatus(status, now: $1) }
  }

  func screenChanged(to settings: HeadUnitSourceSettings) {
    let configuration = settings.configuration
    server?.configure(configuration)
    server?.control(.everyApp) { $0.resize(to: configuration.screen, scale: nil, now: $1) }
  }

  func maxBitrateChanged(to settings: HeadUnitSourceSettings) {
    var update = VideoStreamingCapability()
    update.maxBitrate = settings.maxBitrate.map(Int.init)
    send(update, settings)
  }

  func frameRateChanged(to settings: HeadUnitSourceSettings) {
    var update = VideoStreamingCapability()
    update.preferredFPS = settings.frameRate.map(Int.init)
    send(update, settings)
  }

  private func send(_ update: VideoStreamingCapability, _ settings: HeadUnitSourceSettings) {
    server?.configure(settings.configuration)
    server?.control(.everyApp) { $0.updateCapability(update, now: $1) }
  }

  private var server: HeadUnitServer? { state.withLock { $0.server } }
}
