import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire

/// What a run tells the application: messages on the bus, notifications of properties, and the log. Each call does nothing
/// once the run is over, so that an application that restarts the element in the middle of a few gets none of the rest.
///
/// Call without locks: the application may do anything in reply.
struct HeadUnitReporter<Element: GStreamerElement>: Sendable {
  private let element: ElementHandle<Element>

  init(_ element: ElementHandle<Element>) {
    self.element = element
  }

  /// Of the pipeline, in nanoseconds; nil while it has none.
  var runningTime: UInt64? {
    let time = element.withReference { UInt64(gst_element_get_current_running_time($0.gstElement)) }
    return time == .max ? nil : time
  }

  func log(
    _ level: GstDebugLevel, _ message: @autoclosure () -> String, file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) {
    guard Element.log.isEnabled(level) else { return }
    element.withReference { $0.log(level, message(), file: file, function: function, line: line) }
  }

  /// Posts a warning; the stream goes on.
  func warn(
    _ error: ElementError, file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    element.withReference { $0.warn(error, file: file, function: function, line: line) }
  }

  /// Posts an error.
  func fail(
    _ error: ElementError, file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    element.withReference { $0.postError(error, file: file, function: function, line: line) }
  }

  /// Notifies listeners that a property has changed.
  func changed(_ property: PropertyName) {
    element.withReference { $0.notify(property) }
  }

  /// The pipeline asks anew how late buffers may be.
  func latencyChanged() {
    element.withReference { $0.post(gst_message_new_latency($0.gstElement.cast())) }
  }

  private func post(_ structure: consuming Structure) {
    // A closure can't consume what it captures; when the run is over, the structure is freed here.
    var message = Optional(structure)
    element.withReference { element in
      if let structure = message.take() { element.postElementMessage(structure) }
    }
  }
}

/// Element messages.
extension HeadUnitReporter {
  /// `sdl-app-registered`.
  func registered(_ app: AppRecord) {
    let message = Structure("sdl-app-registered")
    app.fill(message)
    post(message)
  }

  /// `sdl-app-unregistered`.
  func unregistered(_ app: AppRecord, _ reason: HeadUnitSession.UnregistrationReason) {
    let message = Structure("sdl-app-unregistered")
    app.fill(message)
    message.set("reason", reason.name)
    post(message)
  }

  /// `sdl-hmi-status`: the status that an app got.
  func statusChanged(_ status: HMIStatus, of app: AppRecord) {
    let message = Structure("sdl-hmi-status")
    app.fillIdentity(message)
    status.fill(message)
    post(message)
  }

  /// `sdl-stream-started`: an app has a service.
  ///
  /// - Parameter fill: sets further fields.
  func streamStarted(
    _ app: AppRecord, _ service: ServiceType, on transport: TransportRole,
    _ fill: (borrowing Structure) -> Void
  ) {
    let message = Structure("sdl-stream-started")
    app.fillIdentity(message)
    message.set("service", service.text)
    message.set("transport", "\(transport)")
    fill(message)
    post(message)
  }

  /// `sdl-stream-in-clear`: an app asked for an encrypted service, which starts in clear.
  func streamInClear(_ app: AppRecord, _ service: ServiceType) {
    let message = Structure("sdl-stream-in-clear")
    app.fillIdentity(message)
    message.set("service", service.text)
    post(message)
  }

  /// `sdl-stream-refused`: an app was refused one.
  func streamRefused(_ rejection: ServiceRejection, of app: AppRecord?, _ service: ServiceType) {
    let message = Structure("sdl-stream-refused")
    app?.fillIdentity(message)
    message.set("service", service.text)
    message.set("rejected", rejection.rejectedParameters.joined(separator: ", "))
    message.set("reason", rejection.reason)
    post(message)
  }

  /// `sdl-stream-stopped`: an app has no such service any more.
  ///
  /// - Parameter fill: sets further fields.
  func streamStopped(
    _ app: AppRecord, _ service: ServiceType, _ reason: HeadUnitSession.StreamStopReason,
    _ fill: (borrowing Structure) -> Void
  ) {
    let message = Structure("sdl-stream-stopped")
    app.fillIdentity(message)
    message.set("service", service.text)
    message.set("reason", reason.name)
    fill(message)
    post(message)
  }

  /// `sdl-sound-gap`: the car had nothing to play in the midst of an app's sound.
  func soundGaps(_ report: SoundGaps.Report) {
    let message = Structure("sdl-sound-gap")
    message.set("gaps", report.count)
    message.set("duration", report.duration)
    message.set("running-time", report.runningTime)
    post(message)
  }

  /// `sdl-violation`: an app broke a rule.
  func violated(_ record: ViolationRecord) {
    post(record.structure)
  }
}
