import Foundation
import Testing

/// Examples that open a window, each on an X server of its own, and the pixels that they show.
@Suite(.serialized) struct WindowTests {
  private let folder: TemporaryFolder
  private let screen: Screen
  private let pipelines = Installation.package.appending(path: "pipelines")

  init() throws {
    folder = try TemporaryFolder()
    screen = try Screen()
  }

  private func start(_ name: String, _ arguments: String...) throws -> Program {
    try Program([pipelines.appending(path: name).path] + arguments, in: folder, environment: screen.environment)
  }

  /// Whether a window of 800×480 in the corner, where X places it without a window manager, has these pixels only.
  private static func isFilled(_ shot: Screenshot, _ match: (Screenshot.Color) -> Bool) -> Bool {
    // The corners first, since the screen is searched many times a second.
    guard match(shot[0, 0]), match(shot[799, 479]), !match(shot[800, 479]), !match(shot[799, 480]) else { return false }
    return shot.area(match) == Screenshot.Area(left: 0, top: 0, right: 799, bottom: 479, count: 800 * 480)
  }

  /// The middle of the square that `navigationtest` has painted, in a window that is white otherwise.
  private static func square(_ shot: Screenshot) -> (x: Int, y: Int)? {
    guard let area = shot.area(width: 800, height: 480, { !$0.isLike(.white) }), area.count >= 9 else { return nil }
    // 20×20 pixels, whose edges the encoder blurs.
    guard area.right - area.left < 32, area.bottom - area.top < 32 else { return nil }
    return ((area.left + area.right + 1) / 2, (area.top + area.bottom + 1) / 2)
  }

  /// The app paints pixels that are five times as large as the window's, so the middle is not exact.
  ///
  /// Presses the mouse there until a square is seen under it: a place is painted for a second, and a busy machine may
  /// show no picture of that one.
  private func press(_ x: Int, _ y: Int) throws {
    for _ in 0..<5 {
      try screen.xdotool("mousemove", "\(x)", "\(y)", "mousedown", "1")
      let isSeen = try? screen.waitFor("a square", testTimeout: 4) { shot in
        Self.square(shot).flatMap { abs($0.x - x) <= 6 && abs($0.y - y) <= 6 ? true : nil }
      }
      try screen.xdotool("mouseup", "1")
      if isSeen == true { return }
    }
    Issue.record("no square at (\(x), \(y))")
  }

