import CarWindow
import GStreamerKit
import SDLLink

/// The implementation of one `sdlcarwindowsrc`: a program on a screen of its own, which is captured.
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → the run's → those of ``CarWindow``,
/// `settings`. None of ours is held while calling GStreamer.
final class CarWindowSource: PushSourceElement {
  // Unowned: the instance frees this object in finalize, after its run has ended.
  nonisolated(unsafe) let baseSource: UnsafeMutablePointer<GstBaseSrc>
  let settings = ElementSettings(CarWindowSettings())
  private let current = Monitor<CarWindowRun?>(nil)

  static let log = LogCategory("sdlcarwindowsrc", "SmartDeviceLink car window source")

  private init(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) {
    self.baseSource = baseSource
  }

  /// The last run until the next start, so that the program's exit status can be read.
  var run: CarWindowRun? { current.withLock { $0 } }

  static func check(_ settings: CarWindowSettings) throws(InvalidPropertyValue) {
    _ = try CarWindowSettings.words(settings.command)
    _ = try CarWindowSettings.variables(settings.environment)
  }

  /// Applications set properties before the element starts, which fails if one of them can't be used.
  static var keepsRefusalsUntilStart: Bool { true }

  /// The words of the property `command`. Errors in it were reported when it was set.
  var command: [String] { (try? CarWindowSettings.words(settings.withLock { $0.command })) ?? [] }
}

/// GstBaseSrc's virtual functions.
extension CarWindowSource {
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn { changeParentState(transition) }

  func willBeFreed() {
    run?.end()
  }

  /// The program itself starts when downstream has chosen the size of its screen.
  func start() -> Bool {
    if let refusal = settings.refusals.first {
      postError(refusal)
      return false
    }
    let settings = settings.current
    guard !settings.command.isEmpty || settings.display != nil else {
      postError(
        .resource(
          GST_RESOURCE_ERROR_SETTINGS,
          "There is nothing to show: set command to a program, such as command=\"xclock -update 1\", or display to a display, such as display=:0"
        ))
      return false
    }
    current.withLock { $0 = CarWindowRun(settings, ElementHandle(self)) }
    return true
  }

  func stop() {
    run?.end()
  }

  func setFlushing(_ isFlushing: Bool) {
    run?.setFlushing(isFlushing)
  }

  func negotiate() -> Bool {
    run?.negotiate(self) ?? false
  }

  func create(_ buffer: inout UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    run?.create(&buffer, self) ?? GST_FLOW_FLUSHING
  }

  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    switch event.pointee.type {
    case GST_EVENT_NAVIGATION: return run?.navigate(event) ?? false
    case GST_EVENT_RECONFIGURE:
      // Caps are chosen before the next picture, which comes at once.
      run?.refresh()
      return handleByParent(event)
    case GST_EVENT_CUSTOM_UPSTREAM:
      guard let isStreaming = StreamStateEvent.isStreaming(event) else { return handleByParent(event) }
      run?.setShown(isStreaming, self)
      return true
    default: return handleByParent(event)
    }
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard query.pointee.type == GST_QUERY_LATENCY else { return answerByParent(query) }
    gst_query_set_latency(query, 1, 0, .max)
    return true
  }
}

extension CarWindowSource {
  static let properties: PropertyList<CarWindowSource> = [
    .string(
      "command", \.command, "Command",
      "Program with its arguments, quoted as in a shell; a change while it runs replaces the program",
      .mutablePlaying
    ) { $0.run?.commandChanged($0) },
    .string(
      "environment", \.environment, "Environment",
      "Variables for the program, such as \"LANG=de_DE.UTF-8 GDK_SCALE=2\", added to the environment of this process",
      .mutableReady),
    .string(
      "working-directory", \.workingDirectory, "Working directory",
      "Working directory of the program; unset: the directory of this process", .mutableReady),
    .string(
      "display", \.display, "Display",
      "X display to mirror, such as :0, instead of a private screen; command, if set, is started on it",
      .mutableReady),
    .boolean(
      "inject-input", \.injectsInput, "Inject input",
      "Whether touches and keys go to the mirrored display", .mutablePlaying),
    .unsigned(
      "max-width", \.maximumWidth, 64...8192, "Maximum width", "Largest width of the program's screen, in pixels",
      .mutableReady),
    .unsigned(
      "max-height", \.maximumHeight, 64...8192, "Maximum height", "Largest height of the program's screen, in pixels",
      .mutableReady),
    .enumeration(
      "touch-mode", \.touchMode, "Touch mode", "Handling of several fingers", .mutableReady),
    .boolean("show-pointer", \.showsPointer, "Show pointer", "Whether the pointer is in the picture", .mutableReady),
    .enumeration("start", \.start, "Start", "When the program starts", .mutableReady),
    .boolean(
      "restart", \.restarts, "Restart",
      "Whether the program is started again, a second after each end; otherwise its end is that of the stream",
      .mutableReady),
    .enumeration(
      "haptics", \.haptics, "Haptics",
      "Whether the program's buttons, fields and links are attached to the pictures as regions of interest (sdl-haptic)",
      .mutableReady),
    .string("display-name", "Display name", "Display of the program") { $0.run?.status.display },
    .unsigned("pid", 0...UInt32(Int32.max), default: 0, "Process id", "Process id of the program; 0 without one") {
      $0.run?.status.pid ?? 0
    },
    .integer(
      "exit-status", -1...255, default: -1, "Exit status",
      "How the program has ended: its status, or 128 plus the number of the signal; -1 before that"
    ) { $0.run?.status.exitStatus ?? -1 },
  ]
}

extension CarWindowSource {
  static let type: GType = PushSourceType.register("GstSdlCarWindowSrc") { sourceClass, _ in
    // Registers the debug category, which GST_DEBUG help then lists.
    _ = CarWindowSource.log
    PushSourceType.install(
      on: sourceClass, CarWindowSource.properties,
      ElementDetails(
        "SmartDeviceLink Car Window Source", "Source/Video",
        "Runs a program on a screen of its own, in downstream's size, and sends touches and keys to it",
        .source(CarWindowRun.template)))
  } initInstance: { instance, _ in
    PushSourceType.begin(instance, with: CarWindowSource(PushSourceType.parent(of: instance).cast()))
  }
}

extension PropertyName {
  static let displayName: PropertyName = "display-name"
  static let pid: PropertyName = "pid"
  static let exitStatus: PropertyName = "exit-status"
}
