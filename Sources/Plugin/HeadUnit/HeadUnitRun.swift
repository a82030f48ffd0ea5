import GStreamerKit
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import SDLWire

/// The data of one service, between the server's thread and the streaming thread. It lives as long as a run.
protocol HeadUnitStream: AnyObject, Sendable {
  /// Video or audio.
  static var service: ServiceType { get }
  /// - Parameter former: the stream of the last run, whose counters continue.
  init(_ settings: HeadUnitElementSettings, after former: Self?)
  /// The app whose stream is pushed, or was last.
  var app: UInt8? { get }

  /// It joins a head unit, which has these apps already. Called once, before any event, with locks held.
  func join(_ headUnit: HeadUnit, _ setup: HeadUnitSetup, _ apps: ServedApps)
  /// Handles an event of the service, or of none. Called on the server's thread, without locks.
  func receive(_ event: HeadUnitSession.Event, from id: UInt8, _ apps: ServedApps, _ reporter: HeadUnitReporter)
  /// The apps, or their status, have changed. `formerApp` has left.
  func appsChanged(_ apps: ServedApps, formerApp: UInt8?)
  /// The app has gone, and the stream ends after its data.
  func finish()
  /// Interrupts the streaming thread, or lets it wait again.
  func setFlushing(_ isFlushing: Bool)
  /// The pipeline plays, or pauses.
  func setPlaying(_ isPlaying: Bool)
  /// The run is about to leave the head unit.
  func willEnd()
  /// The run is over: forgets all but the counters.
  func end()
  /// Writes the counters into `sdl-stats`.
  func fill(_ structure: borrowing Structure)
}

extension HeadUnitStream {
  func setPlaying(_ isPlaying: Bool) {}
  func willEnd() {}
}

/// One run of an element, from READY→PAUSED to PAUSED→READY: its part of a head unit, and its stream.
///
/// One thread (of `HeadUnitServer`) serves all apps, and reports to the run. A head unit outlives a run only while
/// other elements are a part of it, and no run comes back to it: if the application restarts the element in a callback,
/// the rest of the callback still belongs to the old run.
final class HeadUnitRun: Sendable {
  /// Counters over the life of the element.
  private struct Totals {
    var connections: UInt64 = 0
    var refusals: UInt64 = 0
    var registrations: UInt64 = 0
    var streamStarts: UInt64 = 0
    var streamRefusals: UInt64 = 0
  }

  private struct State {
    /// Nil before the beginning and after the end.
    var headUnit: HeadUnit?
    var totals = Totals()
    var violations = ViolationLog()
    /// The property `eos-on-disconnect`.
    var endsWithApp: Bool
  }

  let name: String
  /// What the element takes from apps: video or audio.
  let service: ServiceType
  private let stream: any HeadUnitStream
  private let reporter: HeadUnitReporter
  private let state: Monitor<State>

  /// - Parameters:
  ///   - element: gets the run's reports until its end.
  ///   - former: the last run, whose counters continue.
  init<Element: HeadUnitElement>(
    of element: Element, _ stream: Element.Stream, endsWithApp: Bool, after former: HeadUnitRun?
  ) {
    name = String(freeing: gst_object_get_name(element.gstElement.cast())) ?? ""
    service = Element.Stream.service
    self.stream = stream
    reporter = HeadUnitReporter(element)
    var state = State(endsWithApp: endsWithApp)
    former?.state.withLock { (state.totals, state.violations) = ($0.totals, $0.violations) }
    self.state = Monitor(state)
  }

  /// Nil before the beginning and after the end.
  var headUnit: HeadUnit? { state.withLock { $0.headUnit } }

  var violations: [ViolationRecord] { state.withLock { $0.violations.last } }

  /// The property `sdl-stats`: counters, and present amounts.
  var statistics: Structure {
    let (headUnit, totals, violations) = state.withLock { ($0.headUnit, $0.totals, $0.violations.count) }
    let apps = headUnit?.apps ?? ServedApps()
    let structure = Structure("application/x-sdl-stats")
    stream.fill(structure)
    structure.set("connections", totals.connections)
    structure.set("connections-refused", totals.refusals)
    structure.set("connections-open", UInt64(clamping: apps.connectionCount))
    structure.set("registrations", totals.registrations)
    structure.set("apps", UInt64(clamping: apps.all.count))
    structure.set("stream-starts", totals.streamStarts)
    structure.set("stream-refusals", totals.streamRefusals)
    structure.set("violations", violations)
    return structure
  }

