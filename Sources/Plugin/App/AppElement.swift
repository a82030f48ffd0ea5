import GStreamerKit
import SDLApp
import SDLLink

/// Settings of a sink that registers as an app, with the settings of the app for the shared properties.
protocol AppElementSettings: PropertySettings {
  var app: AppSettings { get set }
  /// The notifications that the application wants (property `rpc-notifications`).
  var rpcNotifications: [FunctionID] { get set }
}

/// A sink that is an app on a head unit, alone or with others, with its state changes.
protocol AppElement: BaseSinkElement where Settings: AppElementSettings {
  associatedtype Stream: AppStream

  var service: StreamService { get }
  var runs: SinkRuns<Stream> { get }
  var time: TimeSource { get }
  /// Checks settings that the properties could not check, before the start.
  func checkBeforeStart(_ settings: Settings) throws(ElementError)
  /// Whether the app's session has what upstream needs to choose its caps.
  func areFormatsKnown(_ session: AppSession.Status) -> Bool
  func makeStream(_ app: AppClient, _ settings: Settings) -> Stream
  /// A state change is about to reset the base class's counters.
  func keepCounters()
  /// Changes the counters of the app's connections.
  func countApp(_ change: (inout AppCounters) -> Void)
  func countStream(_ change: (inout StreamCounters) -> Void)
}

extension AppElement {
  /// Nil in NULL.
  var app: AppClient? { runs.app }
  /// Nil in NULL and READY.
  var stream: Stream? { runs.stream }

  /// From the beginning of READY→PAUSED on, which takes the settings; GStreamer's state stays READY until the first
  /// buffer.
  var isRunning: Bool { stream != nil }

  var wantedNotifications: Set<FunctionID> { settings.withLock { Set($0.rpcNotifications) } }

  /// Posts an error and makes all later buffers and caps fail.
  func fail(_ error: ElementError) {
    guard let app else { return postError(error) }
    app.fail(error, self)
  }

  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn {
    do {
      switch transition {
      case GST_STATE_CHANGE_NULL_TO_READY:
        postRefusals()
        try beginApp()
        let time = settings.withLock { $0.app.openTimeout }
        // Its error is posted.
        if app?.awaitOpening(of: self, atMost: .milliseconds(Int64(time))) == false { return failOpening() }
      case GST_STATE_CHANGE_READY_TO_PAUSED: try beginStream()
      case GST_STATE_CHANGE_PAUSED_TO_PLAYING: stream?.play()
      // Before the base class deactivates the pad. If the first buffer has failed, READY was never left.
      case GST_STATE_CHANGE_PAUSED_TO_READY, GST_STATE_CHANGE_READY_TO_NULL: stream?.prepareToEnd()
      default: break
      }
    } catch {
      postError(error)
      return GST_STATE_CHANGE_FAILURE
    }
    keepCounters()
    let result = changeParentState(transition)
    switch transition {
    case GST_STATE_CHANGE_NULL_TO_READY where result == GST_STATE_CHANGE_FAILURE: endApp()
    case GST_STATE_CHANGE_READY_TO_PAUSED where result == GST_STATE_CHANGE_FAILURE: endStream()
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED: stream?.pause()
    case GST_STATE_CHANGE_PAUSED_TO_READY: endStream()
    case GST_STATE_CHANGE_READY_TO_NULL:
      endStream()
      leaveApp(PipelineReference(of: self))
    // The pipeline may follow. Players also take their sinks to NULL twice between two films.
    case GST_STATE_CHANGE_NULL_TO_NULL: runs.takeEndedRest()?.endAbandoned()
    default: break
    }
    return result
  }

  private func failOpening() -> GstStateChangeReturn {
    endApp()
    return GST_STATE_CHANGE_FAILURE
  }

  /// Begins to use an app, one that another element has registered or a new one, unless there is one already that has
  /// not failed and has the same settings.
  private func beginApp() throws(ElementError) {
    let settings = self.settings.current
    try checkBeforeStart(settings)
    // The context is lost on the way down from PAUSED.
    let apps = SharedApps.context.find(for: self) { runs.apps ?? SharedApps() }
    // Both, the search and the end of an app, post messages whose handlers may start the element, and so begin an app.
    while let app {
      guard !app.isUsable || runs.appSettings != settings.app else { return }
      endApp()
    }
    switch try apps.join(settings.app, self, time: time) {
    case .made(let app, let unlike):
      use(app, of: apps, settings.app)
      if let (other, property) = unlike { warn(differs(from: other, in: property)) }
      try begin(app, settings.app)
    case .joined(let app, let first):
      // A descriptor belongs to the app's connection, so all its elements use it.
      _ = settings.app.descriptorUse.begin()
      use(app, of: apps, settings.app)
      if let first { try check(settings.app, against: app, first) }
      let status = app.status
      if status.headUnit != nil { countApp { $0.connections &+= 1 } }
      for property in status.properties { notify(property) }
    }
  }

