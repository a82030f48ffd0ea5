import Foundation
import Testing

/// Options of `sdl-car-window` that change what is shown, and where.
@Suite struct CarWindowOptionTests {
  private let folder: TemporaryFolder
  private let program: String

  init() throws {
    folder = try TemporaryFolder()
    // It is built beside the tests.
    program = Installation.headUnitTool.deletingLastPathComponent().appending(path: "sdl-car-window").path
  }

  private func isWhite(_ color: Screenshot.Color) -> Bool { color.isLike(.white) }

  /// What is allowed goes on to the next fault, here that there is no program.
  @Test(arguments: [
    (["--fps", "1"], "a program is missing"), (["--fps", "120"], "a program is missing"),
    (["--fps", "121"], "'121' is no number from 1 to 120"), (["--max-size", "64x8192"], "a program is missing"),
    (["--max-size", "63x64"], "'63x64' is not of the form"),
    (["--max-size", "64x8193"], "'64x8193' is not of the form"),
    (["--max-size", "64x64x64"], "is not of the form"), (["--no-sound", "--restart"], "a program is missing"),
    (["--"], "a program is missing"), (["--record"], "--record needs a value"), (["-x"], "unknown option -x"),
  ])
  func limits(_ arguments: [String], _ text: String) throws {
    let result = try Program([program] + arguments, in: folder).wait()
    #expect(
      result.status == 2 && result.errors.contains("sdl-car-window: ") && result.errors.contains(text), "\(result)")
  }

  @Test func version() throws {
    let result = try Program([program, "--no-sound", "--version"], in: folder).wait()
    #expect(
      result.status == 0 && result.output.firstMatch(of: /^sdl-car-window \d+\.\d+\.\d+.*\n$/) != nil, "\(result)")
    let help = try Program([program, "--help"], in: folder).wait()
    #expect(help.status == 0 && help.output.hasPrefix("usage: sdl-car-window [options]"), "\(help)")
  }

  /// What is on another display; fingers move its pointer only if they may.
  @Test(arguments: [true, false]) func mirror(injects: Bool) throws {
    let screen = try Screen()
    let clock = try Program(["xclock", "-geometry", "600x600+0+0"], in: folder, environment: screen.environment)
    defer { clock.end() }
    try screen.waitFor("a clock") { ($0.area(isWhite)?.count ?? 0) > 100_000 ? true : nil }
    try screen.xdotool("mousemove", "900", "500")
    let video = folder.path("record.h264")
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--commands", "--record", video)
    let display = try #require(screen.environment["DISPLAY"])
    let process = try Program(
      [program, "--uri", headUnit.uri, "--mirror", display] + (injects ? ["--inject-input"] : []), in: folder)
    try headUnit.waitForOutput("registered \"Desktop\" (id \"sdl-car-window-desktop\"")
    // The service starts before the first picture has been encoded.
    try process.wait { (try? Data(contentsOf: URL(filePath: video)))?.isEmpty == false }
    try headUnit.command("touch begin 0 100 240", "touch end 0 100 240")
    // The display is 1024 pixels wide, and the picture 800.
    let hasMoved = { try screen.xdotool("getmouselocation").contains("x:128 ") }
    if injects {
      try process.wait { (try? hasMoved()) == true }
    } else {
      try headUnit.waitForOutput("touch END #0 (100, 240)")
      Thread.sleep(forTimeInterval: 0.5)
      #expect(try !hasMoved())
    }
    process.interrupt()
    #expect(process.wait().status == 130)
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0, "\(summary)")
    let pictures = try Pictures(
      from: "filesrc location=\(video) ! h264parse ! avdec_h264", width: 800, height: 480, in: folder)
    #expect((0..<pictures.count).contains { pictures.whitePixels(of: $0) > 50_000 })
  }

  /// The car's screen in a window, and in the car.
  @Test func preview() throws {
    let screen = try Screen()
    let headUnit = try HeadUnitProgram(in: folder)
    let process = try Program(
      [program, "--no-sound", "--uri", headUnit.uri, "--preview", "xclock"], in: folder,
      environment: screen.environment)
    try headUnit.waitForOutput("video started")
    try screen.waitFor("the clock in a window", testTimeout: 60) {
      ($0.area(isWhite)?.count ?? 0) > 100_000 ? true : nil
    }
    process.interrupt()
    #expect(process.wait().status == 130)
  }

  /// A program that draws as fast as it can.
  @Test func framesPerSecond() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits")
    // The picture may have started long before this notices it.
    let began = Date()
    let process = try Program(
      [
        program, "--no-sound", "--uri", headUnit.uri, "--fps", "2", "xterm", "-e", "sh", "-c",
        "while :; do date +%N; done",
      ], in: folder)
    try process.waitForOutput { $0.contains("picture started") ? true : nil }
    Thread.sleep(forTimeInterval: 3)
    process.interrupt()
    #expect(process.wait().status == 130)
    let summary = headUnit.waitForEnd()
    let seconds = Date().timeIntervalSince(began)
    let count = try #require(summary.output.firstMatch(of: /\ pictures=(\d+)/).flatMap { Double($0.1) })
    // As many again may be repeated.
    #expect(count < 5 * seconds, "\(count) in \(seconds) s")
  }

  /// A car with a knob gets the program's buttons, unless they are not looked for.
  @Test(arguments: [true, false]) func haptics(areWanted: Bool) throws {
    let script = folder.url.appending(path: "test.sdl")
    let steps = areWanted ? "then: expect haptics within 60" : "then: expect frame within 60\nthen: never haptics for 4"
    try Data("\(steps)\n".utf8).write(to: script)
    let headUnit = try HeadUnitProgram(in: folder, "--test", script.path)
    let buttons = Installation.package.appending(path: "Tests/CarWindowTests/Programs/buttons.py").path
    let process = try Program(
      [program, "--no-sound", "--uri", headUnit.uri] + (areWanted ? [] : ["--no-haptics"])
        + ["/usr/bin/python3", buttons], in: folder)
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0, "\(summary)")
    process.interrupt()
    _ = process.wait()
  }
}
