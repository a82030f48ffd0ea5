import CarWindow
import GStreamerKit
import SDLApp
import SDLLink

/// One run of an `sdlcarwindowsrc`, from READY→PAUSED to PAUSED→READY.
final class CarWindowRun: Sendable {
  struct Status: Sendable {
    var display: String?
    var pid: UInt32 = 0
    var exitStatus: Int32 = -1
  }

  private struct State: Sendable {
    var status = Status()
    var window: CarWindow?
    var isFlushing = false
    var isOver = false
    /// Whether the driver sees the picture, by downstream's events; nil before the first.
    var isShown: Bool?
    /// The program has to be started later.
    var isProgramDue = false
    var gestures = TouchGestures()
    /// The place of the screen in the picture.
    var fit = PictureFit(ScreenSize(1, 1), in: ScreenSize(1, 1))
  }

  /// State that only the streaming thread uses.
  private struct Output: Sendable {
    var converter: PictureConverter?
    var interval = Duration.seconds(1) / 30
    var last: Duration?
  }

  static let template =
    "video/x-raw, format = (string) { I420, NV12, YV12, NV21, BGRx, RGBx }, "
    + "width = (int) [ 16, 8192 ], height = (int) [ 16, 8192 ], framerate = (fraction) [ 0/1, 120/1 ], "
    + "pixel-aspect-ratio = (fraction) 1/1"
  /// The size of the screen if downstream has no preference, and its pixels per inch if they are not known.
  private static let usualSize = ScreenSize(800, 480)
  private static let usualPixelsPerInch = 96.0
  private static let plausiblePixelsPerInch = 60.0...400.0
  /// Without a change, a picture is still pushed after this time, for encoders and recorders that begin late.
  private static let longestPause = Duration.seconds(1)

  private let settings: CarWindowSettings
  private let element: ElementHandle<CarWindowSource>
  private let state = Monitor(State())
  private let output = Monitor(Output())

  init(_ settings: CarWindowSettings, _ element: ElementHandle<CarWindowSource>) {
    self.settings = settings
    self.element = element
    state.withLock { $0.isProgramDue = settings.start == .whenShown }
  }

  var status: Status { state.withLock { $0.status } }

  private var window: CarWindow? { state.withLock { $0.window } }

  func setFlushing(_ isFlushing: Bool) {
    state.withLock { state in
      state.isFlushing = isFlushing
      state.window?.setInterrupted(isFlushing)
    }
  }

  /// Ends the program, and waits for that.
  func end() {
    element.end()
    let window = state.withLock { state in
      state.isOver = true
      return state.window
    }
    window?.stop()
  }

  /// The property `command` has changed. It is read with the lock wherever it is given to the window, so that the last
  /// value wins.
  func commandChanged(_ source: CarWindowSource) {
    state.withLock { state in
      if !state.isProgramDue, !state.isOver { state.window?.run(source.command) }
    }
  }

  /// Downstream reports whether the driver sees the picture.
  func setShown(_ isShown: Bool, _ source: CarWindowSource) {
    state.withLock { state in
      state.isShown = isShown
      state.window?.setHidden(!isShown)
    }
    runDueProgram(source)
  }

  /// Starts the program that has waited for the driver.
  private func runDueProgram(_ source: CarWindowSource) {
    state.withLock { state in
      guard state.isProgramDue, state.isShown == true, let window = state.window else { return }
      state.isProgramDue = false
      window.run(source.command)
    }
  }

  func refresh() { window?.refresh() }
}

/// The streaming thread.
extension CarWindowRun {
  /// Chooses downstream's preferred size and format, and gives the screen that size.
  func negotiate(_ source: CarWindowSource) -> Bool {
    guard let template = Caps(Self.template),
      let caps = Self.choose(Caps.peerQuery(source.pad, filter: template) ?? template.shared()),
      let info = PictureConverter.info(caps)
    else {
      source.log(GST_LEVEL_WARNING, "downstream takes no raw video")
      return false
    }
    let size = ScreenSize(Int(info.width), Int(info.height))
    let rate = info.fps_n > 0 ? Duration.seconds(Int64(info.fps_d)) / Int(info.fps_n) : .seconds(1) / 30
    output.withLock { output in
      output.converter = nil
      output.interval = rate
    }
    source.log(GST_LEVEL_INFO, "the screen becomes \(size): \(caps.text)")
    guard gst_base_src_set_caps(source.baseSource, caps.pointer) != 0 else { return false }
    if let window {
      window.resize(to: size)
      window.refresh()
      return true
    }
    return open(size, source)
  }

