import CVersion
import Discovery
import Glibc
import SDLHeadUnit
import SDLHeadUnitLink

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
      var signal: Int32 = 0
      sigwait(&signals, &signal)
      announcement = nil
      server.stop()
      server.join()
    } catch {
      leave("\(error)")
    }
    printer.finishRecordings()
    printLine(printer.summary)
    OutputLines.finish()
    exit(printer.hasViolations && options.isChecking ? 1 : 0)
  }

  private static func leave(_ text: String) -> Never {
    let line = Array("sdl-head-unit: \(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(2)
  }
}
