import GStreamerKit
import SDLLink
import SDLWire

/// An element that is a head unit, or part of one: a live GstPushSrc that listens for SDL apps, and pushes what they send on
/// one service.
///
/// The element keeps what outlives its runs: the settings, and what has been counted. All else belongs to a run, from
/// READY→PAUSED to PAUSED→READY: the element listens whether or not it plays, as a head unit is there before it is looked at.
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → `current` → those of ``HeadUnits`` and ``HeadUnit`` →
/// the run's `state` → `settings`, the server's own. None of ours is held while calling GStreamer, or waiting for anything but
/// the lock's own condition.
protocol HeadUnitElement: PushSourceElement where Settings: HeadUnitElementSettings {
  associatedtype Run: HeadUnitRun

  static var service: ServiceType { get }
  var current: Monitor<HeadUnitElementState<Run>> { get }

  func makeRun(_ settings: Settings, _ history: HeadUnitHistory<Run.State.Counters>) -> Run
  /// A change of state by the base class.
  func changeBaseState(_ transition: GstStateChange) -> GstStateChangeReturn
}

/// What an element keeps of its runs.
struct HeadUnitElementState<Run: HeadUnitRun>: Sendable {
  enum Announcement: Sendable {
    /// The run listens on this address. Nil if it shares a head unit that does, or connects to a phone.
    case listening(Run, address: String?)
    case stopped(hadApps: Bool)
  }

  /// Nil while the element does not run.
  var run: Run?
  /// What applications have not been told yet.
  var announcements: [Announcement] = []
  /// What was counted in the runs that are over.
  var history = HeadUnitHistory<Run.State.Counters>()
  /// From READY on.
  var headUnits = HeadUnits()
}

extension HeadUnitElement {
  /// Nil while the element does not run.
  var run: Run? { current.withLock { $0.run } }

  /// What the property `violations` shows.
  var violations: [ViolationRecord] { run?.violations ?? current.withLock { $0.history.violations.last } }

  /// What the property `sdl-stats` shows; valid in every state.
  var statistics: HeadUnitStatistics<Run.State.Counters> {
    current.withLock { $0.run?.statistics ?? HeadUnitStatistics($0.history) }
  }
}

/// States.
extension HeadUnitElement {
  func willBeFreed() {
    endRun()
  }

  func changeBaseState(_ transition: GstStateChange) -> GstStateChangeReturn { changeParentState(transition) }

  func setFlushing(_ isFlushing: Bool) {
    run?.setFlushing(isFlushing)
  }

  /// Any change of the state, in which ``start()`` and ``stop()`` are called as the pad is activated and deactivated. What
  /// they have to say comes after that: a handler that changed the state meanwhile would wait for the pad for ever.
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn {
    if transition == GST_STATE_CHANGE_NULL_TO_READY { enterReady() }
    let result = changeBaseState(transition)
    if transition == GST_STATE_CHANGE_READY_TO_NULL {
      current.withLock { $0.headUnits }.remove(ObjectIdentifier(self))
    }
    let announcements = current.withLock { current in
      defer { current.announcements = [] }
      return current.announcements
    }
    for announcement in announcements {
      switch announcement {
      case .listening(let run, let address): announce(run, address)
      case .stopped(let hadApps):
        notify(.currentPort)
        notify(.currentSecondaryPort)
        // A handler of that notification may have started the next run, which has its own apps.
        if hadApps, run == nil { notify(.apps) }
      }
    }
    return result
  }

  /// Finds the other elements of the pipeline.
  private func enterReady() {
    let headUnits = HeadUnits.context.find(for: self) { HeadUnits() }
    let former = current.withLock { current in
      defer { current.headUnits = headUnits }
      return current.headUnits
    }
    if former !== headUnits { former.remove(ObjectIdentifier(self)) }
    headUnits.add(
      HeadUnits.Element(id: ObjectIdentifier(self), service: Self.service) { [weak self] in
        self?.settings.current.setup
      })
  }

  /// READY to PAUSED: listens from now on. False after an error message.
  func start() -> Bool {
    // Kept, because until the property is set again each start fails.
    if let refusal = settings.refusals.first { return fail(refusal) }
    let settings = self.settings.current
    let (history, headUnits) = current.withLock { ($0.history, $0.headUnits) }
    let run = makeRun(settings, history)
    current.withLock { $0.run = run }
    switch headUnits.join(run, settings.setup) {
    case .first(let headUnit):
      do {
        let address = try headUnit.start(messageTrace: ProtocolLog(gstElement))
        current.withLock { $0.announcements.append(.listening(run, address: address)) }
      } catch {
        endRun()
        return fail(error)
      }
    case .further(_, let first, let contradictions):
      current.withLock { $0.announcements.append(.listening(run, address: nil)) }
      warn(of: contradictions, to: first.name, from: run.name)
    }
    return true
  }

  /// PAUSED to READY.
  func stop() {
    guard let hadApps = endRun() else { return }
    current.withLock { $0.announcements.append(.stopped(hadApps: hadApps)) }
  }

  /// Ends the run, if there is one, and keeps what it counted. Returns whether it had apps; nil if there is no run.
  @discardableResult
  func endRun() -> Bool? {
    let (run, headUnits) = current.withLock { ($0.run, $0.headUnits) }
    guard let run else { return nil }
    let hadApps = run.end(in: headUnits)
    current.withLock { current in
      // Another thread may have done all this meanwhile.
      guard current.run === run else { return }
      current.history = run.history
      current.run = nil
    }
    return hadApps
  }

  private func announce(_ run: Run, _ address: String?) {
    notify(.currentPort)
    notify(.currentSecondaryPort)
    // A handler of that notification may have ended the run.
    guard run === self.run, let address else { return }
    // Twice, because gst-launch shows the details only.
    let text = "Listening for SmartDeviceLink apps on \(address), for example: sdlvideosink uri=sdl://\(address)"
    log(GST_LEVEL_INFO, text)
    ElementError.resource(GST_RESOURCE_ERROR_SETTINGS, text, details: text).post(as: GST_MESSAGE_INFO, from: gstElement)
  }

  private func warn(of contradictions: [String], to first: String, from name: String) {
    guard !contradictions.isEmpty else { return }
    warn(
      .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "\(name) and \(first) are the same head unit, but differ in \(contradictions.joined(separator: ", ")): what \(first) says counts."
      ))
  }

  private func fail(_ error: ElementError) -> Bool {
    postError(error)
    return false
  }
}
