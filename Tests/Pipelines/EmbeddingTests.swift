import Foundation
import Testing

/// Programs in several languages that embed the sink.
@Suite struct EmbeddingTests {
  private let folder: TemporaryFolder
  private let programs = Installation.package.appending(path: "Tests/Pipelines/Programs")

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Compiles a C program of this folder and returns its path.
  private func compile(_ name: String) throws -> String {
    let program = folder.path(name)
    let source = programs.appending(path: "\(name).c").path
    let result = try Program.run(
      "sh", "-c", "cc -Wall -Wextra -Werror -o \"$1\" \"$2\" $(pkg-config --cflags --libs gstreamer-1.0)", "sh",
      program,
      source, in: folder)
    try #require(result.status == 0, "\(result)")
    return program
  }

  /// The gallery's app, built and run by the commands of the gallery's README.
  ///
  /// It is touched at a pixel of the car's screen, twice as large as the picture that the app draws.
  @Test(arguments: ["embedding/embed.c", "embedding/embed.py", "embedding/swift/"])
  func galleryProgram(_ name: String) throws {
    let record = folder.path("\(UUID().uuidString).h264")
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--commands", "--record", record)
    let program = try Program(
      ["sh", "-c", "cd \"$1\" && shift && mkdir -p build && \(try command(of: name)) \"$@\"", "sh"]
        + [Installation.package.path, "180", headUnit.uri],
      in: folder, testTimeout: 300)
    try program.waitForOutput { $0.contains("sdl-stream-started 800 480\n") ? true : nil }
    // The scaler converts touches as soon as it makes pictures of the head unit's size.
    try program.wait(until: { (try? Data(contentsOf: URL(filePath: record)))?.isEmpty == false })
    try headUnit.command("touch begin 0 100 200", "touch end 0 100 200")
    try program.waitForOutput { $0.contains("touch 0 at 50 100\n") ? true : nil }
    let result = program.wait()
    #expect(result.status == 0, "\(result)")
    #expect(
      result.output.split(separator: "\n").filter { $0 != "sdl-hmi-status" && $0 != "sdl-lock-screen" } == [
        "sdl-connected", "sdl-stream-started 800 480", "touch 0 at 50 100", "sdl-stream-suspended app-state",
        "sdl-stream-started 800 480", "sdl-stream-stopped app", "sdl-disconnected closed by the app",
      ], "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0, "\(summary)")

    let pictures = try Pictures(
      from: "filesrc location=\(record) ! h264parse ! avdec_h264", width: 800, height: 480, in: folder)
    // A third of 180 was drawn in the background; a busy machine drops some more.
    #expect((40...125).contains(pictures.count), "\(pictures.count)")
    #expect(pictures.whitePixels(of: 0) == 0)
    #expect(pictures.brightness(of: pictures.count - 1, x: 100, y: 200) > 230)
    #expect((1400...1800).contains(pictures.whitePixels(of: pictures.count - 1)), "40×40 pixels")
  }

  /// The gallery's app that draws in the head unit's size: every picture that arrives has been drawn in its own size.
  @Test(arguments: ["embedding/resizable.c", "embedding/resizable.py"])
  func resizableProgram(_ name: String) throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--commands")
    let program = try Program(
      ["sh", "-c", "cd \"$1\" && shift && mkdir -p build && \(try command(of: name)) \"$@\"", "sh"]
        + [Installation.package.path, "120", headUnit.uri],
      in: folder)
    try headUnit.waitForOutput("video started, H264 over RAW, 800×480\n")
    try headUnit.command("resize 480x320")
    // A head unit refuses the start of a service whose size it has changed meanwhile.
    try headUnit.waitForOutput("video started, H264 over RAW, 480×320\n")
    try program.waitForOutput { $0.contains("drawing 480x320\n") ? true : nil }
    // 810×402 ÷ 1.5 is 540×268.
    try headUnit.command("resize 810x402 scale 1.5")
    let result = program.wait()
    #expect(result.status == 0, "\(result)")
    #expect(result.output == "drawing 800x480\ndrawing 480x320\ndrawing 540x268\n", "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0 && summary.output.contains("video started, H264 over RAW, 540×268\n"), "\(summary)")
  }

  /// Two films, one registration. The C program needs headers that bring half a gigabyte with them in Debian, so that
  /// it is tried where they are.
  @Test(arguments: ["embedding/play.py", "embedding/play.c"])
  func player(_ name: String) throws {
    if name.hasSuffix(".c") {
      let headers = try Program.run("pkg-config", "--exists", "gstreamer-play-1.0", in: folder)
      guard headers.status == 0 else { return }
    }
    let film = folder.path("film.mp4")
    let made = try Program.run(
      "sh", "-c",
      """
      gst-launch-1.0 -q videotestsrc num-buffers=30 ! video/x-raw,width=320,height=180 ! x264enc speed-preset=ultrafast ! mp4mux \
        ! filesink location="$1"
      """, "sh", film, in: folder)
    try #require(made.status == 0, "\(made)")
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits")
    let arguments = name.hasSuffix(".c") ? [headUnit.uri, film, film] : [film, film, "--uri", headUnit.uri]
    var command = Installation.package.appending(path: "pipelines/\(name)").path
    if name.hasSuffix(".c") {
      let program = folder.path("play")
      let result = try Program.run(
        "sh", "-c", "cc -Wall -Wextra -Werror -o \"$1\" \"$2\" $(pkg-config --cflags --libs gstreamer-play-1.0)", "sh",
        program,
        command, in: folder)
      try #require(result.status == 0, "\(result)")
      command = program
    }
    let result = try Program([command] + arguments, in: folder).wait()
    #expect(result.status == 0, "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(summary.output.matches(of: /\d registered "/).count == 1, "\(summary)")
    #expect(summary.output.matches(of: /video started, H264 over RAW, 800×480\n/).count == 2, "\(summary)")
    #expect(summary.output.contains("unregistered: by the app"), "\(summary)")
  }

  /// The first command of an example's section.
  private func command(of name: String) throws -> String {
    let readme = Installation.package.appending(path: "pipelines/README.md")
    let text = String(decoding: try Data(contentsOf: readme), as: UTF8.self)
    let section = try #require(text.split(separator: "\n### ").first { $0.hasPrefix("`\(name)`\n") })
    return String(try #require(section.firstMatch(of: /(?m)^ {4}(.+)$/)).1)
  }

  @Test(arguments: ["sdl+builtin:default", nil])
  func cyclesLeakNothing(_ uri: String?) throws {
    let headUnit = try uri == nil ? HeadUnitProgram(in: folder) : nil
    let result = try Program.run(
      try compile("cycle"), try #require(uri ?? headUnit?.uri), "100", in: folder, environment: Leaks.tracer)
    Leaks.expectNone(after: result)
  }

  /// Not in gst-launch's syntax, which loses a reference to the child of any GstChildProxy with each property.
  @Test func changingRangesLeaksNothing() throws {
    let result = try Program.run(try compile("ranges"), "10", in: folder, environment: Leaks.tracer)
    Leaks.expectNone(after: result)
    #expect(result.output == String(repeating: "800 320\n", count: 10), "\(result)")
  }
}
