import Foundation
import Testing

/// A folder that is deleted with the test.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "sdl-pipelines-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  func path(_ name: String) -> String { url.appending(path: name).path }

  func text(_ name: String) -> String {
    (try? Data(contentsOf: url.appending(path: name))).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

/// A program that uses the plugin: it finds no other one in GST_PLUGIN_PATH, and warnings of GLib end it.
final class Program {
  /// Its output and its exit status.
  struct Result: CustomStringConvertible {
    var status: Int32
    var output: String
    var errors: String

    var description: String { "status \(status)\n\(output)\n\(errors)" }
  }

  /// A test that takes longer than this many seconds hangs.
  private let testTimeout: TimeInterval
  private let process = Process()
  private let folder: TemporaryFolder
  private let name = UUID().uuidString

  /// - Parameters:
  ///   - arguments: the program, found in PATH, and what it gets.
  ///   - folder: for its output and its registry.
  ///   - input: its standard input, a Pipe or a FileHandle.
  ///   - testTimeout: the longest wait for its end or for what it says, in seconds.
  init(
    _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:],
    input: Any = FileHandle.nullDevice, testTimeout: TimeInterval = 120
  ) throws {
    self.folder = folder
    self.testTimeout = testTimeout
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    // Nor does it open windows on the screen of the person who runs the tests.
    var variables = Installation.environment
    variables["GST_PLUGIN_PATH"] = try Installation.pluginFolder.path
    variables["GST_REGISTRY"] = folder.path("registry.bin")
    if let registry = Installation.registry {
      // A copy, since some programs have plugins of their own. The folder may have one from an earlier program.
      try? FileManager.default.copyItem(at: registry, to: folder.url.appending(path: "registry.bin"))
    }
    variables["G_DEBUG"] = "fatal-warnings"
    variables["LC_ALL"] = "C.UTF-8"
    process.environment = variables.merging(environment) { $1 }
    process.standardInput = input
    process.standardOutput = try file("out")
    process.standardError = try file("err")
    Self.restoreInterrupt
    try Self.withoutBlockedSignals { try process.run() }
  }

  /// A shell that runs the tests in the background ignores Ctrl-C, and a child would inherit that.
  private static let restoreInterrupt: Void = { Foundation.signal(SIGINT, SIG_DFL) }()

  /// Threads of a pool block signals, and a child would inherit that.
  private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
    var none = sigset_t()
    var former = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    try body()
  }

  deinit {
    if process.isRunning { signal(SIGKILL) }
  }

  /// To the program and those that it has started: Foundation puts each program into a group of its own.
  func signal(_ signal: Int32) {
    Foundation.kill(-process.processIdentifier, signal)
  }

  /// Whether the program, or one that it has started, is still there.
  var isGroupAlive: Bool { Foundation.kill(-process.processIdentifier, 0) == 0 }

  /// Files rather than pipes, which could fill up while they are not read.
  private func file(_ stream: String) throws -> FileHandle {
    let url = folder.url.appending(path: "\(name).\(stream)")
    guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
      throw Installation.Missing(description: "\(url.path) can't be written")
    }
    return try FileHandle(forWritingTo: url)
  }

  /// What it has written to the standard output so far.
  var output: String { folder.text("\(name).out") }
  private var errors: String { folder.text("\(name).err") }

  /// Asks it to end, and the programs that it has started, as Ctrl-C does in a terminal.
  func interrupt() {
    signal(SIGINT)
  }

  /// Stops it, and the programs that it has started, for a while, as a machine does that stands still.
  func standStill(seconds: TimeInterval) {
    signal(SIGSTOP)
    Thread.sleep(forTimeInterval: seconds)
    signal(SIGCONT)
  }

  /// Ends the program without its knowing, and leaves those that it has started alone.
  func kill() {
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Asks it to end, and waits for that.
  func end() {
    guard process.isRunning else { return }
    signal(SIGTERM)
    process.waitUntilExit()
  }

  /// Whether the program itself has not ended.
  var isRunning: Bool { process.isRunning }

  /// Waits for its end.
  func wait(sourceLocation: SourceLocation = #_sourceLocation) -> Result {
    let isOver = waitUntil { !process.isRunning }
    if !isOver {
      signal(SIGKILL)
      Issue.record("\(process.arguments ?? []) hangs:\n\(output)\n\(errors)", sourceLocation: sourceLocation)
    }
    process.waitUntilExit()
    return Result(status: process.terminationStatus, output: output, errors: errors)
  }

  /// Waits for its end, or for an error. gst-launch does not end at one that comes before its main loop runs, whichever
  /// element posts it, but only at Ctrl-C.
  fileprivate func interruptAfterEarlyError() {
    _ = waitUntil { !process.isRunning || errors.contains("ERROR: ") }
    let deadline = Date(timeIntervalSinceNow: 10)
    while process.isRunning, Date() < deadline { Thread.sleep(forTimeInterval: 0.01) }
    if process.isRunning, errors.contains("ERROR: ") { interrupt() }
  }

  /// Waits until the program has written what `match` looks for.
  @discardableResult
  func waitForOutput<R>(_ match: (String) -> R?) throws -> R {
    var result: R?
    guard
      waitUntil({
        result = match(output)
        return result != nil || !process.isRunning
      }), let result = result ?? match(output)
    else { throw Installation.Missing(description: "expected output is missing:\n\(output)\n\(errors)") }
    return result
  }

  /// Waits until `condition` holds.
  func wait(until condition: () -> Bool) throws {
    guard waitUntil({ condition() || !process.isRunning }), condition() else {
      throw Installation.Missing(description: "the condition did not come true:\n\(output)\n\(errors)")
    }
  }

  private func waitUntil(_ condition: () -> Bool) -> Bool {
    let deadline = Date(timeIntervalSinceNow: testTimeout)
    while !condition() {
      guard Date() < deadline else { return false }
      Thread.sleep(forTimeInterval: 0.01)
    }
    return true
  }

  /// Runs a program to its end.
  static func run(
    _ arguments: String..., in folder: TemporaryFolder, environment: [String: String] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Result {
    try Program(arguments, in: folder, environment: environment).wait(sourceLocation: sourceLocation)
  }
}

extension TemporaryFolder {
  /// Makes a program of a shell's script. A shell writes it: nobody can run a file that is open for writing (ETXTBSY),
  /// and it would be so in each program that another test starts meanwhile.
  func makeProgram(_ name: String, _ script: String) throws {
    let write = #"printf %s "$2" > "$1" && chmod 755 "$1""#
    let result = try Program.run("sh", "-c", write, "sh", path(name), script, in: self)
    try #require(result.status == 0, "\(result)")
  }

  /// Runs gst-launch-1.0 with a pipeline, split at spaces.
  func launch(
    _ pipeline: String, environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Program.Result {
    let arguments = pipeline.split(whereSeparator: \.isWhitespace).map(String.init)
    let program = try Program(["gst-launch-1.0"] + arguments, in: self, environment: environment)
    program.interruptAfterEarlyError()
    return program.wait(sourceLocation: sourceLocation)
  }
}

/// `sdl-head-unit`, which listens on a free port.
final class HeadUnitProgram {
  private let program: Program
  private let input = Pipe()
  let port: Int

  convenience init(in folder: TemporaryFolder, _ arguments: String...) throws {
    try self.init(in: folder, arguments: arguments)
  }

  init(in folder: TemporaryFolder, arguments: [String]) throws {
    program = try Program([Installation.headUnitTool.path, "--port", "0"] + arguments, in: folder, input: input)
    port = try program.waitForOutput { output in
      output.firstMatch(of: /(?m)^listening.*?(\d+)$/).flatMap { Int($0.1) }
    }
  }

  var uri: String { "sdl://127.0.0.1:\(port)" }

  /// Writes commands to its standard input, which it reads only with the option `--commands`.
  func command(_ lines: String...) throws {
    // Writing to a program that has ended would end this one.
    guard program.isRunning else { throw Installation.Missing(description: "the head unit has ended") }
    try input.fileHandleForWriting.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
  }

  /// The port of `--websocket`.
  func webSocketPort() throws -> Int {
    try program.waitForOutput { $0.firstMatch(of: /(?m)^websocket (\d+)$/).flatMap { Int($0.1) } }
  }

  /// Waits until the head unit has written this.
  func waitForOutput(_ text: String) throws { try program.waitForOutput { $0.contains(text) ? true : nil } }

  func interrupt() { program.interrupt() }

  func signal(_ signal: Int32) { program.signal(signal) }

  func waitForEnd() -> Program.Result { program.wait() }
}
