import CLinux
import Foundation
import Testing

@testable import CarWindow

/// A program below a guard, without a screen.
@Suite struct GuardedProcessTests {
  private func nextReport(of process: GuardedProcess) -> GuardedProcess.Report? {
    var polled = pollfd(fd: process.reports, events: Int16(POLLIN), revents: 0)
    poll(&polled, 1, 60_000)
    return process.takeReport()
  }

  /// Of what a descriptor stands for; its number may be that of another one soon.
  private func inode(of descriptor: Int32) -> ino_t? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status.st_ino : nil
  }

  // It is built beside the tests.
  private static let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "sdl-car-window").path

  /// What the program gets as its descriptor 3, and the other end.
  private func makePipe() throws -> (reading: FileHandle, writing: FileHandle) {
    var (reading, writing): (Int32, Int32) = (-1, -1)
    try #require(linux_pipe(&reading, &writing) == 0)
    _ = fcntl(reading, F_SETFL, 0)
    return (
      FileHandle(fileDescriptor: reading, closeOnDealloc: true),
      FileHandle(fileDescriptor: writing, closeOnDealloc: true)
    )
  }

  private func start(
    _ arguments: [String], name: String = "", folder: String? = nil, passed: Int32? = nil, privateFolder: String? = nil
  ) throws -> GuardedProcess {
    var environment = ProcessInfo.processInfo.environment
    environment["NAME_OF_THE_TEST"] = name
    return try GuardedProcess(
      GuardedProcess.Command(
        arguments: arguments, environment: environment, folder: folder, passed: passed, privateFolder: privateFolder),
      guardedBy: ProcessGuard(command: [Self.tool, "--process-guard"]))
  }

  /// Until it has ended and its output is closed, or `text` has come.
  private func read(
    _ process: GuardedProcess, until text: String? = nil
  ) -> (exit: GuardedProcess.Exit?, output: String) {
    var (exit, output): (GuardedProcess.Exit?, [UInt8]) = (nil, [])
    for _ in 0..<300 where exit == nil || process.output >= 0 {
      var polled = [process.reports, process.output].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      poll(&polled, nfds_t(polled.count), 100)
      if let bytes = process.takeOutput() { output += bytes }
      exit = process.takeExit() ?? exit
      if let text, String(decoding: output, as: UTF8.self).contains(text) { break }
    }
    return (exit, String(decoding: output, as: UTF8.self))
  }

  /// What the command says: environment, folder, a descriptor, and a folder that goes with it. Nothing stays open.
  @Test func commandOfAProgram() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data().write(to: folder.appending(path: "file"))
    let pipe = try makePipe()
    let process = try start(
      ["sh", "-c", "pwd; echo \"$NAME_OF_THE_TEST\"; echo error >&2; echo passed >&3; exit 7"], name: "a test",
      folder: "/usr", passed: pipe.writing.fileDescriptor, privateFolder: folder.path)
    #expect(process.name == "sh")
    try pipe.writing.close()
    let (exit, output) = read(process)
    #expect(exit == .status(7) && output == "/usr\na test\nerror\n", "\(output)")
    // The guard has closed its own as well.
    #expect(try pipe.reading.readToEnd() == Data("passed\n".utf8))
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    #expect(process.reports == -1 && process.output == -1)
    #expect(process.takeReport() == nil && process.takeOutput() == nil && !process.takeEnd())
  }

  @Test func folderOfThisProcess() throws {
    let (exit, output) = read(try start(["pwd", "-P"]))
    #expect(exit == .status(0))
    #expect(output == FileManager.default.currentDirectoryPath + "\n")
  }

  @Test(arguments: [("/nonexistent/program", nil), ("pwd", "/nonexistent")] as [(String, String?)])
  func programThatCannotStart(program: String, folder: String?) throws {
    let process = try start([program], folder: folder)
    var report = nextReport(of: process)
    // The guard may report the start before the failure or after it.
    if case .started = report { report = nextReport(of: process) }
    #expect(report == .failed(ENOENT))
    #expect(read(try start([program], folder: folder)).exit == .status(127))
  }

  /// It gets SIGTERM as soon as nobody needs it, and has time for a clean exit.
  @Test(arguments: [true, false]) func endsWithItsOwner(isToldFirst: Bool) throws {
    // The shell would tell of the end of `sleep`, which nobody reads without the owner. The trap comes after it: until
    // the shell's child has become `sleep`, it would have that as well.
    let script = "exec 2>/dev/null; sleep 1000 3>&- & trap 'echo end >&3; exit 3' TERM; echo ready; wait"
    let pipe = try makePipe()
    var process: GuardedProcess? = try start(
      ["sh", "-c", script], passed: pipe.writing.fileDescriptor)
    try pipe.writing.close()
    let ready = try read(#require(process), until: "ready\n")
    #expect(ready.exit == nil && ready.output == "ready\n")
    if isToldFirst {
      process?.terminate()
      #expect(try read(#require(process)).exit == .status(3))
    }
    process = nil
    let written = String(decoding: try pipe.reading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(written == "end\n")
  }

  /// A program may write more than a pipe holds before it can end.
  @Test func endOfATalkativeProgram() throws {
    let script = "sleep 1000 3>&- & trap 'head -c 300000 /dev/zero; echo end >&3; exit 0' TERM; echo ready; wait"
    let pipe = try makePipe()
    let process = try start(["sh", "-c", script], passed: pipe.writing.fileDescriptor)
    try pipe.writing.close()
    #expect(read(process, until: "ready\n").output == "ready\n")
    process.end(within: .seconds(30))
    #expect(process.reports == -1)
    #expect(try pipe.reading.readToEnd() == Data("end\n".utf8))
  }

  /// A program asks at its start whether it is to guard another one, or to make sound.
  @Test func argumentsOfItsOwn() {
    for arguments in [[], ["program"], ["program", "sh"], ["program", "sh", "--process-guard"]] {
      #expect(ProcessGuard.run(arguments) == nil && SoundProcess.run(arguments) == nil, "\(arguments)")
    }
    // Without a command there is nothing to guard; the sound process needs a title as well.
    #expect(ProcessGuard.run(["program", "--process-guard"]) == 2)
    #expect(SoundProcess.run(["program", "--sound-process", "sink"]) == nil)
  }

  @Test func programsInPath() throws {
    #expect(CarWindow.path(of: "no-such-program-anywhere") == nil)
    let path = try #require(CarWindow.path(of: "sh"))
    #expect(path.hasSuffix("/sh") && FileManager.default.isExecutableFile(atPath: path))
  }

  /// As waitpid(2) says it, with or without a core dump, and as shells and people do.
  @Test(
    arguments: [
      (0, .status(0), 0, "with the status 0"), (0x0700, .status(7), 7, "with the status 7"),
      (0xFF00, .status(255), 255, "with the status 255"), (9, .signal(9), 137, "by signal 9"),
      (0x8B, .signal(11), 139, "by signal 11"),
    ] as [(Int32, GuardedProcess.Exit, Int32, String)])
  func exits(waitStatus: Int32, exit: GuardedProcess.Exit, status: Int32, text: String) {
    let found = GuardedProcess.Exit(waitStatus: waitStatus)
    #expect(found == exit && found.status == status && "\(found)" == text)
  }

  /// Nothing is known of the program then, and nothing is kept for it.
  @Test func theGuardIsKilled() throws {
    let process = try start(["sleep", "1000"])
    guard case .started(let program)? = nextReport(of: process) else {
      Issue.record("It is not started.")
      return
    }
    defer { kill(program, SIGKILL) }
    // After the name, which may have spaces, the state and the parent.
    let fields = try String(contentsOfFile: "/proc/\(program)/stat", encoding: .utf8).split(separator: ")").last
    let parent = try #require(fields?.split(separator: " ").dropFirst().first.flatMap { Int32($0) })
    try #require(parent > 1)
    let reports = process.reports
    let pipe = try #require(inode(of: reports))
    kill(parent, SIGKILL)
    #expect(nextReport(of: process) == .ended(.signal(SIGKILL)))
    #expect(process.reports == -1 && inode(of: reports) != pipe)
  }
}

/// The last words of a program, for an error.
@Suite struct OutputTailTests {
  @Test func lines() {
    var tail = OutputTail()
    #expect(tail.lines == [])
    #expect(tail.append(Array("one\ntw".utf8)) == ["one"])
    #expect(tail.lines == ["one", "tw"])
    #expect(tail.append(Array("o\n\n".utf8)) == ["two", ""])
    #expect(tail.lines == ["one", "two"], "empty ones say nothing")
    #expect(tail.append(Array("\u{1B}[31mred\r\té\n".utf8)) == ["[31mredé"])
  }

  @Test func theLastTen() {
    var tail = OutputTail()
    #expect(tail.append(Array((1...20).map { "\($0)\n" }.joined().utf8)).count == 20)
    #expect(tail.lines == (11...20).map { "\($0)" })
    _ = tail.append(Array("rest".utf8))
    #expect(tail.lines == (12...20).map { "\($0)" } + ["rest"])
  }

  /// A program may never end a line.
  @Test func longLines() {
    var tail = OutputTail()
    #expect(tail.append([UInt8](repeating: 0x61, count: 400)) == [])
    #expect(tail.append([0x62]) == [String(repeating: "a", count: 400)])
    #expect(tail.lines == [String(repeating: "a", count: 400), "b"])
    #expect(tail.append([UInt8](repeating: 0x61, count: 1 << 20)).count == (1 << 20) / 400)
    #expect(tail.lines.count == 10 && tail.lines.allSatisfy { $0.count <= 400 })
  }
}
