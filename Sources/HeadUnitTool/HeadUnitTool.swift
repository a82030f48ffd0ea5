import CLinux
import CVersion
import Discovery
import Glibc
import HeadUnitControl
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink

/// A head unit for tests of apps: prints what they do and records their video and sound.
@main
enum HeadUnitTool {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--help") {
      print(Options.usage)
      exit(0)
    }
    if arguments.contains("--version") {
      print("sdl-head-unit \(GST_SMARTDEVICELINK_VERSION)")
      exit(0)
    }
    let options: Options
    do {
      options = try Options(arguments: arguments)
    } catch {
      leave("\(error.text)\nTry sdl-head-unit --help.")
    }
    let printer: EventPrinter
    do {
      // A pipe is opened when it has a reader: until then signals end the program.
      printer = try EventPrinter(options: options)
    } catch {
      leave("\(error)")
    }
    // A reader that goes away is an error of the write.
    signal(SIGPIPE, SIG_IGN)
    // Before the first thread starts, so that only sigwait receives them.
    var signals = linux_block_ending_signals()

    var ending = Ending.signal(0)
    var program: ChildProgram?
    do {
      try OutputLines.start()
      try printer.startRecordings()
      let server = try HeadUnitServer(
        configuration: options.headUnit, address: options.address, port: options.port, admission: options.admission,
        script: options.script, tls: options.tls, observer: printer)
      let webSocketPort = try options.webSockets.apply(to: server.webSockets, address: options.address)
      printer.noteStart(
        port: server.port ?? 0, secondaryPort: server.secondaryPort, webSocketPort: webSocketPort)
      var announcement: HeadUnitAnnouncement?
      if options.isAnnounced, let port = server.port {
        announcement = try HeadUnitAnnouncement(port: port)
        if !options.logsToOutput { printLine("announced \(announcement?.name ?? "")") }
      }
      if let shape = options.shape { server.perform(.shape(shape)) }
      try printer.takePictures(of: server)
      try server.start()
      try printer.startControl(of: server)
      if options.takesCommands { try RemoteControl.start(server: server, apps: printer) }
      if !options.program.isEmpty, let port = server.port { program = try start(options, port, printer) }
      ending = wait(for: &signals, options, printer)
      announcement = nil
      // What is cut short has not failed for that.
      let isCutShort = !printer.isOver
      let finding = printer.finding
      server.stop()
      server.join()
      program?.end()
      var status = status(options, ending, isCutShort ? finding : printer.finding, isCutShort, program)
      printer.noteEnd(program?.status, exitStatus: status)
      printer.finishRecordings()
      if let failure = printer.writingFailure {
        report(failure)
        if status == 0 { status = 2 }
      }
      OutputLines.finish()
      exit(status)
    } catch {
      program?.end()
      leave("\(error)")
    }
  }

  private static func start(
    _ options: Options, _ port: UInt16, _ printer: EventPrinter
  ) throws(LinkError) -> ChildProgram {
    let environment = ["SDL_URI": options.uri(port), "SDL_PORT": "\(port)"]
    return try ChildProgram(
      options.program, environment: environment, output: { printer.noteOutput($0) },
      ended: { status in
        printer.note(line: "the program has ended: \(status)", isPrinted: !options.isQuiet)
        // A test goes on until its expectations have ended.
        if !options.endsWithTest || !options.script.isTest { printer.end() } else { printer.noteProgramEnd() }
      })
  }

  private enum Ending {
    case signal(Int32)
    case deadline
    case noApp
  }

  private static func status(
    _ options: Options, _ ending: Ending, _ finding: EventPrinter.Finding?, _ isCutShort: Bool,
    _ program: ChildProgram?
  ) -> Int32 {
    switch finding {
    case .expectation: return 3
    case .violation: return 1
    case .vanished: return 5
    case nil: break
    }
    if program?.hasFailed == true { return 7 }
    switch ending {
    case .noApp: return 4
    case .deadline: return 6
    // As from a shell whose program was ended by it.
    case .signal(let number):
      return (options.leavesWithApp || options.endsWithTest) && isCutShort ? 128 + number : 0
    }
  }

  private static func wait(for signals: inout sigset_t, _ options: Options, _ printer: EventPrinter) -> Ending {
    let start = MonotonicClock.now
    while true {
      let appDeadline = printer.hasAppCome ? nil : options.appDeadline
      var number: Int32 = 0
      if let time = [options.deadline, appDeadline].compactMap(\.self).min() {
        let rest = max(start + time - MonotonicClock.now, .zero).components
        var time = timespec(
          tv_sec: Int(rest.seconds), tv_nsec: Int(rest.attoseconds / 1_000_000_000))
        number = sigtimedwait(&signals, nil, &time)
      } else {
        sigwait(&signals, &number)
      }
      if number > 0 { return .signal(number) }
      // Interrupted by a signal that is not waited for, such as the end of a pause (SIGCONT).
      if errno == EINTR { continue }
      if let appDeadline, MonotonicClock.now >= start + appDeadline, !printer.hasAppCome { return .noApp }
      if let deadline = options.deadline, MonotonicClock.now >= start + deadline { return .deadline }
    }
  }

  private static func report(_ text: String) {
    let line = Array("sdl-head-unit: \(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }

  private static func leave(_ text: String) -> Never {
    report(text)
    exit(2)
  }
}
