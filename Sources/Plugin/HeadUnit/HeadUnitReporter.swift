import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire

/// A run's reports to the application: messages on the bus, notifications of properties, and the log. Calls do nothing
/// once the run is over, so that an application that restarts the element in a handler does not get the run's remaining
/// reports.
///
/// Call without locks: the application may do anything in reply.
struct HeadUnitReporter: Sendable {
  private let element: ElementHandle<any PushSourceElement>
  private let category: LogCategory

  init<Element: HeadUnitElement>(_ element: Element) {
    self.element = ElementHandle(element.gstElement) { [unowned element] in element }
    category = Element.log
  }

  /// Nothing is reported from now on.
  func end() {
    element.end()
  }

  /// The pipeline's running time, in nanoseconds; nil while it has none.
  var runningTime: UInt64? {
    let time = element.withReference { UInt64(gst_element_get_current_running_time($0.gstElement)) }
    return time == .max ? nil : time
  }

  func log(
    _ level: GstDebugLevel, _ message: @autoclosure () -> String, file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) {
    guard category.isEnabled(level) else { return }
    element.withReference { $0.log(level, message(), file: file, function: function, line: line) }
  }

  /// Posts a warning; the stream goes on.
  func warn(
    _ error: ElementError, file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    element.withReference { $0.warn(error, file: file, function: function, line: line) }
  }

  func fail(
    _ error: ElementError, file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    element.withReference { $0.postError(error, file: file, function: function, line: line) }
  }

  /// Notifies listeners that a property has changed.
  func changed(_ property: PropertyName) {
    element.withReference { $0.notify(property) }
  }

  /// Makes the pipeline recompute its latency.
  func latencyChanged() {
    element.withReference { $0.post(gst_message_new_latency($0.gstElement.cast())) }
  }

  private func post(_ structure: consuming Structure) {
    // A closure can't consume a captured value; when the run is over, the structure is freed here.
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

  /// `sdl-expectation`: an expectation of the script has ended.
  func tested(_ outcome: TestOutcome) {
    let message = Structure("sdl-expectation")
    message.set("text", outcome.text)
    if let line = outcome.line { message.set("line", UInt64(clamping: line)) }
    message.set("met", outcome.failure == nil)
    message.set("failure", outcome.failure)
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
    _ app: AppRecord, _ service: ServiceType, _ reason: HeadUnitSession.StopReason,
    _ fill: (borrowing Structure) -> Void
  ) {
    let message = Structure("sdl-stream-stopped")
    app.fillIdentity(message)
    message.set("service", service.text)
    message.set("reason", reason.name)
    fill(message)
    post(message)
  }

  /// `sdl-violation`: an app broke a rule.
  func violated(_ record: ViolationRecord) {
    post(record.structure)
  }
}

/// The structures of messages and properties.
extension AppRecord {
  /// An entry of the property `apps`.
  var structure: Structure {
    let structure = Structure("application/x-sdl-app")
    fill(structure)
    if let status { status.fill(structure) }
    structure.set("streaming", video != nil)
    structure.set("audio", audioTransport != nil)
    structure.set("secondary-transport", hasSecondaryTransport)
    if video != nil {
      structure.set("video-transport", "\(videoTransport)")
      fillVideo(structure)
    }
    if let audioTransport { structure.set("audio-transport", "\(audioTransport)") }
    return structure
  }

  func fillIdentity(_ structure: borrowing Structure) {
    structure.set("app", Int32(id))
    structure.set("name", name)
    structure.set("app-id", appID)
  }

  func fill(_ structure: borrowing Structure) {
    fillIdentity(structure)
    structure.set("types", types.map(\.rawValue.nick).joined(separator: ", "))
    structure.set("protocol-version", "\(protocolVersion)")
    structure.set("peer", peer)
  }

  func fillVideo(_ structure: borrowing Structure) {
    if let width = video?.width, let height = video?.height {
      structure.set("width", width)
      structure.set("height", height)
    }
    structure.set("protocol", video?.videoProtocol ?? VideoStreamingFormat.rawH264.videoProtocol)
    structure.set("codec", video?.videoCodec ?? VideoStreamingFormat.rawH264.codec)
  }
}

extension HMIStatus {
  func fill(_ structure: borrowing Structure) {
    structure.set("level", (level ?? HMILevel.none).rawValue.nick)
    structure.set("video-streaming-state", videoStreamingState.rawValue.nick)
    structure.set("audio-streaming-state", audioStreamingState.rawValue.nick)
    structure.set("system-context", systemContext.rawValue.nick)
  }
}

extension ViolationRecord {
  /// An entry of the property `violations`, and the message `sdl-violation`.
  var structure: Structure {
    let structure = Structure("sdl-violation")
    structure.set("app", Int32(appID))
    structure.set("name", appName)
    structure.set("rule", violation.rule)
    structure.set("text", "\(violation)")
    for (name, value) in violation.numbers { structure.set(name, Int32(clamping: value)) }
    if let runningTime { structure.set("running-time", runningTime) }
    structure.set("suppressed", suppressed)
    return structure
  }
}

extension HeadUnitSession.UnregistrationReason {
  /// The field `reason` of `sdl-app-unregistered`.
  var name: String {
    switch self {
    case .requestedByApp: "app"
    case .sessionEndedByApp: "session-ended"
    case .registrationRefused: "registration-refused"
    case .headUnit(let reason): reason.rawValue.nick
    case .heartbeatTimeout: "heartbeat-timeout"
    case .malformedFrames: "malformed-frames"
    case .transportLost: "connection-lost"
    }
  }
}

extension HeadUnitSession.StopReason {
  /// The field `reason` of `sdl-stream-stopped`, which `sdlvideosink` posts too, with the same values where it can.
  var name: String {
    switch self {
    case .endedByApp: "app"
    case .endedByHeadUnit: "head-unit"
    case .hmiLevelNone: "hmi-status"
    case .streamingForbidden: "streaming-forbidden"
    case .otherAppStarted: "other-app"
    case .unregistered: "session-ended"
    case .transportLost: "connection-lost"
    }
  }
}

extension ServiceType {
  /// The field `service` of messages.
  var text: String { "\(self)" }
}

extension String {
  /// As GStreamer writes the values of enumerations: "not-streamable" for NOT_STREAMABLE.
  fileprivate var nick: String { String(lowercased().map { $0 == "_" ? "-" : $0 }) }
}
