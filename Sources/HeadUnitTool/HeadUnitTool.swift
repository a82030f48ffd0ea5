import CVersion
import Discovery
import Glibc
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
    // Blocked before the first thread starts, so that only sigwait receives them.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &signals, nil)

    var ending = Ending.signal(0)
    do {
      try OutputLines.start()
      try printer.startRecordings()
      let server = try HeadUnitServer(
        configuration: options.headUnit, address: options.address, port: options.port, admission: options.admission,
        script: options.script, tls: options.tls, observer: printer)
      printLine("listening \(server.port ?? 0)")
      if let port = server.secondaryPort { printLine("secondary transport \(port)") }
      var announcement: HeadUnitAnnouncement?
      if options.isAnnounced, let port = server.port {
        announcement = try HeadUnitAnnouncement(port: port)
        printLine("announced \(announcement?.name ?? "")")
      }
      try server.start()
      if options.takesCommands { try RemoteControl.start(server: server, apps: printer) }
      ending = wait(for: &signals, options.deadline)
      announcement = nil
      server.stop()
      server.join()
    } catch {
      leave("\(error)")
    }
    printer.finishRecordings()
    printLine(printer.summary)
    OutputLines.finish()
    if printer.hasFindings { exit(1) }
    guard options.leavesWithApp, !printer.isOver else { exit(0) }
    switch ending {
    case .deadline: exit(3)
    // As from a shell whose program was ended by it.
    case .signal(let number): exit(128 + number)
    }
  }

  private enum Ending {
    case signal(Int32)
    case deadline
  }

  private static func wait(for signals: inout sigset_t, _ deadline: Duration?) -> Ending {
    let end = deadline.map { MonotonicClock.now + $0 }
    while true {
      var number: Int32 = 0
      if let end {
        let rest = max(end - MonotonicClock.now, .zero).components
        var time = timespec(
          tv_sec: Int(rest.seconds), tv_nsec: Int(rest.attoseconds / 1_000_000_000))
        number = sigtimedwait(&signals, nil, &time)
        // Interrupted by a signal that is not waited for, such as the end of a pause (SIGCONT).
        if number < 0, errno == EINTR { continue }
        return number < 0 ? .deadline : .signal(number)
      }
      sigwait(&signals, &number)
      return .signal(number)
    }
  }

  private static func leave(_ text: String) -> Never {
    let line = Array("sdl-head-unit: \(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(2)
  }
}
