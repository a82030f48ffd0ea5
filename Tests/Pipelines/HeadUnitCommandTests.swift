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
        "summary messages=0 bytes=0 pictures=0 key-frames=0 violations=0",
      ])
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