  /// The check box takes the app off the car's screen; the window goes on.
  @Test func gtkShowsThePictureHereAndInTheCar() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--commands")
    let program = try start("embedding/gtk.py", "--uri", headUnit.uri)
    try headUnit.waitForOutput("video started, H264 over RAW, 800×480\n")
    try program.waitForOutput { $0.contains("Car: streaming\n") ? true : nil }
    try waitForMovement()
    try screen.xdotool("mousemove", "20", "500", "click", "1")
    try program.waitForOutput { $0.contains("Car: suspended\n") ? true : nil }
    try waitForMovement()
    program.interrupt()
    _ = program.wait()
  }

  /// Waits until the ball is at two places.
  private func waitForMovement() throws {
    func ball(_ shot: Screenshot) -> Screenshot.Area? {
      shot.area(width: 800, height: 480) { $0.isLike(.white) }.flatMap { $0.count > 100 ? $0 : nil }
    }
    let first = try screen.waitFor("a ball", ball)
    try screen.waitFor("a ball elsewhere") { shot in
      ball(shot).flatMap { abs($0.left - first.left) > 4 ? true : nil }
    }
  }

  @Test func windowShowsTheAppWhichPaintsWhereItIsClicked() throws {
    let program = try start("window.sh")
    for (x, y) in [(300, 200), (12, 468), (787, 9)] {
      try screen.waitFor("a white window") { Self.isFilled($0) { $0.isLike(.white) } ? true : nil }
      try press(x, y)
    }
    program.interrupt()
    #expect(program.wait().status == 130)
    #expect(!program.isGroupAlive)
  }

  @Test func scriptEndsWithItsWindow() throws {
    let program = try start("window.sh")
    try screen.waitFor("a window") { $0[400, 240].isLike(.white) ? true : nil }
    try screen.killWindow(at: 400, 240)
    let result = program.wait()
    #expect(result.status != 0, "\(result)")
    #expect(!program.isGroupAlive)
  }

  /// Why an app may have to wait for the head unit.
  enum Car: CaseIterable {
    case isNotThere, doesNotAnswer, showsAnotherApp, showsTheApp
  }

  /// The bars move through the window, and go on doing so.
  @Test(arguments: Car.allCases) func previewDoesNotWait(for car: Car) throws {
    var headUnit: HeadUnitProgram?
    let uri: String
    var silentServer: Program?
    switch car {
    case .isNotThere:
      // The port of a program that has ended.
      let former = try HeadUnitProgram(in: folder)
      uri = former.uri
    case .doesNotAnswer:
      let server = try Program(
        [
          "/usr/bin/python3", "-c",
          "import signal, socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); "
            + "signal.pause()",
        ], in: folder)
      uri = "sdl://127.0.0.1:\(try server.waitForOutput { $0.hasSuffix("\n") ? Int($0.dropLast()) : nil })"
      silentServer = server
    case .showsAnotherApp, .showsTheApp:
      let options = car == .showsTheApp ? ["--record", folder.path("record.h264")] : ["--no-activation"]
      let program = try HeadUnitProgram(in: folder, arguments: options)
      uri = program.uri
      headUnit = program
    }
    let program = try start("preview.py", "--uri", uri)
    if car == .showsTheApp { try program.wait { !folder.text("record.h264").isEmpty } }
    var last = Screenshot.Color.black
    for _ in 0..<3 {
      last = try screen.waitFor("moving bars") { $0[400, 200].isLike(last) ? nil : $0[400, 200] }
    }
    program.interrupt()
    #expect(program.wait().status == 0)
    silentServer?.end()
    if let headUnit {
      headUnit.interrupt()
      let pictures = try #require(headUnit.waitForEnd().output.firstMatch(of: /pictures=(\d+)/).flatMap { Int($0.1) })
      #expect(car == .showsTheApp ? pictures > 0 : pictures == 0)
    }
  }

  /// `make picture`, which shows what a navigation program makes of a tap in the window.
  @Test func picture() throws {
    let path = folder.path("new/window.png")
    let result = try Program.run(
      "/usr/bin/python3", Installation.package.appending(path: "scripts/picture").path, path, in: folder)
    // The navit of Debian 13 and later crashes when it has a route.
    if result.errors.contains("The app has ended."),
      try Program.run("gst-launch-1.0", "--version", in: folder).output
        .firstMatch(of: /1\.22\./) == nil
    {
      return
    }
    try #require(result.status == 0, "\(result)")
    #expect(try Data(contentsOf: URL(filePath: path)).count < 200_000)
    let decoding = try folder.launch(
      "filesrc location=\(path) ! pngdec ! video/x-raw,format=RGB,width=800,height=480 ! filesink location=\(path).rgb")
    try #require(decoding.status == 0, "\(decoding)")
    let pixels = [UInt8](try Data(contentsOf: URL(filePath: "\(path).rgb")))
    func color(_ x: Int, _ y: Int) -> Screenshot.Color {
      let start = (y * 800 + x) * 3
      return Screenshot.Color(red: pixels[start], green: pixels[start + 1], blue: pixels[start + 2])
    }
    // The route, beside the street that it follows; that street; the arrow of the next turn.
    // Seen from 150 to 176, by how far the encoder has refined the thin line.
    #expect(color(387, 320).isLike(Screenshot.Color(red: 0, green: 0, blue: 163)))
    #expect(color(398, 440).isLike(Screenshot.Color(red: 250, green: 0, blue: 0)))
    #expect(color(48, 65).isLike(.white))
  }
}
