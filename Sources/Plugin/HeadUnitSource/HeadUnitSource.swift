import CPluginTypes
import GStreamerKit
import Glibc
import SDLHeadUnit
import SDLLink
import SDLMessages
import TLSEngine

/// The work behind one `sdlheadunitsrc`: a live GstPushSrc that listens for SDL apps as a head unit does, and pushes the
/// video of the one on the screen.
///
/// The element keeps what outlives its runs: the settings, and what has been counted. All else belongs to a
/// ``HeadUnitSourceRun``, from READY→PAUSED to PAUSED→READY: the element listens whether or not it plays, as a head unit is
/// there before its screen is looked at.
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → `current` → the run's `state` → `settings`, the
/// server's own. None of ours is held while calling GStreamer, or waiting for anything but the run's `state` itself.
final class HeadUnitSource: GStreamerElement {
  private struct Current: Sendable {
    /// Nil while the element does not run.
    var run: HeadUnitSourceRun?
    /// What applications have not been told yet.
    var announcements: [Announcement] = []
    /// What was counted in the runs that are over.
    var history = HeadUnitSourceHistory()
  }

  private enum Announcement {
    /// The run listens on this address.
    case listening(HeadUnitSourceRun, address: String)
    case stopped(hadApps: Bool)
  }

  // Unowned: the instance frees this object in finalize, after its run has ended.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlHeadUnitSrc>

  let settings = ElementSettings(HeadUnitSourceSettings())
  /// The clock of the runs that start from now on.
  let clock = Monitor(TimeSource.monotonic)
  private let current = Monitor(Current())

  static let log = LogCategory("sdlheadunitsrc", "SmartDeviceLink head unit source")

  init(element: UnsafeMutablePointer<GstSdlHeadUnitSrc>) {
    self.element = element
  }

  var baseSource: UnsafeMutablePointer<GstBaseSrc> { element.cast() }
  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }

  /// Nil while the element does not run.
  var run: HeadUnitSourceRun? { current.withLock { $0.run } }

  /// What the property `violations` shows.
  var violations: [ViolationRecord] { current.withLock { ($0.run?.history ?? $0.history).violations.last } }

  /// What the property `sdl-stats` shows; valid in every state.
  var statistics: HeadUnitSourceStatistics {
    current.withLock { $0.run?.statistics ?? HeadUnitSourceStatistics($0.history) }
  }
}

/// Starting and stopping.
extension HeadUnitSource {
  /// READY to PAUSED: listens from now on. False after an error message.
  func start() -> Bool {
    // Kept, because until the property is set again each start fails.
    if let refusal = settings.refusals.first { return fail(refusal) }
    let settings = self.settings.current
    // Before the port is opened, so that a bad script leaves none open.
    let script: HeadUnitScript
    do {
      script = try settings.script.map(HeadUnitScriptFile.read) ?? HeadUnitScript()
    } catch {
      return fail(ElementError(error))
    }
    let tls: TLSContext?
    do {
      tls = settings.encryption == .refuse ? nil : try settings.tls.context(role: .client)
    } catch {
      return fail(error)
    }
    let run = current.withLock { current in
      let run = HeadUnitSourceRun(
        element: self, settings: settings, history: current.history, clock: clock.withLock { $0 })
      current.run = run
      return run
    }
    do {
      let address = try run.begin(settings, script: script, tls: tls)
      current.withLock { $0.announcements.append(.listening(run, address: address)) }
      return true
    } catch {
      endRun()
      return fail(ElementError(listening: error))
    }
  }

  /// PAUSED to READY.
  func stop() {
    guard let hadApps = endRun() else { return }
    current.withLock { $0.announcements.append(.stopped(hadApps: hadApps)) }
  }

  /// Any change of the state, in which ``start()`` and ``stop()`` are called as the pad is activated and deactivated. What
  /// they have to say comes after that: a handler that changed the state meanwhile would wait for the pad for ever.
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn {
    let result = gst_sdl_head_unit_src_parent_change_state(gstElement, transition)
    let announcements = current.withLock { current in
      defer { current.announcements = [] }
      return current.announcements
    }
    for announcement in announcements {
      switch announcement {
      case .listening(let run, let address): announce(run, address)
      case .stopped(let hadApps):
        notify(.currentPort)
        // A handler of that notification may have started the next run, which has its own apps.
        if hadApps, run == nil { notify(.apps) }
      }
    }
    return result
  }

  /// Ends the run, if there is one, and keeps what it counted. Returns whether it had apps; nil if there is no run.
  @discardableResult
  func endRun() -> Bool? {
    guard let run else { return nil }
    let hadApps = run.end()
    current.withLock { current in
      // Another thread may have done all this meanwhile.
      guard current.run === run else { return }
      current.history = run.history
      current.run = nil
    }
    return hadApps
  }

  private func announce(_ run: HeadUnitSourceRun, _ address: String) {
    notify(.currentPort)
    // A handler of that notification may have ended the run.
    guard run === self.run else { return }
    // Twice, because gst-launch shows the details only.
    let text = "Listening for SmartDeviceLink apps on \(address), for example: sdlvideosink uri=sdl://\(address)"
    log(GST_LEVEL_INFO, text)
    ElementError.resource(GST_RESOURCE_ERROR_SETTINGS, text, details: text).post(as: GST_MESSAGE_INFO, from: gstElement)
  }

  private func fail(_ error: ElementError) -> Bool {
    postError(error)
    return false
  }
}

/// What GstBaseSrc asks for; without a run there is nothing to push, and nobody to touch.
extension HeadUnitSource {
  func setFlushing(_ isFlushing: Bool) {
    run?.setFlushing(isFlushing)
  }

  func create(_ buffer: inout UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    run?.create(&buffer, for: baseSource) ?? GST_FLOW_FLUSHING
  }

  /// Handles an event from downstream; false if nobody does.
  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    guard event.pointee.type == GST_EVENT_NAVIGATION else {
      return gst_sdl_head_unit_src_parent_event(baseSource, event) != 0
    }
    return run?.navigate(event, pad: cgst_base_src_pad(element)) ?? false
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard query.pointee.type == GST_QUERY_LATENCY else {
      return gst_sdl_head_unit_src_parent_query(baseSource, query) != 0
    }
    gst_query_set_latency(query, 1, GstClockTime(clamping: (run?.latency ?? .zero).nanoseconds), .max)
    return true
  }
}
