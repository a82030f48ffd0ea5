import Glibc
import SDLLink
import Testing

@testable import HeadUnitControl

/// Programs that are started, and how they end.
@Suite struct ChildProgramTests {
  /// What is told of a program.
  private struct Told: Sendable {
    var lines: [String] = []
    var ends: [ChildProgram.Status] = []
  }

  private let told = Monitor(Told())

  private func start(_ script: String, environment: [String: String] = [:]) throws -> ChildProgram {
    try ChildProgram(
      ["sh", "-c", script], environment: environment, output: { [told] line in told.change { $0.lines.append(line) } },
      ended: { [told] status in told.change { $0.ends.append(status) } })
  }

  private func wait<R>(for match: (Told) -> R?) throws -> R {
    try #require(told.wait(until: MonotonicClock.now + .seconds(30)) { match($0) })
  }

  /// Both outputs are read, and the last line needs no end.
  @Test func linesAndStatus() throws {
    let program = try start(
      "echo $SDL_TEST_CHILD; echo second >&2; echo; printf rest; exit 3", environment: ["SDL_TEST_CHILD": "first"])
    #expect(try wait { $0.ends.first } == .exited(3))
    #expect(try wait { $0.lines.count == 4 ? $0.lines : nil } == ["first", "second", "", "rest"])
    #expect(program.status == .exited(3) && program.hasFailed && "\(ChildProgram.Status.exited(3))" == "3")
    // Its own end stays the reason.
    program.end()
    #expect(program.hasFailed && program.status == .exited(3) && told.withLock { $0.ends.count } == 1)
  }

  @Test func success() throws {
    let program = try start("exit 0")
    #expect(program.wait(until: MonotonicClock.now + .seconds(30)) == .exited(0) && !program.hasFailed)
  }

  /// One that is ended has not failed, and its end is no news.
  @Test func ended() throws {
    let program = try start("echo running; exec sleep 1000")
    _ = try wait { $0.lines.first }
    #expect(program.status == nil && program.wait(until: MonotonicClock.now) == nil)
    program.end()
    #expect(program.status == .signalled(SIGTERM) && !program.hasFailed && told.withLock { $0.ends }.isEmpty)
    #expect("\(ChildProgram.Status.signalled(SIGTERM))" == "signal-15")
  }

  /// What it has started ends with it, also after it has ended by itself.
  @Test func whatItHasStarted() throws {
    let program = try start("sleep 1000 & echo $!; exit 0")
    let child = try #require(Int32(try wait { $0.lines.first }))
    #expect(try wait { $0.ends.first } == .exited(0))
    #expect(Self.isRunning(child))
    program.end()
    let end = MonotonicClock.now + .seconds(30)
    while Self.isRunning(child), MonotonicClock.now < end { usleep(1000) }
    #expect(!Self.isRunning(child) && program.status == .exited(0))
  }

  /// One that has ended may wait for its parent, if that is another one now.
  private static func isRunning(_ pid: Int32) -> Bool {
    guard let file = fopen("/proc/\(pid)/stat", "r") else { return false }
    defer { fclose(file) }
    var text = [UInt8](repeating: 0, count: 512)
    let count = fread(&text, 1, text.count, file)
    // After the name, which may have spaces, comes the state.
    let state = String(decoding: text[..<count], as: UTF8.self).split(separator: ")").last?.first { $0 != " " }
    return state.map { !"ZX".contains($0) } ?? false
  }

  /// It has the signals of a shell, whatever this process does with them.
  @Test func aSignalOfItsOwn() throws {
    let program = try start("kill -PIPE $$; echo still there")
    #expect(try wait { $0.ends.first } == .signalled(SIGPIPE))
    #expect(program.hasFailed && told.withLock { $0.lines }.isEmpty)
  }

  /// As many bytes are kept; what is cut ends with an ellipsis.
  @Test func longLines() throws {
    let lines = [4096, 4097, 20_000].map { "head -c \($0) /dev/zero | tr '\\0' a; echo;" }.joined(separator: " ")
    let program = try start(lines + " echo end")
    let whole = String(repeating: "a", count: 4096)
    #expect(try wait { $0.lines.count == 4 ? $0.lines : nil } == [whole, whole + "…", whole + "…", "end"])
    program.end()
  }

  @Test func noSuchProgram() {
    let error = #expect(throws: LinkError.self) {
      try ChildProgram(["/nonexistent"], environment: [:], output: { _ in }, ended: { _ in })
    }
    #expect(error.map { "\($0)" }?.contains("start /nonexistent") == true)
  }

  /// The status of waitpid.
  @Test(
    arguments: [
      (0, .exited(0)), (0x0700, .exited(7)), (0xFF00, .exited(255)), (9, .signalled(9)), (0x8B, .signalled(11)),
    ] as [(Int32, ChildProgram.Status)])
  func waitStatus(number: Int32, status: ChildProgram.Status) {
    #expect(ChildProgram.Status(waitStatus: number) == status)
  }
}
