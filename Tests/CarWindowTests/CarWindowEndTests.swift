import Foundation
import GStreamerKit
import SDLLink
import TestSupport
import Testing

@testable import CarWindow
@testable import Plugin
@testable import PluginTestSupport

/// However it ends, nothing is left behind.
@Suite struct CarWindowEndWholeProcessTests {
  private static let canvas = "command=\"\(program("canvas.py"))\""

  /// The processes of a screen: the program, and the server with the number of its display.
  private struct Processes {
    let program: Int32
    let server: Int32
    let number: String

    init(_ source: Element) throws {
      program = try #require(Int32(source["pid"] ?? ""))
      number = String(try #require(source["display-name"]).dropFirst())
      let argument = "\0:\(number)\0"
      let pids = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
      server = try #require(
        pids.first { (try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8))?.contains(argument) == true }
      )
    }

    var traces: [String] {
      ["/tmp/.X\(number)-lock", "/tmp/.X11-unix/X\(number)"].filter { FileManager.default.fileExists(atPath: $0) }
        + [program, server].filter(isRunning).map { "process \($0)" }
    }
  }

  /// Folders with a server's cookie, of this process.
  private static var cookies: [String] {
    let parent = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? "/tmp"
    return ((try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [])
      .filter { $0.hasPrefix("sdl-car-window-\(getpid())-") }
  }

  private static func isClean(_ processes: Processes) -> Bool { processes.traces.isEmpty && cookies.isEmpty }

  @Test func null() throws {
    let before = (threads: ProcessCounts.threads, descriptors: ProcessCounts.descriptors)
    for _ in 0..<5 {
      let screen = try ScreenPipeline(Self.canvas)
      try screen.waitForCanvas()
      let processes = try Processes(screen.source)
      #expect(isRunning(processes.program) && isRunning(processes.server) && Self.cookies.count == 1)
      screen.pipeline.stop()
      // Not later: an application may end next.
      #expect(Self.isClean(processes), "\(processes.traces) \(Self.cookies)")
    }
    // GStreamer's pools keep threads for a while.
    #expect(ProcessCounts.threads <= before.threads + 4)
    #expect(eventually { ProcessCounts.descriptors <= before.descriptors + 4 }, "\(ProcessCounts.descriptorTargets)")
  }

  /// A guard that looked again and again would take a core for as long as the program runs.
  @Test func guardsSleep() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    let processes = try Processes(screen.source)
    let guards = [processes.program, processes.server].compactMap { Self.fields(of: Int($0)).dropFirst().first }
    #expect(guards.count == 2)
    // In hundredths of a second, of the user and of the system.
    let cost = { guards.map { Self.fields(of: $0)[11] + Self.fields(of: $0)[12] }.reduce(0, +) }
    let before = cost()
    usleep(2_000_000)
    #expect(cost() - before < 50)
  }

  /// A second process with the memory of an application, or its files, would have its secrets too.
  @Test func guardsHoldNothingOfTheApplication() throws {
    // A value may have the sign that separates it from its name.
    setenv("SDL_TEST_SECRET", "of=the application=", 1)
    defer { unsetenv("SDL_TEST_SECRET") }
    #expect(CarWindow.environment["SDL_TEST_SECRET"] == "of=the application=")
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    let processes = try Processes(screen.source)
    for pid in [processes.program, processes.server] {
      let parent = "/proc/\(Self.fields(of: Int(pid))[1])"
      let file = try FileManager.default.destinationOfSymbolicLink(atPath: parent + "/exe")
      #expect(file.hasSuffix("/sdl-process-guard"))
      let descriptors = try FileManager.default.contentsOfDirectory(atPath: parent + "/fd").map {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(parent)/fd/\($0)")) ?? ""
      }
      #expect(descriptors.count { $0 == "/dev/null" } == 3, "\(descriptors)")
      #expect(descriptors.count == 6 && descriptors.count { $0.hasPrefix("pipe:") } == 2, "\(descriptors)")
      let environment = try Data(contentsOf: URL(fileURLWithPath: parent + "/environ"))
      let command = try Data(contentsOf: URL(fileURLWithPath: parent + "/cmdline"))
      #expect(environment.allSatisfy { $0 == 0 })
      #expect(!String(decoding: command, as: UTF8.self).contains("canvas.py"))
    }
  }

  /// The numbers in /proc/PID/stat after the program's name and the state's letter, which counts as 0: the second is
  /// the parent.
  private static func fields(of pid: Int) -> [Int] {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    return (text.split(separator: ")").last ?? "").split(separator: " ").map { Int($0) ?? 0 }
  }

  /// It may have to ask its server for something, such as where its windows are.
  @Test func theProgramEndsBeforeItsServer() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let screen = try ScreenPipeline("command=\"\(program("farewell.py")) \(file.path)\"")
    let said = { try? String(contentsOf: file, encoding: .utf8) }
    #expect(eventually { said() == "ready" })
    screen.pipeline.stop()
    #expect(said() == "served")
  }

  @Test func aServerThatIsKilledIsAnError() throws {
    // The program's end may be noticed before that of the server.
    for _ in 0..<4 {
      let screen = try ScreenPipeline(Self.canvas)
      try screen.waitForCanvas()
      let processes = try Processes(screen.source)
      kill(processes.server, SIGKILL)
      let first = try screen.pipeline.wait(for: "end") { message -> String? in
        message.error?.text ?? (message.isElement("sdl-program-ended") ? "program" : nil)
      }
      #expect(first.contains("X server has ended by signal 9"))
      screen.pipeline.stop()
      #expect(Self.isClean(processes), "\(processes.traces) \(Self.cookies)")
    }
  }

  /// It gets SIGTERM, and two seconds later SIGKILL.
  @Test func aProgramThatDoesNotWantToEnd() throws {
    let screen = try ScreenPipeline(
      "command=\"sh -c 'trap : TERM; xclock -bg white -fg white -hd white; while :; do sleep 1; done'\"")
    try screen.waitForCanvas(.white)
    let processes = try Processes(screen.source)
    screen.pipeline.stop(within: .seconds(15))
    #expect(Self.isClean(processes), "\(processes.traces) \(Self.cookies)")
  }

  /// It is not read to its end before the window goes on.
  @Test func aProgramThatWritesWithoutEnd() throws {
    let screen = try ScreenPipeline("command=\"sh -c 'yes & exec xclock -bg white -fg white -hd white'\"")
    try screen.waitForCanvas(.white)
    let processes = try Processes(screen.source)
    // The former one is not read to its end either.
    screen.source.set("command", program("canvas.py"))
    try screen.waitForCanvas(.blue)
    screen.pipeline.stop()
    #expect(Self.isClean(processes), "\(processes.traces) \(Self.cookies)")
  }

  /// The window manager asks the server about each window: events come faster than it handles them, and do not fill the
  /// memory either.
  @Test(arguments: ["windows", "hints"])
  func aProgramThatFloodsTheWindowManager(with what: String) throws {
    let screen = try ScreenPipeline("command=\"\(program("misbehave.py")) \(what)\"")
    try screen.waitForCanvas(.white)
    let processes = try Processes(screen.source)
    let before = try residentBytes()
    var count = 0
    _ = try screen.wait(for: "third picture, after some seconds") { _ in
      count += 1
      return count == 3
    }
    #expect(try residentBytes() - before < 64 << 20)
    try screen.setSize(400, 300)
    try screen.wait(for: "resize") { $0.width == 400 && $0.corners.allSatisfy { $0 == .white } }
    screen.pipeline.stop()
    #expect(Self.isClean(processes), "\(processes.traces) \(Self.cookies)")
  }

  @Test func aProgramThatHangsWithTheServerGrabbed() throws {
    let screen = try ScreenPipeline("command=\"\(program("misbehave.py")) grab\"")
    try screen.waitForCanvas(.white)
    let processes = try Processes(screen.source)
    #expect(screen.countPictures(for: .seconds(3)) >= 2)
    screen.pipeline.stop()
    #expect(Self.isClean(processes), "\(processes.traces) \(Self.cookies)")
  }

  /// The stop interrupts the wait for a reply.
  @Test func aServerThatHangs() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    let processes = try Processes(screen.source)
    kill(processes.server, SIGSTOP)
    // Until the request of a picture, which comes each second, waits for its reply.
    _ = screen.countPictures(for: .seconds(2))
    screen.pipeline.stop()
    #expect(Self.isClean(processes), "\(processes.traces) \(Self.cookies)")
    #expect(!screen.pipeline.drain().contains { $0.error != nil })
  }

  /// What it has started in sessions of their own ends as well.
  @Test func aProgramThatForks() throws {
    let screen = try ScreenPipeline("command=\"sh -c 'setsid xclock -bg white -fg white -hd white & exit 0'\"")
    try screen.waitForCanvas(.white)
    let processes = try Processes(screen.source)
    let children = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter {
      (try? String(contentsOfFile: "/proc/\($0)/environ", encoding: .utf8))?.contains("DISPLAY=:\(processes.number)\0")
        == true
    }
    #expect(!children.isEmpty)
    screen.pipeline.stop()
    #expect(eventually { !children.contains(where: isRunning) })
    #expect(Self.isClean(processes), "\(processes.traces) \(Self.cookies)")
  }

  /// As often as the machine allows while other tests run.
  @Test func manyShortRuns() throws {
    let pipeline = try Pipeline("sdlcarwindowsrc command=xclock ! fakesink name=sink")
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      try pipeline.play()
      usleep(UInt32.random(in: 0...150_000, using: &random))
      pipeline.stop()
    }
    #expect(Self.cookies.isEmpty, "seed \(seed)")
    #expect(pipeline.drain().compactMap(\.error).map(\.text) == [], "seed \(seed)")
  }
}
