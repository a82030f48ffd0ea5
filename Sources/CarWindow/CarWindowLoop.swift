import CXCB
import Glibc
import SDLLink

final class CarWindowLoop {
  private let configuration: CarWindow.Configuration
  private let state: Monitor<CarWindow.State>
  private let wakeUp: WakeUp
  private let report: @Sendable (CarWindow.Event) -> Void
  private var server: VirtualServer?
  private var display: XDisplay?
  private var capture: ScreenCapture?
  private var windows: WindowManager?
  private var injector: InputInjector?
  private var accessibility: AccessibilityBus?
  private var items: ItemWatch?
  private var program: GuardedProcess?
  /// Programs that were replaced, until they have ended.
  private var former: [GuardedProcess] = []
  /// Whether events may be left from the last turn. XCB may have read them already, as those that came with a reply, so
  /// that no descriptor announces them.
  private var hasEvents = false
  private var programBegan = Duration.zero
  /// What runs, or has run.
  private var command: [String] = []
  /// When it is started again.
  private var restartTime: Duration?
  /// When the pointer leaves the program's windows, and whether it has.
  private var pointerLeaveTime: Duration?
  private var isPointerAway = true
  /// Of the picture: the screen is larger if a window can't be as small.
  private var wantedSize: ScreenSize
  private static let longestServerEnd = Duration.seconds(1)
  /// In which the events that have come are taken, unless a program causes them faster.
  private static let usualTime = Duration.milliseconds(10)
  /// Another server may have the number that was drawn for the display.
  private static let mostServerStarts = 3

  private var tail = OutputTail()
  private var serverTail = OutputTail()

  init(
    _ configuration: CarWindow.Configuration, _ state: Monitor<CarWindow.State>, _ wakeUp: WakeUp,
    _ report: @escaping @Sendable (CarWindow.Event) -> Void
  ) {
    self.configuration = configuration
    wantedSize = configuration.size
    self.state = state
    self.wakeUp = wakeUp
    self.report = report
  }

  func run() {
    do throws(CarWindowError) {
      if let name = configuration.display {
        try open(name, cookie: nil)
      } else {
        try startServer()
      }
      while !state.withLock({ $0.isStopping }) { try turn() }
    } catch {
      state.change { $0.failure = error }
    }
    close()
  }

  /// The program before its server, with which it can still talk: not even this connection holds it any more.
  private func close() {
    items?.stop()
    state.withLock { $0.connection = -1 }
    (capture, windows, injector, display) = (nil, nil, nil, nil)
    end(([program] + former).compactMap { $0 })
    accessibility?.end(within: .seconds(5))
    (items, accessibility, program, former) = (nil, nil, nil, [])
    guard let server else { return }
    end([server.process])
    server.removeTraces()
    self.server = nil
  }

  private func end(_ processes: [GuardedProcess]) {
    for process in processes { process.terminate() }
    // The time-outs of all guards run in parallel.
    for process in processes { process.end(within: .seconds(5)) }
  }

  private func startServer() throws(CarWindowError) {
    let deadline = MonotonicClock.now + VirtualServer.startTimeout
    for attempt in 1...Self.mostServerStarts {
      let server = try VirtualServer(
        maximumSize: configuration.maximumSize, pixelsPerInch: configuration.pixelsPerInch)
      self.server = server
      do throws(CarWindowError) {
        try waitForDisplay(of: server, until: deadline)
        guard let name = server.display else { return }
        return try open(name, cookie: server.cookie)
      } catch {
        guard server.display == nil, attempt < Self.mostServerStarts, MonotonicClock.now < deadline else { throw error }
        end([server.process])
        serverTail = OutputTail()
      }
    }
  }