  /// The property is read with the lock, so that of two threads that change it the later value stays.
  func setEndsWithApp(_ endsWithApp: @autoclosure () -> Bool) {
    state.withLock { $0.endsWithApp = endsWithApp() }
  }

  /// Called once, before any event, with locks held.
  func join(_ headUnit: HeadUnit, _ setup: HeadUnitSetup, _ apps: ServedApps) {
    state.withLock { $0.headUnit = headUnit }
    stream.join(headUnit, setup, apps)
  }

  /// Leaves the head unit, and waits for its end if this was the last element. Returns whether there were apps.
  func end(in headUnits: HeadUnits) -> Bool {
    stream.willEnd()
    let headUnit = self.headUnit
    if let headUnit { headUnits.leave(headUnit, self) }
    reporter.end()
    state.withLock { $0.headUnit = nil }
    stream.end()
    return headUnit?.apps.all.isEmpty == false
  }
}

/// Reports of the server's thread, which holds no lock. One member of a head unit gets those of its service; those of
/// none go to each member, and one notifies the application.
extension HeadUnitRun {
  func receive(_ event: HeadUnitServerEvent, _ report: HeadUnitReport) {
    switch event {
    case .session(let id, let event): receive(event, from: id, report)
    case .connected, .disconnected:
      if report.apps.connectionCount > report.formerApps.connectionCount {
        state.withLock { $0.totals.connections &+= 1 }
      }
      if case .disconnected(let id, _, _) = event { stream.appsChanged(report.apps, formerApp: id) }
    case .refused: state.withLock { $0.totals.refusals &+= 1 }
    case .tested(let outcome): if report.isReporting { reporter.tested(outcome) }
    case .testEnded(let end): if end == .quit { stream.finish() }
    case .secondaryTransportRefused, .secondaryPortFailed, .stepExecuted, .stepSkipped, .stepsDropped, .ended: break
    case .transport(let event): if report.isReporting { tell(event) }
    }
    if report.isReporting, let level = event.logLevel {
      reporter.log(level, (event.appNumber.map { "app \($0): " } ?? "") + (event.text ?? ""))
    }
  }

  /// Posts a warning of the head unit.
  func warn(_ error: ElementError) {
    reporter.warn(error)
  }

  /// The status of the transport that connects to a phone.
  private func tell(_ event: TransportEvent) {
    switch event {
    case .status(.waiting(let peer)): reporter.log(GST_LEVEL_INFO, "waiting for \(peer)")
    case .status(.blocked(let failure)): reporter.warn(ElementError(failure))
    case .failed(let failure): reporter.fail(ElementError(failure))
    case .connected, .faultFound: break
    }
  }

  private func receive(_ event: HeadUnitSession.Event, from id: UInt8, _ report: HeadUnitReport) {
    switch event {
    case .appRegistered:
      state.withLock { $0.totals.registrations &+= 1 }
      if report.isReporting, let app = report.apps[id] { reporter.registered(app) }
      reporter.changed(.apps)
    case .hmiStatusSent(let status), .systemContextSent(let status): changeStatus(status, of: id, report)
    case .appUnregistered(let reason): unregister(id, reason, report)
    case .secondaryTransportRegistered, .secondaryTransportLost, .nameChanged: reporter.changed(.apps)
    case .audioInClear: if report.isReporting, let app = report.apps[id] { reporter.streamInClear(app, .audio) }
    case .violation(let violation): if report.isReporting { note(violation, of: id, report.apps[id]?.name) }
    case .videoRefused(let rejection) where service == .video, .audioRefused(let rejection) where service == .audio:
      state.withLock { $0.totals.streamRefusals &+= 1 }
      reporter.streamRefused(rejection, of: report.apps[id], service)
    case .videoStarted where service == .video, .audioStarted where service == .audio:
      state.withLock { $0.totals.streamStarts &+= 1 }
      stream.receive(event, from: id, report.apps, reporter)
      if report.apps[id] != nil { reporter.changed(.apps) }
    case .videoStopped where service == .video, .audioStopped where service == .audio:
      stream.receive(event, from: id, report.apps, reporter)
      if report.apps[id] != nil { reporter.changed(.apps) }
    default: stream.receive(event, from: id, report.apps, reporter)
    }
  }

