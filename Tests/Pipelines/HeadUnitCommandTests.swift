import Foundation
import Testing

/// The standard input of `sdl-head-unit`.
@Suite struct HeadUnitCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Runs the program with these lines until it has written `last`; then asks it to end.
  private func headUnit(_ lines: String, until last: String, options: String...) throws -> Program.Result {
    try Data(lines.utf8).write(to: folder.url.appending(path: "commands"))
    let script = "exec \"$0\" --port 0 \"$@\" < commands"
    let program = try Program(
      ["sh", "-c", "cd \"$1\" && shift && \(script)", Installation.headUnitTool.path, folder.url.path] + options,
      in: folder)
    try program.waitForOutput { $0.contains(last) ? true : nil }
    program.interrupt()
    return program.wait()
  }

  /// The head unit goes on after the end of its input, here in the middle of a line.
  @Test func answers() throws {
    let result = try headUnit(
      "lvel full\n\nhelp\nphone-call on\n\(String(repeating: "x", count: 5000))\nactivate 1\ncut",
      until: "registered\ncommand without effect", options: "--commands")
    #expect(result.status == 0)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(
      lines.dropFirst().first?.hasPrefix("command not understood: unknown command \"lvel\"; there are level, ") == true)
    #expect(lines.contains("resize WxH [scale S]"))
    #expect(
      lines.suffix(4) == [
        "command too long", "command without effect: no app is registered",
        "command without effect: no app is registered",
        "summary messages=0 bytes=0 pictures=0 key-frames=0 violations=0 vanished=0",
      ])
  }

  /// Of Ctrl-C, of a service manager, and of a terminal that is closed.
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func endsAtASignal(_ signal: Int32) throws {
    let headUnit = try HeadUnitProgram(in: folder)
    headUnit.signal(signal)
    let result = headUnit.waitForEnd()
    #expect(result.status == 0 && result.output.contains("\nsummary messages=0 "), "\(result)")
  }

  @Test func outlivesItsTerminalUnderNohup() throws {
    let headUnit = try Program(["nohup", Installation.headUnitTool.path, "--port", "0", "--app-exits"], in: folder)
    try headUnit.waitForOutput { $0.contains("listening") ? true : nil }
    headUnit.signal(SIGHUP)
    headUnit.interrupt()
    #expect(headUnit.wait().status == 130)
  }

  private static let withoutApp = "warning: script, line 2 without effect, no app is registered: at 0: cut\n"

  @Test func script() throws {
    let file = folder.url.appending(path: "script.txt")
    try Data("# No app is registered.\nat 0: cut # so this has no effect\n".utf8).write(to: file)
    let result = try headUnit("", until: "script", options: "--script", file.path)
    #expect(result.status == 0 && result.output.contains(Self.withoutApp), "\(result)")
    try Data("at 0: cut\n\nat once: cut\n".utf8).write(to: file)
    let wrong = try Program([Installation.headUnitTool.path, "--port", "0", "--script", file.path], in: folder).wait()
    #expect(wrong.status == 2 && wrong.errors.contains("script.txt, line 3: \"once\" is no time"), "\(wrong)")
  }

  private static let registeringApp =
    Installation.package.appending(path: "Tests/Pipelines/Programs/register.py").path

  /// An app that is registered or refused, and stays until its input is closed.
  private func app(
    _ name: String, _ id: String, port: String, answer: String = "SUCCESS", vanishes: Bool = false, until input: Pipe
  ) throws -> Program {
    let options = vanishes ? ["vanishes"] : []
    let app = try Program(
      ["/usr/bin/python3", Self.registeringApp, port, name, id] + options, in: folder, input: input)
    try app.waitForOutput { $0 == "\(answer)\n" ? true : nil }
    return app
  }

  /// A refused app does not end the test of another one; the log tells of both, and a name is no line of it.
  @Test(arguments: [
    ("--app-exits", "1 disconnected"), ("--app-exits=2", "1 disconnected"), ("--app-exits=1", "3 disconnected"),
  ])
  func endsWithItsApps(option: String, last: String) throws {
    let headUnit = try Program([Installation.headUnitTool.path, "--port", "0", option], in: folder)
    let port = try headUnit.waitForOutput { $0.firstMatch(of: /listening (\d+)\n/).map { String($0.1) } }
    let (first, second, third) = (Pipe(), Pipe(), Pipe())
    let apps = [
      try app("Map", "1", port: port, answer: "SUCCESS", until: first),
      try app("Map", "2", port: port, answer: "DUPLICATE_NAME", until: second),
      try app("Radio\r9 registered", "3", port: port, answer: "SUCCESS", until: third),
    ]
    for (input, end) in [(second, "2 disconnected"), (third, "3 disconnected"), (first, "1 disconnected")] {
      #expect(headUnit.isGroupAlive)
      try input.fileHandleForWriting.close()
      try headUnit.waitForOutput { $0.contains(end) ? true : nil }
      if end == last { break }
    }
    let result = headUnit.wait()
    for input in [first, second, third] { try? input.fileHandleForWriting.close() }
    for app in apps { #expect(app.wait().status == 0) }
    #expect(result.status == 0, "\(result)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.contains { $0.wholeMatch(of: /\[\d+\.\d{3}\] 1 registered "Map" \(id "1", .*: SUCCESS/) != nil })
    #expect(
      lines.contains {
        $0.wholeMatch(of: /\[\d+\.\d{3}\] 2 registration of "Map" \(id "2"\) refused: DUPLICATE_NAME/) != nil
      }
    )
    #expect(lines.contains { $0.contains(#"3 registered "Radio\u{D}9 registered" (id "3","#) })
    #expect(!lines.contains { $0.hasPrefix("9 ") }, "\(result)")
  }

  enum End: Sendable {
    case app(vanishes: Bool)
    case command(String)
    case signal
    case deadline
  }

  /// The table of exit statuses in docs/testing-without-a-car.md.
  @Test(arguments: [
    (["--app-exits"], End.app(vanishes: false), 0, "violations=0 vanished=0"),
    (["--app-exits"], .app(vanishes: true), 5, "violations=0 vanished=1"),
    (["--app-exits", "--no-checks"], .app(vanishes: true), 0, "vanished=0"),
    (["--app-exits"], .command("cut"), 0, "vanished=0"),
    (["--app-exits"], .command("ignition-off"), 0, "vanished=0"),
    (["--app-exits", "--deadline", "60"], .app(vanishes: false), 0, "vanished=0"),
    (["--app-exits=2"], .signal, 130, "vanished=0"), ([], .signal, 0, "vanished=0"),
    (["--app-exits", "--deadline", "0.5"], .deadline, 6, "vanished=0"),
    (["--wait-app", "0.5"], .deadline, 4, "vanished=0"),
    (["--wait-app", "60", "--deadline", "60", "--app-exits"], .app(vanishes: false), 0, "vanished=0"),
  ])
  func exitStatus(options: [String], end: End, status: Int32, summary: String) throws {
    let commands = Pipe()
    let headUnit = try Program(
      [Installation.headUnitTool.path, "--port", "0", "--commands"] + options, in: folder, input: commands)
    let port = try headUnit.waitForOutput { $0.firstMatch(of: /listening (\d+)\n/).map { String($0.1) } }
    let input = Pipe()
    switch end {
    case .deadline: break
    case .app(let vanishes):
      let app = try app("Map", "1", port: port, vanishes: vanishes, until: input)
      try input.fileHandleForWriting.close()
      _ = app.wait()
    case .command(let command):
      let app = try app("Map", "1", port: port, until: input)
      commands.fileHandleForWriting.write(Data("\(command)\n".utf8))
      try headUnit.waitForOutput { $0.contains(command == "cut" ? "disconnected" : "unregistered") ? true : nil }
      try input.fileHandleForWriting.close()
      _ = app.wait()
    case .signal: headUnit.interrupt()
    }
    let result = headUnit.wait()
    try? commands.fileHandleForWriting.close()
    #expect(result.status == status && result.output.contains(summary), "\(result)")
    #expect(result.output.contains("has vanished") == (status == 5))
  }

  @Test(arguments: [
    (["--deadline", "5"], "--deadline needs --app-exits, --test, or a program after --"),
    (["--log-media"], "--log-files, --log-media and --blank need --log"), (["--"], "there is no program after --"),
    (["--", "/nonexistent"], "start /nonexistent"), (["--log", "/nonexistent/log"], "open /nonexistent/log"),
    (["--tls-server", "--encryption", "accept"], "--tls-server needs --certificate and --private-key"),
    (["--app-exits", "--deadline", "0"], "--deadline does not take"),
    (["--grant", "RemoteControl"], "there are Base-4, Location-1,"),
  ])
  func invalidOptions(options: [String], text: String) throws {
    let result = try Program([Installation.headUnitTool.path, "--port", "0"] + options, in: folder).wait()
    #expect(result.status == 2 && result.errors.contains(text), "\(result)")
  }

  /// What it prints is not read, and is more than a pipe holds: apps are served all the same, and it can be ended.
  @Test func readerThatReadsNothing() throws {
    let commands = String(repeating: "help\n", count: 200)
    try Data(commands.utf8).write(to: folder.url.appending(path: "commands"))
    let script = """
      cd "$1" && "$0" --port 0 --commands < commands | { read -r line; echo "$line"; sleep 60; }
      """
    let program = try Program(["sh", "-c", script, Installation.headUnitTool.path, folder.url.path], in: folder)
    let port = try program.waitForOutput { $0.firstMatch(of: /listening (\d+)\n/).map { String($0.1) } }
    let input = Pipe()
    let app = try app("Map", "1", port: port, answer: "SUCCESS", until: input)
    try input.fileHandleForWriting.close()
    #expect(app.wait().status == 0)
    program.interrupt()
    #expect(program.wait().errors == "")
  }

  /// Nor does a reader that has gone end it.
  @Test func readerThatHasGone() throws {
    try Data(String(repeating: "help\n", count: 200).utf8).write(to: folder.url.appending(path: "commands"))
    let script = "cd \"$1\" && \"$0\" --port 0 --commands < commands | { read -r line; echo \"$line\" >&2; }"
    let program = try Program(
      ["sh", "-c", "{ \(script); } 2>&1", Installation.headUnitTool.path, folder.url.path], in: folder)
    let port = try program.waitForOutput { $0.firstMatch(of: /listening (\d+)\n/).map { String($0.1) } }
    for id in ["1", "2"] {
      let input = Pipe()
      let app = try app("Map \(id)", id, port: port, answer: "SUCCESS", until: input)
      try input.fileHandleForWriting.close()
      #expect(app.wait().status == 0)
    }
    #expect(program.isGroupAlive)
    program.interrupt()
    _ = program.wait()
  }

  /// The port for secondary transports is printed, of the option and of a preset; one that is taken is an error.
  @Test func secondaryTransport() throws {
    for options in [["--secondary-transport", "0"], ["--preset", "bluetooth-and-wifi"]] {
      let program = try Program([Installation.headUnitTool.path, "--port", "0"] + options, in: folder)
      let port = try program.waitForOutput { $0.firstMatch(of: /secondary transport (\d+)\n/).map { String($0.1) } }
      let other = try Program(
        [Installation.headUnitTool.path, "--port", "0", "--secondary-transport", port], in: folder
      ).wait()
      #expect(other.status == 2 && other.errors.contains(port), "\(other)")
      program.interrupt()
      #expect(program.wait().status == 0)
    }
  }

  @Test func inputIsLeftAloneWithoutTheOption() throws {
    let result = try headUnit("help\n", until: "listening")
    #expect(result.status == 0 && result.output.split(separator: "\n").count == 2, "\(result)")
  }
}
