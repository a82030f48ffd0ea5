import GStreamerKit
import SDLLink
import SDLWire

/// An element that is a head unit, or part of one: a live GstPushSrc that listens for SDL apps, and pushes their data
/// of one service.
///
/// The element owns the settings, and the last run with its counters. Everything else belongs to a run, from
/// READY→PAUSED to PAUSED→READY: the element listens in PAUSED too, as a head unit exists before its screen is shown.
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → `current` → those of ``HeadUnits`` and
/// ``HeadUnit`` → the run's → the stream's → `settings`, the server's own. None of ours is held while calling
/// GStreamer, or waiting for anything but the lock's own condition.
protocol HeadUnitElement: PushSourceElement where Settings == HeadUnitElementSettings {
  associatedtype Stream: HeadUnitStream

  var current: Monitor<HeadUnitElementState<Stream>> { get }
}

struct HeadUnitElementState<Stream: HeadUnitStream>: Sendable {
  enum Announcement: Sendable {
    /// The run listens on this address: nil if it shares a head unit that does, or connects to a phone. Its page is at
    /// this URI: nil if another element has announced it, or there is none.
    case listening(HeadUnitRun, address: String?, page: String?)
    case stopped(hadApps: Bool)
  }

  struct Run: Sendable {
    let run: HeadUnitRun
    let stream: Stream
  }

  /// Nil while the element does not run.
  var present: Run?
  /// The last run, which has ended.
  var former: Run?
  /// Notifications that are still to be sent.
  var announcements: [Announcement] = []
  /// From READY on.
  var headUnits = HeadUnits()
}

extension HeadUnitElement {
  /// Applications set properties before the element starts; the start fails if one of them is invalid.
  static var keepsRefusalsUntilStart: Bool { true }

  /// Nil while the element does not run.
  var run: HeadUnitRun? { current.withLock { $0.present?.run } }
  var stream: Stream? { current.withLock { $0.present?.stream } }

  /// The value of the property `violations`.
  var violations: [ViolationRecord] { current.withLock { $0.present ?? $0.former }?.run.violations ?? [] }

  /// The value of the property `sdl-stats`; valid in every state.
  var statistics: Structure { (current.withLock { $0.present ?? $0.former } ?? makeRun(after: nil)).run.statistics }

  func setFlushing(_ isFlushing: Bool) {
    stream?.setFlushing(isFlushing)
  }

  func willBeFreed() {
    endRun()
  }

  private func makeRun(after former: HeadUnitElementState<Stream>.Run?) -> HeadUnitElementState<Stream>.Run {
    let settings = self.settings.current
    let stream = Stream(settings, after: former?.stream)
    return HeadUnitElementState.Run(
      run: HeadUnitRun(of: self, stream, endsWithApp: settings.endsWithApp, after: former?.run), stream: stream)
  }
}

/// States.
extension HeadUnitElement {
  /// Any change of the state, in which ``start()`` and ``stop()`` are called as the pad is activated and deactivated.
  /// Their notifications come after that: a handler that changed the state meanwhile would wait for the pad forever.
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn {
    switch transition {
    case GST_STATE_CHANGE_NULL_TO_READY: enterReady()
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED: stream?.setPlaying(false)
    default: break
    }
    let result = changeParentState(transition)
    switch transition {
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING where result != GST_STATE_CHANGE_FAILURE: stream?.setPlaying(true)
    case GST_STATE_CHANGE_READY_TO_NULL: current.withLock { $0.headUnits }.remove(self)
    default: break
    }
    let announcements = current.withLock { current in
      defer { current.announcements = [] }
      return current.announcements
    }
    for announcement in announcements {
      switch announcement {
      case .listening(let run, let address, let page): announce(run, address, page)
      case .stopped(let hadApps):
        notify(.currentPort)
        notify(.currentSecondaryPort)
        notify(.currentWebURI)
        // A handler of that notification may have started the next run, which has its own apps.
        if hadApps, run == nil { notifyApps() }
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
    headUnits.add(self, for: Stream.service)
    // Released without the lock.
    _ = consume former
  }

  /// READY to PAUSED: listens from now on. False after an error message.
  func start() -> Bool {
    // Kept, because each start fails until the property is set again.
    if let refusal = settings.refusals.first { return fail(refusal) }
    let (former, headUnits) = current.withLock { ($0.former, $0.headUnits) }
    let present = makeRun(after: former)
    let run = present.run
    current.withLock { $0.present = present }
    switch headUnits.join(run, { settings.current.setup(for: Stream.service) }) {
    case .first(let headUnit):
      do {
        let address = try headUnit.start(messageTrace: ProtocolLog(gstElement))
        current.withLock { $0.announcements.append(.listening(run, address: address, page: headUnit.pageURI)) }
      } catch {
        endRun()
        return fail(error)
      }
    case .further(let first, let contradictions):
      current.withLock { $0.announcements.append(.listening(run, address: nil, page: nil)) }
      warn(of: contradictions, to: first.name, from: run.name)
    }
    return true
  }

  /// PAUSED to READY.
  func stop() {
    guard let end = endRun() else { return }
    current.withLock { $0.announcements.append(end) }
  }

  /// Ends the run, and keeps its counters. Returns what is to be announced; nil if there is no run.
  @discardableResult
  private func endRun() -> HeadUnitElementState<Stream>.Announcement? {
    let (present, headUnits) = current.withLock { ($0.present, $0.headUnits) }
    guard let present else { return nil }
    let hadApps = present.run.end(in: headUnits)
    current.withLock { current in
      // Another thread may have done all this meanwhile.
      guard current.present?.run === present.run else { return }
      current.former = present
      current.present = nil
    }
    return .stopped(hadApps: hadApps)
  }

  private func announce(_ run: HeadUnitRun, _ address: String?, _ page: String?) {
    notify(.currentPort)
    notify(.currentSecondaryPort)
    notify(.currentWebURI)
    // A handler of that notification may have ended the run.
    guard run === self.run else { return }
    // Those of the other elements.
    if address == nil, run.headUnit?.apps.all.isEmpty == false { return notifyApps() }
    if let address {
      tell("Listening for SmartDeviceLink apps on \(address), for example: sdlvideosink uri=sdl://\(address)")
    }
    if let page, run === self.run { tell("The car's screen in a browser: \(page)") }
    guard run === self.run, address != nil else { return }
    do {
      guard let name = try run.headUnit?.announce() else { return }
      log(GST_LEVEL_INFO, "announced as \"\(name)\"")
    } catch {
      warn(.resource(GST_RESOURCE_ERROR_SETTINGS, "The head unit is not announced: \(error)"))
    }
  }

  private func notifyApps() {
    notify(.apps)
    notify(.hmiLevel)
  }

  /// Posts an INFO message.
  private func tell(_ text: String) {
    log(GST_LEVEL_INFO, text)
    // Twice, because gst-launch shows only the details.
    ElementError.resource(GST_RESOURCE_ERROR_SETTINGS, text, details: text).post(as: GST_MESSAGE_INFO, from: gstElement)
  }

  private func warn(of contradictions: [String], to first: String, from name: String) {
    guard !contradictions.isEmpty else { return }
    let properties = contradictions.joined(separator: ", ")
    warn(
      .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "\(name) and \(first) are the same head unit, but differ in \(properties): the values of \(first) apply."))
  }

  private func fail(_ error: ElementError) -> Bool {
    postError(error)
    return false
  }
}
