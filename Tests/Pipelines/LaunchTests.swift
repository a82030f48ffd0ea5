import Foundation
import Testing

/// Command lines of the documentation, and the errors that they print.
@Suite struct LaunchTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Makes a file of 20 pictures of 800×480.
  private func makeFile(_ name: String, caps: String = "", muxer: String = "") throws -> String {
    let path = folder.path(name)
    let result = try folder.launch(
      """
      --quiet videotestsrc pattern=ball num-buffers=20 ! video/x-raw,width=800,height=480,framerate=15/1 \
      ! x264enc tune=zerolatency bitrate=600 ! video/x-h264,profile=constrained-baseline\(caps) \(muxer) ! filesink location=\(path)
      """)
    try #require(result.status == 0, "\(result)")
    return path
  }

  @Test func builtInHeadUnit() throws {
    let result = try folder.launch("videotestsrc num-buffers=20 ! sdlvideosink")
    #expect(result.status == 0, "\(result)")
    #expect(result.output.contains("uri=sdl://HOST:12345") && result.output.contains("Registered with"), "\(result)")
    #expect(!result.output.contains("WARNING") && !result.errors.contains("WARNING"), "\(result)")
  }

  /// In `core`, the policies name no app.
  @Test(arguments: ["default", "core", "core-listed", "generic-hmi", "legacy", "hostile"])
  func presets(_ preset: String) throws {
    let result = try folder.launch(
      "-m videotestsrc num-buffers=20 ! videoconvertscale ! sdlvideosink uri=sdl+builtin:\(preset)")
    #expect(result.status == 0 && result.output.contains("sdl-stream-started"), "\(result)")
    let warnings = (result.output + result.errors).matches(of: /WARNING.*/).map { String($0.output) }
    let hasNoTouches = warnings.allSatisfy { $0.contains("policy gives the app no touches") }
    #expect(hasNoTouches && warnings.count == (preset == "core" ? 1 : 0), "\(result)")
  }

  @Test func headUnitInTheNetwork() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record", folder.path("record.h264"))
    // In real time a busy machine leaves out those whose time has passed.
    let result = try folder.launch("videotestsrc num-buffers=30 ! sdlvideosink sync=false uri=\(headUnit.uri)")
    #expect(result.status == 0, "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0, "\(summary)")
    // The first picture may come before the head unit has told its size. If the streaming thread comes late, the picture
    // at hand is sent at the start of the service already, and improved by that thread.
    #expect((29...31).contains(try pictures(in: folder.path("record.h264"))), "\(summary)")
  }

  /// gst-launch quits its main loop for an error even before it runs, and then never ends, unless a change of state fails.
  @Test(arguments: 1...8)
  func anErrorThatComesAtOnce(_ attempt: Int) throws {
    let result = try folder.launch("fakesrc ! fakesink sdlvideosink uri=sdl://127.0.0.1:1 connect-timeout=1")
    #expect(result.status != 0 && result.errors.contains("127.0.0.1:1"), "\(result)")
  }

  /// Their segment is one of bytes.
  @Test func picturesWithoutTimes() throws {
    let path = folder.path("picture.i420")
    let caps = "video/x-raw,format=I420,width=800,height=480"
    _ = try folder.launch("--quiet videotestsrc num-buffers=1 ! \(caps) ! filesink location=\(path)")
    let result = try folder.launch(
      """
      multifilesrc location=\(path) loop=true num-buffers=20 \
      caps=\(caps),framerate=30/1,pixel-aspect-ratio=1/1,interlace-mode=progressive ! sdlvideosink
      """)
    #expect(result.status == 0 && result.output.contains("Registered with"), "\(result)")
    #expect(!result.errors.contains("CRITICAL"), "\(result)")
  }

  @Test func file() throws {
    let path = try makeFile("drive.h264", caps: ",stream-format=byte-stream")
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record", folder.path("record.h264"))
    let result = try folder.launch("filesrc location=\(path) ! h264parse ! sdlvideosink uri=\(headUnit.uri)")
    #expect(result.status == 0, "\(result)")
    #expect(headUnit.waitForEnd().status == 0)
    #expect(try pictures(in: folder.path("record.h264")) == 20)
  }

  @Test func movie() throws {
    let path = try makeFile("drive.mp4", muxer: "! mp4mux")
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record", folder.path("record.h264"))
    let result = try folder.launch("filesrc location=\(path) ! qtdemux ! h264parse ! sdlvideosink uri=\(headUnit.uri)")
    #expect(result.status == 0, "\(result)")
    #expect(headUnit.waitForEnd().status == 0)
    #expect(try pictures(in: folder.path("record.h264")) == 20)
  }

  /// How many pictures a decoder finds in a file.
  private func pictures(in path: String) throws -> Int {
    let result = try folder.launch(
      "-v filesrc location=\(path) ! h264parse ! avdec_h264 ! identity silent=false name=counter ! fakesink")
    return result.output.matches(of: /last-message = chain/).count
  }

  @Test(arguments: [
    ("sdl://127.0.0.1:1", "Connection refused by 127.0.0.1:1"),
    ("sdl://does-not-exist.invalid", "does-not-exist.invalid"),
    ("sdl://car:0", "port outside 1…65535"),
    ("nonsense", "write sdl://HOST:PORT"),
    ("sdl+builtin:unknown", "default, core, core-listed, generic-hmi, legacy, bluetooth-and-wifi, hostile"),
  ])
  func wrongURI(_ uri: String, _ message: String) throws {
    let result = try folder.launch("videotestsrc ! sdlvideosink connect-timeout=1000 uri=\(uri)")
    // 255 when the state change itself fails.
    #expect([1, 255].contains(result.status), "\(result)")
    #expect(result.errors.contains("ERROR") && result.errors.contains(message), "\(result)")
  }

  @Test func optionThatBreaksTheStream() throws {
    let result = try folder.launch("videotestsrc ! sdlvideosink option-string=bframes=2")
    #expect(result.status == 255 && result.errors.contains("bframes"), "\(result)")
  }

  /// The head unit and the app start in either order.
  @Test(arguments: [true, false])
  func headUnitElement(appIsFirst: Bool) throws {
    // Above those that the gallery's scripts take, and of this process alone.
    let port = 30_000 + Int(getpid()) % 1000 * 2 + (appIsFirst ? 1 : 0)
    let app = [
      "gst-launch-1.0", "-e", "-m", "videotestsrc", "is-live=true", "!", "sdlvideosink", "max-lateness=-1",
      "uri=sdl://127.0.0.1:\(port)",
    ]
    let screen = [
      "gst-launch-1.0", "-m", "sdlheadunitsrc", "port=\(port)", "eos-on-disconnect=true", "!", "decodebin", "!",
      "videoconvert", "!", "fakevideosink", "sync=false",
    ]
    let first = try Program(appIsFirst ? app : screen, in: folder)
    try first.waitForOutput { $0.contains(appIsFirst ? "Connecting to" : "Listening for") ? true : nil }
    let second = try Program(appIsFirst ? screen : app, in: folder)
    // A picture is on the screen.
    try (appIsFirst ? second : first).waitForOutput { $0.contains("(async-done)") ? true : nil }
    (appIsFirst ? first : second).interrupt()
    let results = [first.wait(), second.wait()]
    #expect(results.allSatisfy { $0.status == 0 && !$0.errors.contains("WARN") }, "\(results)")
    let screenOutput = results[appIsFirst ? 1 : 0].output
    #expect(screenOutput.contains("sdl-stream-started") && screenOutput.contains("sdl-app-unregistered"))
    #expect(!screenOutput.contains("sdl-violation"), "\(screenOutput)")
  }

  @Test func interruptStopsTheStream() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits")
    let launch = try Program(
      ["gst-launch-1.0", "-e", "-m", "videotestsrc", "is-live=true", "!", "sdlvideosink", "uri=\(headUnit.uri)"],
      in: folder)
    try launch.waitForOutput { $0.contains("sdl-stream-started") ? true : nil }
    launch.interrupt()
    let result = launch.wait()
    #expect(result.status == 0 && result.output.contains("sdl-stream-stopped"), "\(result)")
    #expect(headUnit.waitForEnd().status == 0)
  }

  /// Two programs with the default `app-id` and `app-name`, of which the head unit registers each once.
  @Test func twoProgramsWithDefaultNames() throws {
    let headUnit = try HeadUnitProgram(in: folder)
    func start() throws -> Program {
      let program = try Program(
        [
          "gst-launch-1.0", "-m", "videotestsrc", "is-live=true", "!", "sdlvideosink", "max-lateness=-1",
          "uri=\(headUnit.uri)",
        ], in: folder)
      try program.waitForOutput { $0.contains("sdl-connected") ? true : nil }
      return program
    }
    let first = try start()
    let second = try start()
    try headUnit.waitForOutput("GStreamer 2")
    try headUnit.waitForOutput("gst-smartdevicelink-2")
    for program in [first, second] {
      program.interrupt()
      let result = program.wait()
      #expect(!result.output.contains("WARNING") && !result.errors.contains("ERROR"), "\(result)")
    }
    headUnit.interrupt()
    _ = headUnit.waitForEnd()
  }
}
