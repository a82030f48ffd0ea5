import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// One run of an element, from READY→PAUSED to PAUSED→READY: its part of a head unit, and the stream that it takes.
///
/// One thread (of `HeadUnitServer`) serves all apps, and reports to the run; it queues what the streaming thread pushes.
/// A head unit outlives a run only while other elements are a part of it, and no run comes back to it: what a callback does
/// after the application has restarted the element from inside it still concerns the old run alone.
protocol HeadUnitRun: HeadUnitMember {
  associatedtype Element: GStreamerElement
  associatedtype State: HeadUnitRunState

  var element: ElementHandle<Element> { get }
  var reporter: HeadUnitReporter<Element> { get }
  /// What the server's thread, the streaming thread and the application's threads share.
  var state: Monitor<State> { get }

  /// What an app does on the service of this run, with the new apps in the state already.
  func receiveStream(_ event: HeadUnitSession.Event, from id: UInt8, isReporting: Bool)
}

/// The state of a run.
protocol HeadUnitRunState: Sendable {
  associatedtype Counters: HeadUnitStreamCounters

  var part: HeadUnitPart { get set }
  var counters: Counters { get }
  /// Frames or samples that wait for downstream.
  var queuedCount: Int { get }
  /// The app whose stream is pushed, or was last.
  var streamingApp: UInt8? { get }
  /// The run is part of a head unit, at which these apps are there already.
  mutating func joined(_ setup: HeadUnitSetup, _ apps: ServedApps, now: Duration)
  /// The apps, or their status, are others. `formerApp` has left.
  mutating func appsChanged(formerApp: UInt8?, now: Duration)
  /// The app of the stream has gone: what it has sent is complete.
  mutating func streamEnded(now: Duration)
  /// The run is about to leave the head unit.
  mutating func willEnd(now: Duration)
  /// The run is over: forgets all but the counters.
  mutating func discard()
}

/// What the runs of all elements know of their head unit.
struct HeadUnitPart: Sendable {
  /// Nil before the beginning and after the end.
  var headUnit: HeadUnit?
  var apps = ServedApps()
  var totals: HeadUnitTotals
  var violations: ViolationLog
  /// The property `eos-on-disconnect`.
  var endsWithApp: Bool
  var isFlushing = false
  /// The stream ends when the queue is empty.
  var isAtEnd = false
  var isOver = false

  init<Counters>(_ history: HeadUnitHistory<Counters>, endsWithApp: Bool) {
    totals = history.totals
    violations = history.violations
    self.endsWithApp = endsWithApp
  }
}

extension HeadUnitRun {
  func join(_ headUnit: HeadUnit, _ setup: HeadUnitSetup, _ apps: ServedApps) {
    state.withLock { state in
      state.part.headUnit = headUnit
      state.part.apps = apps
      state.joined(setup, apps, now: MonotonicClock.now)
    }
  }

  /// Leaves the head unit, which ends with its last element, and waits for that. Returns whether there were apps.
  func end(in headUnits: HeadUnits) -> Bool {
    let headUnit = state.withLock { state in
      state.willEnd(now: MonotonicClock.now)
      return state.part.headUnit
    }
    if let headUnit { headUnits.leave(headUnit, self) }
    element.end()
    // The last reference must not go with the lock held.
    let hadApps = state.withLock { state in
      defer {
        state.part.isOver = true
        state.part.headUnit = nil
        state.part.apps = ServedApps()
        state.discard()
      }
      return !state.part.apps.all.isEmpty
    }
    withExtendedLifetime(headUnit) {}
    state.broadcast()
    return hadApps
  }

  /// Interrupts the streaming thread, or lets it wait again.
  func setFlushing(_ isFlushing: Bool) {
    state.withLock { $0.part.isFlushing = isFlushing }
    state.broadcast()
  }

  func setEndsWithApp(_ endsWithApp: Bool) {
    state.withLock { $0.part.endsWithApp = endsWithApp }
  }
}

/// What properties show.
extension HeadUnitRun {
  /// Nil before the beginning and after the end.
  var headUnit: HeadUnit? { state.withLock { $0.part.headUnit } }

  var port: UInt16 { headUnit?.port ?? 0 }

  /// The registered apps, in their order.
  var apps: [AppRecord] { state.withLock { $0.part.apps.all } }

  /// Of the app on the screen; nil without one.
  var hmiLevel: HMILevel? { state.withLock { $0.part.apps.onScreen?.status?.level } }

  var violations: [ViolationRecord] { state.withLock { $0.part.violations.last } }

  var history: HeadUnitHistory<State.Counters> { state.withLock { $0.history } }

  var statistics: HeadUnitStatistics<State.Counters> {
    state.withLock { state in
      var statistics = HeadUnitStatistics(state.history)
      statistics.queuedCount = state.queuedCount
      statistics.openConnections = state.part.apps.connectionCount
      statistics.apps = state.part.apps.all.count
      return statistics
    }
  }
}

extension HeadUnitRunState {
  fileprivate var history: HeadUnitHistory<Counters> {
    HeadUnitHistory(totals: part.totals, violations: part.violations, stream: counters)
  }
}
