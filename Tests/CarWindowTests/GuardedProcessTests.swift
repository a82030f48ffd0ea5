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

  /// Nothing is known of the program then, and nothing is kept for it.
  @Test func theGuardIsKilled() throws {
    // It is built beside the tests.
    let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "sdl-car-window")
    let process = try GuardedProcess(
      GuardedProcess.Command(
        arguments: ["sleep", "1000"], environment: ProcessInfo.processInfo.environment, folder: nil, passed: nil,
        privateFolder: nil), guardedBy: ProcessGuard(command: [tool.path, "--process-guard"]))
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