  /// Returns without one when the window is to stop.
  private func waitForDisplay(of server: VirtualServer, until deadline: Duration) throws(CarWindowError) {
    while server.display == nil {
      guard !state.withLock({ $0.isStopping }) else { return }
      guard MonotonicClock.now < deadline, server.descriptor >= 0 else {
        throw CarWindowError(.failed, "Xvfb does not start. " + serverTail.lines.joined(separator: " "))
      }
      wait(server.descriptor)
      try readServer(server)
      if server.descriptor >= 0 { server.readNumber() }
    }
  }

  private func open(_ name: String, cookie: [UInt8]?) throws(CarWindowError) {
    let display = try XDisplay(name, cookie: cookie)
    self.display = display
    let isStopping = state.withLock { state in
      state.connection = display.descriptor
      return state.isStopping
    }
    guard !isStopping else { return }
    if server != nil {
      wantedSize = (state.withLock { $0.newSize.take() } ?? wantedSize).limited(to: configuration.maximumSize)
      try display.setScreenSize(wantedSize, pixelsPerInch: configuration.pixelsPerInch)
      windows = try WindowManager(display)
      display.setText(display.atom("RESOURCE_MANAGER"), of: display.root, resources)
    }
    capture = try ScreenCapture(display, showsPointer: configuration.showsPointer)
    injector = InputInjector(display)
    if let windows { injector?.inject(windows.pointerRest) }
    if configuration.readsItems, server != nil { watchItems() }
    report(.displayOpened(name))
    try start(configuration.command)
    state.change { $0.isReady = true }
  }

  /// Toolkits choose the font size by the first one. Terminals use small fonts of pixels unless they are told a scalable
  /// one.
  private var resources: String {
    let fonts = [
      "XTerm*faceName:\tMonospace", "XTerm*faceSize:\t11", "UXTerm*faceName:\tMonospace", "UXTerm*faceSize:\t11",
      "URxvt*font:\txft:Monospace:size=11",
    ]
    return (["Xft.dpi:\t\(configuration.pixelsPerInch)"] + fonts).map { "\($0)\n" }.joined()
  }

  /// The window goes on without them.
  private func watchItems() {
    guard let display else { return }
    do throws(CarWindowError) {
      let bus = try AccessibilityBus(environmentOfScreen)
      accessibility = bus
      // Qt looks for it there.
      display.setText(display.atom("AT_SPI_BUS"), of: display.root, bus.address)
      items = ItemWatch(address: bus.address, size: display.size) { [state] areas in
        state.change { ($0.items, $0.isRefreshing) = (areas, true) }
      }
    } catch {
      report(.lacking(error))
    }
  }

  /// The environment of programs on the server.
  private var environmentOfScreen: [String: String] {
    var environment = CarWindow.environment
    if let server {
      environment["DISPLAY"] = server.display
      environment["XAUTHORITY"] = server.authority
      // Toolkits would prefer a Wayland session, in which the windows would be elsewhere.
      for name in ["WAYLAND_DISPLAY", "WAYLAND_SOCKET"] { environment[name] = nil }
      environment["XDG_SESSION_TYPE"] = "x11"
    }
    if let name = configuration.display { environment["DISPLAY"] = name }
    return environment
  }

  private func start(_ command: [String]) throws(CarWindowError) {
    if let program {
      program.terminate()
      former.append(program)
      self.program = nil
    }
    (self.command, restartTime) = (command, nil)
    guard !command.isEmpty else { return }
    var environment = environmentOfScreen
    if let accessibility { environment.merge(accessibility.variables(beside: environment)) { $1 } }
    environment.merge(configuration.environment) { $1 }
    tail = OutputTail()
    programBegan = MonotonicClock.now
    program = try GuardedProcess(
      GuardedProcess.Command(
        arguments: command, environment: environment, folder: configuration.folder, passed: nil, privateFolder: nil))
  }

