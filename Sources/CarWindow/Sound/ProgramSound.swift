import CLinux
import Glibc
import SDLLink

/// The sound of one program, and only that: it plays to a null sink of the user's sound server, PipeWire or PulseAudio.
/// If there is none, a private one is started. Sink and server end with this object.
package final class ProgramSound: Sendable {
  /// Reports, on the thread.
  package enum Event {
    /// Samples: 48 000 times a second two channels of 16 bits, little-endian. They come as they are played, and not at
    /// all while nothing plays.
    case samples([UInt8])
    /// Nothing has come for a moment.
    case silence
    /// The server is gone; nothing follows.
    case lost(CarWindowError)
  }

  /// For a server that hangs.
  private static let startTimeout = Duration.seconds(5)
  /// Between two reports of silence.
  private static let tick: Int32 = 40

  /// For the program.
  package let environment: [String: String]

  private let resources: Monitor<Resources>
  private let wakeUp = WakeUp()
  private let thread = WorkerThread(name: "sdl-car-sound")
  private let isStopping = Monitor(false)

  /// Used by the thread as soon as that runs.
  ///
  /// `@unchecked Sendable`: one thread after the other uses it.
  private final class Resources: @unchecked Sendable {
    let server: SoundServer?
    let process: GuardedProcess
    let samples: Int32
    var tail = OutputTail()

    init(_ server: SoundServer?, _ process: GuardedProcess, _ samples: Int32) {
      (self.server, self.process, self.samples) = (server, process, samples)
    }

    deinit { close(samples) }
  }

  /// Connects to the server, and waits until the program can play.
  /// - Parameters:
  ///   - title: the name of the sink, for people.
  ///   - processGuard: nil is the installed one.
  package init(title: String, guardedBy processGuard: ProcessGuard) throws(CarWindowError) {
    let sink = "sdl-car-window-\(getpid())"
    var environment = ["PULSE_SINK": sink]
    let found: Resources
    do throws(CarWindowError) {
      found = try Self.open(sink, title, server: nil, processGuard)
      // For programs of PipeWire, and its plugin for ALSA.
      environment["PIPEWIRE_NODE"] = sink
    } catch {
      guard error.kind != .missing, CarWindow.path(of: "pulseaudio") != nil else {
        throw error.kind == .missing
          ? error
          : CarWindowError(
            .missing,
            "There is no sound server (\(error)). Run PipeWire with pipewire-pulse, or PulseAudio, for this user, or "
              + "install pulseaudio")
      }
      let server = try SoundServer(guardedBy: processGuard)
      environment.merge(server.environment) { $1 }
      found = try Self.open(sink, title, server: server, processGuard)
    }
    self.environment = environment
    resources = Monitor(found)
  }

  private static func open(
    _ sink: String, _ title: String, server: SoundServer?, _ processGuard: ProcessGuard
  ) throws(CarWindowError) -> Resources {
    var environment = CarWindow.environment
    if let server {
      environment.merge(server.environment) { $1 }
    } else if !mayHaveServer(environment) {
      throw CarWindowError(.failed, "this session has none")
    }
    var (reading, writing): (Int32, Int32) = (-1, -1)
    guard linux_pipe(&reading, &writing) == 0 else {
      throw CarWindowError(.failed, "\(LinkError.system(operation: "pipe", errno: errno))")
    }
    defer { close(writing) }
    let process: GuardedProcess
    do throws(CarWindowError) {
      process = try GuardedProcess(
        GuardedProcess.Command(
          arguments: [processGuard.command[0], SoundProcess.argument, sink, "Car (\(title))"], environment: environment,
          folder: "/", passed: writing, privateFolder: nil), guardedBy: processGuard)
    } catch {
      close(reading)
      throw error
    }
    let resources = Resources(server, process, reading)
    try waitUntilReady(resources)
    return resources
  }

  /// libpulse's search for a server would make folders in a home that has nothing of it.
  private static func mayHaveServer(_ environment: [String: String]) -> Bool {
    let names = ["PULSE_SERVER", "PULSE_RUNTIME_PATH", "XDG_RUNTIME_DIR"]
    return names.contains { environment[$0] != nil } || access("\(environment["HOME"] ?? "")/.config/pulse", F_OK) == 0
  }

  private static func waitUntilReady(_ resources: Resources) throws(CarWindowError) {
    let process = resources.process
    let deadline = MonotonicClock.now + startTimeout
    while true {
      var polled = [process.reports, process.output].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      _ = poll(&polled, nfds_t(polled.count), 1000)
      if let bytes = process.takeOutput(), resources.tail.append(bytes).contains(SoundProcess.ready) { return }
      if let exit = process.takeExit() {
        if let bytes = process.takeOutput() { _ = resources.tail.append(bytes) }
        guard exit != .status(SoundProcess.missing) else {
          throw CarWindowError(.missing, "Sound needs libpulse: install libpulse0")
        }
        throw CarWindowError(.failed, resources.tail.lines.last ?? "it ended \(exit)")
      }
      guard MonotonicClock.now < deadline else { throw CarWindowError(.failed, "it does not answer") }
    }
  }

  /// Reports what comes, on a thread.
  /// - Parameter tellsSilence: whether ``Event/silence`` is reported.
  package func start(
    tellsSilence: Bool, report: @escaping @Sendable (Event) -> Void
  ) throws(CarWindowError) {
    do {
      try wakeUp.open()
      let resources = resources.withLock { $0 }
      try thread.start { [self] in run(resources, tellsSilence, report) }
    } catch {
      throw CarWindowError(.failed, "The thread for the sound could not be started: \(error)")
    }
  }

  private func run(_ resources: Resources, _ tellsSilence: Bool, _ report: (Event) -> Void) {
    let process = resources.process
    var bytes = [UInt8](repeating: 0, count: 4096)
    while !isStopping.withLock({ $0 }) {
      let all = [wakeUp.descriptor, resources.samples, process.reports, process.output, resources.server?.output ?? -1]
      var polled = all.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let ready = poll(&polled, nfds_t(polled.count), tellsSilence ? Self.tick : -1)
      wakeUp.clear()
      let count = read(resources.samples, &bytes, bytes.count)
      if count > 0 { report(.samples(Array(bytes[..<count]))) } else if ready == 0 { report(.silence) }
      if let output = process.takeOutput() { _ = resources.tail.append(output) }
      resources.server?.discardOutput()
      if process.takeEnd() {
        let reason = resources.tail.lines.last { $0 != SoundProcess.ready } ?? "its process has ended"
        return report(.lost(CarWindowError(.failed, "The sound server is gone: \(reason)")))
      }
    }
  }

  /// Takes the sink away, and waits for that.
  package func stop() {
    isStopping.change { $0 = true }
    wakeUp.signal()
    thread.join()
    let resources = resources.withLock { $0 }
    resources.process.end(within: .seconds(5))
    resources.server?.stop()
  }
}