  /// The first structure, with the size of a usual screen and 30 frames per second where it leaves a choice.
  private static func choose(_ caps: borrowing Caps) -> Caps? {
    guard !caps.isEmpty, let first = caps.structure(at: 0)?.copy() else { return nil }
    let structure = first.take()
    gst_structure_fixate_field_nearest_int(structure, "width", gint(usualSize.width))
    gst_structure_fixate_field_nearest_int(structure, "height", gint(usualSize.height))
    gst_structure_fixate_field_nearest_fraction(structure, "framerate", 30, 1)
    var chosen = Caps()
    if let structure = Structure(owning: structure) { chosen.append(structure) }
    return Caps(owning: gst_caps_fixate(chosen.take()))
  }

  private func open(_ size: ScreenSize, _ source: CarWindowSource) -> Bool {
    var configuration = CarWindow.Configuration()
    // Errors in them were reported when they were set.
    configuration.environment = (try? CarWindowSettings.variables(settings.environment)) ?? [:]
    configuration.folder = settings.workingDirectory
    configuration.display = settings.display
    configuration.size = size
    configuration.maximumSize = settings.maximumSize
    configuration.showsPointer = settings.showsPointer
    configuration.restarts = settings.restarts
    let displays = if case .displays(let known) = CapabilityQuery.ask(source.pad) { known } else { [VideoDisplay]() }
    configuration.pixelsPerInch = Self.pixelsPerInch(of: size, displays)
    configuration.readsItems = settings.haptics == .auto && displays.contains(where: \.takesHapticData)
    let element = element
    configuration.note = { line in element.withReference { $0.log(GST_LEVEL_INFO, "the program writes: \(line)") } }
    let window = state.withLock { state -> CarWindow? in
      if settings.start == .atOnce { configuration.command = source.command }
      let window = CarWindow(configuration) { [weak self] event in self?.receive(event) }
      state.window = window
      window.setInterrupted(state.isFlushing)
      window.setHidden(state.isShown == false)
      return state.isOver ? nil : window
    }
    guard let window else { return false }
    do throws(CarWindowError) {
      try window.start()
      runDueProgram(source)
      return true
    } catch {
      source.postError(ElementError(error))
      return false
    }
  }

  /// The head unit's pixels per inch, by which toolkits choose the font size.
  private static func pixelsPerInch(of size: ScreenSize, _ displays: [VideoDisplay]) -> Int {
    let display = displays.first { $0.streamSize.map { ScreenSize($0.width, $0.height) } == size } ?? displays.first
    let density = display?.pixelsPerInch ?? usualPixelsPerInch
    return Int(min(max(density, plausiblePixelsPerInch.lowerBound), plausiblePixelsPerInch.upperBound))
  }

  func create(_ buffer: inout UnsafeMutablePointer<GstBuffer>?, _ source: CarWindowSource) -> GstFlowReturn {
    guard let window else { return GST_FLOW_NOT_NEGOTIATED }
    let (last, interval) = output.withLock { ($0.last, $0.interval) }
    let outcome = window.takePicture(
      notBefore: last.map { $0 + interval } ?? .zero, atLatest: last.map { $0 + Self.longestPause } ?? .zero)
    switch outcome {
    case .interrupted: return GST_FLOW_FLUSHING
    case .ended: return GST_FLOW_EOS
    case .failed(let error):
      state.withLock { $0.status.pid = 0 }
      source.postError(ElementError(error))
      return GST_FLOW_ERROR
    case .picture(let picture):
      output.withLock { $0.last = MonotonicClock.now }
      guard let made = convert(picture, source) else { return GST_FLOW_NOT_NEGOTIATED }
      let time = gst_element_get_current_running_time(source.gstElement)
      made.pointer.pointee.pts = time
      made.pointer.pointee.duration = GstClockTime(clamping: interval.nanoseconds)
      buffer = made.take()
      return GST_FLOW_OK
    }
  }