  /// Waits for events, and handles them.
  private func turn() throws(CarWindowError) {
    wait(-1)
    let orders = state.withLock { state in
      defer { (state.newSize, state.newCommand, state.inputs) = (nil, nil, []) }
      return (size: state.newSize, command: state.newCommand, inputs: state.inputs)
    }
    if let server { try readServer(server) }
    accessibility?.discardOutput()
    if let command = orders.command { try start(command) }
    try readProgram()
    if let restartTime, restartTime <= MonotonicClock.now { try start(command) }
    guard let display else { return }
    if display.isLost { throw serverFailure() }
    if let size = orders.size { wantedSize = size }
    inject(orders.inputs)
    let isHeld = handleEvents(of: display)
    defer { if isHeld { display.releaseServer() } }
    try fitScreen(display)
    display.flush()
    try copyIfWanted(display)
  }

  private func inject(_ inputs: [ScreenInput]) {
    for input in inputs {
      if case .leave = input {
        pointerLeaveTime = MonotonicClock.now + CarWindow.pointerStay
      } else {
        if case .move = input { (pointerLeaveTime, isPointerAway) = (nil, false) }
        injector?.inject(input)
      }
    }
    if let pointerLeaveTime, pointerLeaveTime <= MonotonicClock.now {
      self.pointerLeaveTime = nil
      isPointerAway = true
      // The pointer of a mirrored display belongs to somebody else.
      if let windows { injector?.inject(windows.pointerRest) }
      if configuration.showsPointer { screenChanged() }
    }
    if configuration.showsPointer, !inputs.isEmpty { screenChanged() }
  }

  private func fitScreen(_ display: XDisplay) throws(CarWindowError) {
    guard let windows else { return }
    let size = wantedSize.enlarged(toHold: windows.leastSize, atMost: configuration.maximumSize)
    guard size != display.size else { return }
    try display.setScreenSize(size, pixelsPerInch: configuration.pixelsPerInch)
    hasEvents = true
    windows.arrange()
    if isPointerAway { injector?.inject(windows.pointerRest) }
  }

  /// Until the next thing is due, in milliseconds.
  private var timeout: Int32 {
    guard !hasEvents else { return 0 }
    guard let next = [restartTime, pointerLeaveTime].compactMap({ $0 }).min() else { return 1000 }
    // Rounded up, as a poll that is over too early would be repeated.
    let rest = (next - MonotonicClock.now) / .milliseconds(1) + 1
    return Int32(max(0, min(rest, 1000)))
  }

  /// - Parameter descriptor: polled beside all others.
  private func wait(_ descriptor: Int32) {
    let all: [Int32] = [
      wakeUp.descriptor, descriptor, display?.descriptor ?? -1, program?.reports ?? -1, program?.output ?? -1,
      server?.process.reports ?? -1, server?.process.output ?? -1, accessibility?.output ?? -1,
    ]
    let ending: [Int32] = former.flatMap { [$0.reports, $0.output] }
    var polled = (all + ending).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = poll(&polled, nfds_t(polled.count), timeout)
    wakeUp.clear()
  }

  /// All that are there are taken before any is handled, because each answer that is waited for comes behind them. A
  /// program that causes them faster than they are taken has to wait: otherwise they would fill the memory.
  ///
  /// - Returns: whether the server is held, until ``XDisplay/releaseServer()``.
  private func handleEvents(of display: XDisplay) -> Bool {
    let began = MonotonicClock.now
    var events: [UnsafeMutablePointer<xcb_generic_event_t>] = []
    defer { events.forEach { free($0) } }
    var isHeld = false
    while let event = display.takeEvent() {
      events.append(event)
      guard !isHeld, MonotonicClock.now - began >= Self.usualTime else { continue }
      // A mirrored display belongs to somebody else.
      guard server != nil else { break }
      display.holdServer()
      isHeld = true
    }
    for event in events where capture?.isDamage(event) == true { screenChanged() }
    windows?.handle(events)
    hasEvents = !events.isEmpty
    return isHeld
  }