  private func unregister(_ id: UInt8, _ reason: HeadUnitSession.UnregistrationReason, _ report: HeadUnitReport) {
    let app = report.formerApps[id]
    // When picture and sound are recorded, an app with only one of them ends both.
    let isOfApp = stream.app.map { $0 == id } ?? (app?.hasStreamed == true)
    let isEnd = isOfApp && state.withLock { $0.endsWithApp }
    stream.appsChanged(report.apps, formerApp: nil)
    if let app {
      if report.isReporting { reporter.unregistered(app, reason) }
      reporter.changed(.apps)
      reporter.changed(.hmiLevel)
    }
    // After the message, since applications stop listening at the end.
    if isEnd { stream.finish() }
  }

  private func changeStatus(_ status: HMIStatus, of id: UInt8, _ report: HeadUnitReport) {
    // Other windows are widgets.
    guard status.windowID == 0 else { return }
    stream.appsChanged(report.apps, formerApp: nil)
    stream.receive(.hmiStatusSent(status), from: id, report.apps, reporter)
    if report.isReporting, let app = report.apps[id] { reporter.statusChanged(status, of: app) }
    reporter.changed(.apps)
    if report.apps.levelOnScreen != report.formerApps.levelOnScreen { reporter.changed(.hmiLevel) }
  }

  private func note(_ violation: Violation, of id: UInt8, _ name: String?) {
    let record = ViolationRecord(
      appID: id, appName: name, violation: violation, runningTime: reporter.runningTime)
    guard let noted = state.withLock({ $0.violations.note(record, now: MonotonicClock.now) }) else { return }
    reporter.log(GST_LEVEL_WARNING, "app \(id): \(violation)")
    reporter.violated(noted)
    reporter.changed(.violations)
  }
}

extension HeadUnitServerEvent {
  /// Nil for events that are not logged.
  fileprivate var logLevel: GstDebugLevel? {
    switch self {
    case .connected, .disconnected: GST_LEVEL_DEBUG
    case .stepExecuted: GST_LEVEL_INFO
    case .tested(let outcome): outcome.failure == nil ? GST_LEVEL_INFO : GST_LEVEL_WARNING
    case .refused, .secondaryTransportRefused, .secondaryPortFailed, .stepSkipped, .stepsDropped: GST_LEVEL_WARNING
    case .session(_, let event): event.logLevel
    case .transport, .testEnded, .ended: nil
    }
  }
}

extension HeadUnitSession.Event {
  fileprivate var logLevel: GstDebugLevel? {
    switch self {
    case .handshakeFailed, .audioInClear, .secondaryTransportRefused, .driverInputWithoutEffect: GST_LEVEL_WARNING
    case .appRegistered, .registrationRefused, .appUnregistered, .secured, .rpcProtected, .secondaryTransportRegistered,
      .secondaryTransportLost, .videoDataStopped, .touchWithheld:
      GST_LEVEL_INFO
    case .appHMIStatus, .appCapability, .hapticRectangles, .capabilityUpdateDeferred, .driverInput, .interactionShown,
      .interactionEnded, .textShown, .nameChanged, .iconSet, .systemRequestAnswered, .videoStartRequested,
      .audioStartRequested, .audioStarted,
      .audioRefused, .audioStopped,
      .hmiStatusSent, .systemContextSent, .videoStarted, .videoRefused, .videoStopped, .touchSent:
      GST_LEVEL_DEBUG
    // Violations are limited first.
    case .message, .videoData, .videoTimestamp, .videoMissed, .audioData, .violation, .buttonsSubscribed: nil
    }
  }
}

struct ViolationRecord: Sendable {
  var appID: UInt8
  var appName: String?
  var violation: Violation
  /// Running time in nanoseconds; nil while the pipeline has none.
  var runningTime: UInt64?
  /// How many were not reported since the last one.
  var suppressed: UInt64 = 0
}

/// The last violations, and a limit of the reported ones: an app can break a rule with every byte.
struct ViolationLog: Sendable {
  private static let keptCount = 100
  private static let reportsPerSecond = 20

  private(set) var last: [ViolationRecord] = []
  private(set) var count: UInt64 = 0
  private var second = Duration.zero
  private var reportsInSecond = 0
  private var suppressed: UInt64 = 0

  /// Takes a violation.
  ///
  /// - Returns: the report; nil if there have been too many.
  mutating func note(_ record: ViolationRecord, now: Duration) -> ViolationRecord? {
    count &+= 1
    if now - second >= .seconds(1) {
      second = now
      reportsInSecond = 0
    }
    guard reportsInSecond < Self.reportsPerSecond else {
      suppressed &+= 1
      return nil
    }
    reportsInSecond += 1
    var record = record
    record.suppressed = suppressed
    suppressed = 0
    if last.count == Self.keptCount { last.removeFirst() }
    last.append(record)
    return record
  }
}