  private func differs(from other: String, in property: String) -> ElementError {
    let name = String(freeing: gst_object_get_name(gstElement.cast())) ?? ""
    return .resource(
      GST_RESOURCE_ERROR_SETTINGS,
      "\(name) and \(other) are two apps on the head unit, because their \(property) differs: set the same app-id and app-name on both for one app with picture and sound, or other ones of both for two."
    )
  }

  private func use(_ app: AppClient, of apps: SharedApps, _ settings: AppSettings) {
    runs.set(app, of: apps, settings)
    // They may have been set since it was made.
    app.setNotifications(wantedNotifications, of: self)
  }

  private func begin(_ app: AppClient, _ settings: AppSettings) throws(ElementError) {
    announceHeadUnit(settings)
    if let fault = app.iconFault { warn(fault) }
    do {
      try app.start()
    } catch {
      app.endProgress(GST_PROGRESS_TYPE_ERROR, "The connection could not be started")
      endApp()
      throw error
    }
  }

  /// Checks the settings of an element that uses an app with those of the element `first`.
  private func check(_ settings: AppSettings, against app: AppClient, _ first: String) throws(ElementError) {
    let name = String(freeing: gst_object_get_name(gstElement.cast())) ?? ""
    log(GST_LEVEL_INFO, "using the app of \(first)")
    let differences = settings.encryptionDifferences(beside: app.settings)
    guard differences.isEmpty else {
      endApp()
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "\(name) and \(first) are one app, which has one TLS connection, but differ in \(differences.joined(separator: ", ")): set the same on both, or give \(name) an app-id and app-name of its own."
      )
    }
    let ignored = settings.ignored(beside: app.settings)
    if !ignored.isEmpty {
      warn(
        .resource(
          GST_RESOURCE_ERROR_SETTINGS,
          "\(name) and \(first) are one app, but differ in \(ignored.joined(separator: ", ")): \(first) has registered the app, so its values apply."
        ))
    }
    if settings.isMedia, !app.settings.isMedia {
      warn(
        .resource(
          GST_RESOURCE_ERROR_SETTINGS,
          "\(first) has registered the app as a projection app without sound, and SDL Core plays no sound of such apps: use app-type=navigation, or take \(name) to READY first."
        ))
    }
  }

  private func announceHeadUnit(_ settings: AppSettings) {
    if settings.uri == nil {
      // As details as well, because gst-launch shows nothing else.
      let hint = "No uri is set, so the built-in head unit is used. For a real one: uri=sdl://HOST:12345"
      ElementError.resource(GST_RESOURCE_ERROR_SETTINGS, hint, details: hint)
        .post(as: GST_MESSAGE_INFO, from: gstElement)
    }
    postProgress(GST_PROGRESS_TYPE_START, "Connecting to \(settings.uri ?? "the built-in head unit")")
  }

  private func beginStream() throws(ElementError) {
    try beginApp()
    guard let app else { return }
    let stream = makeStream(app, settings.current)
    runs.set(stream)
    app.repeatUnheard(self)
    stream.begin()
  }

  private func endStream() {
    guard let stream = runs.takeStream() else { return }
    let began = time.now
    stream.end()
    let now = time.now
    app?.noteStreamEnd(at: now, took: now - began)
  }

  /// Ends the stream and the app, if there are any, unless others use the app.
  func endApp() {
    endStream()
    leaveApp(nil)
  }

  /// The element does not use the app any more. A player is in READY between two films, and takes its sinks to NULL
  /// then: the app stays on the car's screen until the next film, or until the player goes to NULL.
  private func leaveApp(_ pipeline: PipelineReference?) {
    guard let app else { return }
    let player = pipeline?.state == GST_STATE_READY ? pipeline : nil
    let (status, isUsable) = (app.status, app.isUsable)
    if !app.leave(self), player == nil || !isUsable { app.end() }
    let bytesSent = app.connection.statistics.sentByteCount
    runs.forget(app, restsIn: player) { countApp { $0.formerBytesSent &+= bytesSent } }
    for property in status.properties { notify(property) }
  }
}

/// GstBaseSink's virtual functions; without a stream they do nothing.
extension AppElement {
  func setCaps(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool { stream?.setCaps(caps) ?? false }

  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    stream?.observe(event)
    return handleByParent(event)
  }

  func setFlushing(_ isFlushing: Bool) {
    stream?.setFlushing(isFlushing)
  }
}
