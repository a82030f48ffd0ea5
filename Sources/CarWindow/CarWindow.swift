import Glibc
import SDLLink

/// A screen for one program: a private X server with the program on it, or an existing display. Its thread talks to the
/// server, manages the windows and watches both processes.
package final class CarWindow: Sendable {
  package struct Configuration: Sendable {
    /// The program with its arguments; empty for none.
    package var command: [String] = []
    /// Added to that of this process.
    package var environment: [String: String] = [:]
    /// Where the program starts; nil is here.
    package var folder: String?
    /// An existing display, such as `:0`; nil starts a server.
    package var display: String?
    /// Of a private server.
    package var size = ScreenSize(800, 480)
    package var maximumSize = ScreenSize(1920, 1080)
    package var pixelsPerInch = 96
    /// Whether the pointer is in the picture.
    package var showsPointer = false
    /// Whether the program is started again after each end.
    package var restarts = false
    /// Whether the items that can be focused are looked for.
    package var readsItems = false
    /// Gets each line that the program writes, on the thread.
    package var note: @Sendable (String) -> Void = { _ in }

    package init() {}
  }

  /// Reports, on the thread.
  package enum Event: Sendable {
    /// Something optional is missing; the window goes on.
    case lacking(CarWindowError)
    /// The server can be connected to.
    case displayOpened(String)
    case programStarted(pid: Int32)
    /// It has ended with all that it had started. Status is that of exit(3), or 128 and the signal, as shells have it;
    /// the output is its last lines.
    case programEnded(status: Int32, output: [String], restarts: Bool)
  }

  /// The screen as it was copied.
  package struct Picture: Sendable {
    let pixels: SharedPixels
    package let size: ScreenSize
    /// The focusable items on it.
    package let items: [ScreenArea]

    /// Pixels of BGRx, without padding; valid as long as this picture is there, and until the next call of
    /// ``takePicture(notBefore:atLatest:)``.
    package var memory: UnsafeRawPointer { UnsafeRawPointer(pixels.memory) }
  }

  package enum Outcome {
    case picture(Picture)
    /// The program is over, and the screen stays as it is.
    case ended
    case failed(CarWindowError)
    case interrupted
  }

  /// A program that ends earlier, and has shown nothing, has failed.
  static let shortestRun = Duration.seconds(2)
  /// Between the end of a program and its next start.
  static let restartPause = Duration.seconds(1)
  /// How long the pointer stays where a finger was: programs may ask for its place when they open a menu, and show tool
  /// tips half a second after it has come.
  static let pointerStay = Duration.milliseconds(300)
  /// For a copy of the screen.
  private static let pictureTimeout = Duration.seconds(5)
  /// For the program and then the server: the guards give each 2 s after SIGTERM, and 2 s after SIGKILL.
  private static let stopTimeout = Duration.seconds(10)
  /// The most inputs that wait: with more, the server hangs.
  private static let maximumInputCount = 1000

  /// Of this process.
  static var environment: [String: String] {
    var variables: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
      next += 1
    }
    return variables
  }

  /// Of a program in PATH; nil if it is not installed.
  static func path(of program: String) -> String? {
    let folders = environment["PATH"] ?? "/usr/bin:/bin"
    return folders.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
  }

  struct State: Sendable {
    var isStopping = false
    var isInterrupted = false
    /// The display is open, and has its size.
    var isReady = false
    /// The screen has changed since the last picture.
    var isDamaged = true
    /// A picture is wanted even if it has not.
    var isRefreshing = true
    /// Changes need not be seen.
    var isHidden = false
    /// The number of the requested picture, and of the last one.
    var wantedPicture: UInt64 = 0
    var picture: UInt64 = 0
    var pixels: SharedPixels?
    var size = ScreenSize(0, 0)
    var items: [ScreenArea] = []
    var newSize: ScreenSize?
    var newCommand: [String]?
    var inputs: [ScreenInput] = []
    var failure: CarWindowError?
    var hasEnded = false
    var isOver = false
    /// The socket of the connection to the X server, while it is open.
    var connection: Int32 = -1

    var isPictureWanted: Bool { isRefreshing || isDamaged && !isHidden }
  }

  private let configuration: Configuration
  private let state = Monitor(State())
  private let wakeUp = WakeUp()
  private let thread = WorkerThread(name: "sdl-car-window")
  private let report: @Sendable (Event) -> Void

  package init(_ configuration: Configuration, report: @escaping @Sendable (Event) -> Void) {
    self.configuration = configuration
    self.report = report
  }

  /// Opens the display and starts the program, on the thread; the result is reported, or returned by
  /// ``takePicture(notBefore:atLatest:)``.
  package func start() throws(CarWindowError) {
    do {
      try wakeUp.open()
      try thread.start { [self] in
        CarWindowLoop(configuration, state, wakeUp, report).run()
        state.change { $0.isOver = true }
      }
    } catch {
      // Without a thread there is no end to wait for.
      state.withLock { $0.isOver = true }
      throw CarWindowError(.failed, "The thread of the window could not be started: \(error)")
    }
  }

  /// Ends the program and the server, and waits for that for a limited time.
  package func stop() {
    state.change { state in
      state.isStopping = true
      // A server that hangs sends no reply for which the thread may wait. The lock keeps the descriptor open meanwhile.
      if state.connection >= 0 { shutdown(state.connection, Int32(SHUT_RD)) }
    }
    wakeUp.signal()
    if !thread.isCurrent,
      state.wait(atLatest: MonotonicClock.now + Self.stopTimeout, until: { $0.isOver })
    {
      thread.join()
    }
  }

  /// Lets the current call of ``takePicture(notBefore:atLatest:)`` and all later ones return, until false is set.
  package func setInterrupted(_ isInterrupted: Bool) {
    state.change { $0.isInterrupted = isInterrupted }
  }

  package func resize(to size: ScreenSize) {
    state.withLock { $0.newSize = size.limited(to: configuration.maximumSize) }
    wakeUp.signal()
  }

  package func run(_ command: [String]) {
    state.withLock { $0.newCommand = command }
    wakeUp.signal()
  }

  package func inject(_ inputs: [ScreenInput]) {
    state.withLock { state in
      if state.inputs.count + inputs.count <= Self.maximumInputCount { state.inputs += inputs }
    }
    wakeUp.signal()
  }

  /// The next picture is copied even if nothing changes.
  package func refresh() {
    state.change { $0.isRefreshing = true }
  }

  /// Whether changes need not be seen; then nothing waits for one.
  package func setHidden(_ isHidden: Bool) {
    state.change { $0.isHidden = isHidden }
  }

  /// Waits for a change of the screen, and copies it.
  ///
  /// - Parameters:
  ///   - earliest: no picture is taken before.
  ///   - latest: one is taken then even if nothing has changed.
  package func takePicture(notBefore earliest: Duration, atLatest latest: Duration) -> Outcome {
    while true {
      let (isReady, isWanted) = state.withLock { ($0.isReady, $0.isPictureWanted) }
      // The thread says when the display is there, or why it is not.
      let deadline = isReady ? isWanted ? earliest : latest : nil
      let next = state.wait(until: deadline) { state -> Next? in
        if let outcome = Self.end(state) { return .outcome(outcome) }
        if state.isReady, MonotonicClock.now >= (state.isPictureWanted ? earliest : latest) { return .copy }
        return state.isReady == isReady && state.isPictureWanted == isWanted ? nil : .again
      }
      switch next {
      case .outcome(let outcome): return outcome
      case .copy: return copy()
      // Another deadline counts now, or a moment is left of this one.
      case .again, nil: continue
      }
    }
  }

  private enum Next {
    case outcome(Outcome)
    case copy
    case again
  }

  private func copy() -> Outcome {
    let number = state.withLock { state in
      state.wantedPicture &+= 1
      (state.isDamaged, state.isRefreshing) = (false, false)
      return state.wantedPicture
    }
    wakeUp.signal()
    let outcome = state.wait(until: MonotonicClock.now + Self.pictureTimeout) { state -> Outcome? in
      if let outcome = Self.end(state) { return outcome }
      guard state.picture == number, let pixels = state.pixels else { return nil }
      return .picture(Picture(pixels: pixels, size: state.size, items: state.items))
    }
    return outcome ?? .failed(CarWindowError(.failed, "The X server does not answer"))
  }

  private static func end(_ state: State) -> Outcome? {
    // What fails after that has lost its connection.
    if state.isStopping { return .interrupted }
    if let failure = state.failure { return .failed(failure) }
    if state.isInterrupted || state.isOver { return .interrupted }
    return state.hasEnded ? .ended : nil
  }
}

/// Why a program has no screen, or no more.
package struct CarWindowError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Kinds that callers may have to tell apart.
  package enum Kind: Equatable, Sendable {
    /// Something has to be installed.
    case missing
    /// A setting can't be used.
    case setting
    /// Anything else that goes wrong.
    case failed
  }

  package let kind: Kind
  /// What happened, and what to do.
  package let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