  private func screenChanged() {
    state.change { $0.isDamaged = true }
    if let items, let size = display?.size { items.screenChanged(size) }
  }

  private func copyIfWanted(_ display: XDisplay) throws(CarWindowError) {
    let wanted = state.withLock { $0.wantedPicture == $0.picture ? nil : $0.wantedPicture }
    guard let wanted, let capture else { return }
    // An existing display may have changed its size.
    if server == nil { display.readSize() }
    guard let pixels = try capture.take() else { throw serverFailure() }
    hasEvents = true
    let size = display.size
    state.change { state in
      (state.picture, state.pixels, state.size) = (wanted, pixels, size)
    }
    // X has no event for pointer movements by other clients.
    if configuration.showsPointer, server == nil { screenChanged() }
  }

  private func readServer(_ server: VirtualServer) throws(CarWindowError) {
    if let bytes = server.process.takeOutput() { _ = serverTail.append(bytes) }
    while let event = server.process.takeReport() {
      switch event {
      case .started: break
      case .failed(let code):
        throw CarWindowError(.failed, "Xvfb can't be started: \(String(cString: strerror(code)))")
      case .ended(let exit): throw serverFailure(exit)
      }
    }
  }

  /// The error about a server that is gone.
  /// - Parameter exit: how it has ended; nil asks its guard, which may say so a moment after the connection is closed.
  private func serverFailure(_ exit: GuardedProcess.Exit? = nil) -> CarWindowError {
    guard let process = server?.process else { return CarWindowError(.failed, "The X server has ended") }
    var exit = exit
    let deadline = MonotonicClock.now + Self.longestServerEnd
    while exit == nil, MonotonicClock.now < deadline, !state.withLock({ $0.isStopping }) {
      var polled = pollfd(fd: process.reports, events: Int16(POLLIN), revents: 0)
      _ = poll(&polled, 1, 100)
      if let bytes = process.takeOutput() { _ = serverTail.append(bytes) }
      exit = process.takeExit()
    }
    let how = exit.map { " \($0)" } ?? ""
    return CarWindowError(
      .failed, (["The program's X server has ended\(how)."] + serverTail.lines).joined(separator: " "))
  }

  private func readProgram() throws(CarWindowError) {
    former.removeAll { process in
      _ = process.takeOutput()
      while let report = process.takeReport() { if case .ended = report { return true } }
      return false
    }
    guard let program else { return }
    var exit: GuardedProcess.Exit?
    while let event = program.takeReport() {
      switch event {
      case .started(let pid): report(.programStarted(pid: pid))
      case .failed(let code):
        let place = configuration.folder.map { " in \($0)" } ?? ""
        throw CarWindowError(
          .setting, "'\(program.name)' can't be started\(place): \(String(cString: strerror(code)))")
      case .ended(let value): exit = value
      }
    }
    // After its end, so that its last words are there.
    if let bytes = program.takeOutput() {
      for line in tail.append(bytes) { configuration.note(line) }
    }
    guard let exit else { return }
    self.program = nil
    try programEnded(exit)
  }

  private func programEnded(_ exit: GuardedProcess.Exit) throws(CarWindowError) {
    if let display {
      // All that are left of it.
      if handleEvents(of: display) { display.releaseServer() }
      // A program ends because its server does, which may be told after that, and is the cause.
      if server != nil, display.geometry(of: display.root) == nil { throw serverFailure() }
    }
    let restarts = configuration.restarts
    report(.programEnded(status: exit.status, output: tail.lines, restarts: restarts))
    guard !restarts else {
      restartTime = MonotonicClock.now + CarWindow.restartPause
      return
    }
    if MonotonicClock.now - programBegan < CarWindow.shortestRun, windows?.hasShown == false {
      throw CarWindowError(
        .setting, (["The command has ended \(exit), and has shown nothing."] + tail.lines).joined(separator: "\n"))
    }
    state.change { $0.hasEnded = true }
  }
}