  private func convert(_ picture: CarWindow.Picture, _ source: CarWindowSource) -> Buffer? {
    let converter = output.withLock { output -> PictureConverter? in
      if output.converter?.screen != picture.size {
        output.converter = nil
        if let caps = Caps.current(of: source.pad) { output.converter = PictureConverter(picture.size, caps) }
      }
      return output.converter
    }
    guard let converter else { return nil }
    state.withLock { $0.fit = converter.fit }
    guard let made = withExtendedLifetime(picture, { converter.convert(picture.memory) }) else { return nil }
    for (index, item) in picture.items.enumerated() {
      let area = converter.fit.inPicture(item)
      gst_buffer_add_video_region_of_interest_meta(
        made.pointer, "sdl-haptic", guint(clamping: area.x), guint(clamping: area.y), guint(clamping: area.width),
        guint(clamping: area.height)
      ).pointee.id = gint(clamping: index)
    }
    return made
  }
}

/// The thread of the window.
extension CarWindowRun {
  private func receive(_ event: CarWindow.Event) {
    switch event {
    case .lacking(let error): element.withReference { $0.warn(ElementError(error)) }
    case .displayOpened(let name):
      state.withLock { $0.status.display = name }
      element.withReference { $0.notify(.displayName) }
    case .programStarted(let pid):
      state.withLock { state in
        state.status.pid = UInt32(clamping: pid)
        state.status.exitStatus = -1
      }
      element.withReference { $0.notify(.pid) }
    case .programEnded(let status, let output, let restarts):
      state.withLock { state in
        state.status.pid = 0
        state.status.exitStatus = status
      }
      element.withReference { source in
        source.notify(.pid)
        source.notify(.exitStatus)
        let message = Structure("sdl-program-ended")
        message.set("exit-status", status)
        message.set("output", output.joined(separator: "\n"))
        message.set("restarts", restarts)
        source.postElementMessage(message)
      }
    }
  }
}

/// Input in the picture (GstNavigation).
extension CarWindowRun {
  /// False if it was not handled.
  func navigate(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    guard settings.display == nil || element.withReference({ $0.settings.withLock { $0.injectsInput } }) == true,
      let input = PointerEvent(event)
    else { return false }
    let mode = settings.touchMode
    let (window, inputs) = state.withLock { state in
      let fit = state.fit
      return (state.window, input.inputs(mode, &state.gestures) { fit.onScreen($0, $1) })
    }
    guard let inputs else { return false }
    window?.inject(inputs)
    return true
  }
}

extension ElementError {
  init(_ error: CarWindowError) {
    let code =
      switch error.kind {
      case .missing: GST_RESOURCE_ERROR_NOT_FOUND
      case .setting: GST_RESOURCE_ERROR_SETTINGS
      case .failed: GST_RESOURCE_ERROR_FAILED
      }
    self = .resource(code, error.description)
  }
}

extension PointerEvent {
  /// The input for the program; nil for none.
  ///
  /// - Parameter onScreen: converts a position in the picture to one on the screen.
  func inputs(
    _ mode: CarWindowTouchMode, _ gestures: inout TouchGestures, _ onScreen: (Double, Double) -> (x: Double, y: Double)
  ) -> [ScreenInput]? {
    switch self {
    case .button(let number, let isDown, let x, let y):
      return [Self.moved(onScreen(x, y)), .button(number, isDown: isDown)]
    case .move(let x, let y): return [Self.moved(onScreen(x, y))]
    case .scroll(let x, let y, let right, let up):
      let steps = [(up, 4, 5), (right, 7, 6)].filter { $0.0 != 0 }.map { $0.0 > 0 ? $0.1 : $0.2 }
      return [Self.moved(onScreen(x, y))]
        + steps.flatMap { [ScreenInput.button($0, isDown: true), .button($0, isDown: false)] }
    case .down(let id, let x, let y):
      let place = onScreen(x, y)
      return gestures.down(id, x: place.x, y: place.y, turnsWheel: mode == .gestures)
    case .motion(let id, let x, let y):
      let place = onScreen(x, y)
      return gestures.move(id, x: place.x, y: place.y)
    case .up(let id, _, _): return gestures.up(id)
    case .frame: return nil
    case .cancel: return gestures.cancel()
    case .key(let name, let isDown): return [.key(name, isDown: isDown)]
    }
  }

  private static func moved(_ place: (x: Double, y: Double)) -> ScreenInput {
    .move(x: TouchGestures.pixel(place.x), y: TouchGestures.pixel(place.y))
  }
}
