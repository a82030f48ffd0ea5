import Foundation
import Testing

/// The program `sdl-car-window`.
@Suite struct CarWindowCommandTests {
  private let folder: TemporaryFolder
  private let program: String

  init() throws {
    folder = try TemporaryFolder()
    // It is built beside the tests.
    program = Installation.headUnitTool.deletingLastPathComponent().appending(path: "sdl-car-window").path
  }

  /// A tone that is played to the program's own sound server, while its window is shown.
  @Test func pictureSoundAndStatus() throws {
    let tone = folder.path("tone.wav")
    _ = try folder.launch(
      "--quiet audiotestsrc num-buffers=100 ! audio/x-raw,rate=48000 ! wavenc ! filesink location=\(tone)")
    let (video, sound) = (folder.path("record.h264"), folder.path("record.wav"))
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record", video, "--record-audio", sound)
    let result = try Program.run(
      program, "--uri", headUnit.uri, "--app-name", "Clock", "--", "sh", "-c",
      """
      xclock -update 1 & while [ ! -s \(video) ]; do sleep 0.1; done
      gst-launch-1.0 filesrc location=\(tone) ! wavparse ! pulsesink; sleep 1; kill $!; exit 5
      """, in: folder)
    #expect(result.status == 5 && result.output.contains("picture started"), "\(result)")
    #expect(result.output.contains("sound started") && result.output.contains("the status 5"), "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0, "\(summary)")
    let pictures = try Pictures(
      from: "filesrc location=\(video) ! h264parse ! avdec_h264", width: 800, height: 480, in: folder)
    // The last one may show that the clock is gone.
    #expect((1..<max(pictures.count, 1)).contains { pictures.whitePixels(of: $0) > 100_000 }, "\(summary)")
    // Of 2.1 s of tone, in samples of 16 bits at 16 kHz, after the file's header.
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: sound)).dropFirst(44))
    let loud = stride(from: 1, to: bytes.count, by: 2).count { abs(Int(Int8(bitPattern: bytes[$0]))) > 16 }
    #expect(loud > 16_000, "\(loud) of \(bytes.count / 2) samples")
  }

  /// The file has the picture in each size, and the sound, beside the stream.
  @Test func recording() throws {
    let (file, tone, pcm) = (folder.path("record.mkv"), folder.path("tone.wav"), folder.path("record.raw"))
    _ = try folder.launch(
      "--quiet audiotestsrc num-buffers=120 ! audio/x-raw,rate=48000 ! wavenc ! filesink location=\(tone)")
    let video = folder.path("record.h264")
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--commands", "--record", video)
    let process = try Program(
      [
        program, "--uri", headUnit.uri, "--record", file, "sh", "-c",
        "xclock -update 1 & gst-launch-1.0 filesrc location=\(tone) ! wavparse ! pulsesink; sleep 60; kill $!",
      ], in: folder)
    try process.waitForOutput { $0.contains("sound stopped") ? true : nil }
    try headUnit.command("resize 480x320")
    try process.waitForOutput { $0.contains("480×320") ? true : nil }
    // The clock is drawn again each second.
    let byteCount = { (try? Data(contentsOf: URL(filePath: video)))?.count ?? 0 }
    let before = byteCount()
    try process.wait { byteCount() > before }
    process.interrupt()
    #expect(process.wait().status == 130)
    let sizes = try folder.launch(
      "--verbose filesrc location=\(file) ! matroskademux ! h264parse ! avdec_h264 ! fakesink sync=false")
    let decoded = sizes.output.split(separator: "\n").filter { $0.contains("fakesink0.GstPad:sink: caps") }
    for size in ["width=(int)800, height=(int)480", "width=(int)480, height=(int)320"] {
      #expect(decoded.contains { $0.contains(size) }, "\(sizes)")
    }
    _ = try folder.launch(
      "--quiet filesrc location=\(file) ! matroskademux ! opusparse ! opusdec ! audioconvert ! "
        + "audio/x-raw,format=S8,channels=1 ! filesink location=\(pcm)")
    let loud = try Data(contentsOf: URL(filePath: pcm)).count { abs(Int(Int8(bitPattern: $0))) > 16 }
    // Of 2.56 s of tone at 48 kHz.
    #expect(loud > 40_000, "\(loud) samples")
    #expect(headUnit.waitForEnd().status == 0)
  }

  /// What happens to the connection is told; the end of the terminal ends the program as Ctrl-C does.
  @Test func headUnitThatGoes() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--commands")
    let process = try Program([program, "--no-sound", "--uri", headUnit.uri, "xclock"], in: folder)
    try process.waitForOutput { $0.contains("picture started") ? true : nil }
    try headUnit.command("cut")
    try process.waitForOutput { $0.contains("disconnected (") ? true : nil }
    process.signal(SIGHUP)
    #expect(process.wait().status == 129)
  }

  @Test func outlivesItsTerminalUnderNohup() throws {
    let process = try Program(["nohup", program, "--no-sound", "xclock"], in: folder)
    try process.waitForOutput { $0.contains("picture started") ? true : nil }
    process.signal(SIGHUP)
    process.interrupt()
    #expect(process.wait().status == 130)
  }

  @Test(arguments: [
    (["--no-sound", "no-such-program"], "can't be started: No such file"),
    (["--no-sound", "--encryption", "nonsense", "xclock"], "'nonsense' is no value of --encryption"),
    (["--no-sound", "--policy-updates", "nonsense", "xclock"], "'nonsense' is no value of --policy-updates"),
    (
      ["--no-sound", "--app-name", String(repeating: "a", count: 101), "xclock"],
      "The option --app-name must have 1 to 100 characters, not 101"
    ),
    (["--no-sound", "--uri", "sdl://", "xclock"], "The option --uri can't be used"),
    (["--no-sound", "--rpc-encryption", "require", "xclock"], "set the options --certificate and --private-key."),
    (["--record", "/nonexistent/file", "xclock"], "Could not open file"),
  ])
  func wrongValues(_ arguments: [String], _ error: String) throws {
    let result = try Program([program] + arguments, in: folder).wait()
    #expect(result.status == 1 && (result.output + result.errors).contains(error), "\(result)")
    #expect(!(result.output + result.errors).contains("propert"), "\(result)")
  }

  /// What an error advises is an option of this program.
  @Test func adviceOfAnError() throws {
    let make = Installation.package.appending(path: "scripts/make-certificates").path
    #expect(try Program.run(make, folder.path("keys"), "sdl-car-window-xclock", in: folder).status == 0)
    let headUnit = try HeadUnitProgram(in: folder)
    let result = try Program.run(
      program, "--no-sound", "--uri", headUnit.uri, "--rpc-encryption", "require", "--certificate",
      folder.path("keys/app.pem"), "--private-key", folder.path("keys/app-key.pem"), "xclock", in: folder)
    #expect(result.status == 1 && result.output.contains("as --rpc-encryption require demands"), "\(result)")
    #expect(result.output.contains("with --rpc-encryption prefer its policy"), "\(result)")
  }

  /// A picture that would take much memory has to be allowed.
  @Test func largeScreen() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--screen", "4100x2400")
    let arguments = ["--no-sound", "--uri", headUnit.uri]
    let result = try Program([program] + arguments + ["xclock"], in: folder).wait()
    #expect(result.status == 1 && result.output.contains("more pixels than --max-size allows, 4096×2304: raise it"))
    let process = try Program([program] + arguments + ["--max-size", "4100x2400", "xclock"], in: folder)
    try process.waitForOutput { $0.contains("picture started (first-start): 4100×2400") ? true : nil }
    process.interrupt()
    #expect(process.wait().status == 130)
  }

  /// A screen that is smaller than the car's picture is scaled up to it.
  @Test func smallScreen() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--screen", "640x480")
    let process = try Program(
      [program, "--no-sound", "--uri", headUnit.uri, "--max-size", "320x240", "xclock"], in: folder)
    try process.waitForOutput { $0.contains("picture started (first-start): 640×480") ? true : nil }
    process.interrupt()
    #expect(process.wait().status == 130)
  }

  /// What is not installed is named with its package.
  @Test func withoutAnXServer() throws {
    let result = try Program.run(
      program, "--no-sound", "xclock", in: folder, environment: ["PATH": folder.path("empty")])
    #expect(result.status == 1 && (result.output + result.errors).contains("install xvfb"), "\(result)")
  }

  /// Another server may have the display's number: another one is tried, but not for ever.
  @Test(arguments: [1, .max]) func displayThatIsTaken(times: Int) throws {
    let programs = try TemporaryFolder()
    let count = programs.path("count")
    let server = """
      #!/bin/sh
      echo >> \(count)
      [ $(wc -l < \(count)) -gt \(times) ] && exec /usr/bin/Xvfb "$@"
      echo 'server already running' >&2
      exit 1

      """
    try programs.makeProgram("Xvfb", server)
    let result = try Program.run(
      program, "--no-sound", "sh", "-c", "xclock & sleep 1; kill $!", in: folder,
      environment: ["PATH": "\(programs.url.path):/usr/bin:/bin"])
    let isShown = result.output.contains("picture started")
    #expect(isShown == (times == 1), "\(result)")
    #expect((result.output + result.errors).contains("server already running") != isShown, "\(result)")
    #expect(try String(contentsOfFile: count, encoding: .utf8).count == (isShown ? 2 : 3))
  }

  /// Without what reads the program's buttons, the picture goes on.
  @Test func withoutABusForButtons() throws {
    let programs = try TemporaryFolder()
    for name in ["Xvfb", "xclock"] {
      try FileManager.default.createSymbolicLink(
        atPath: programs.path(name), withDestinationPath: "/usr/bin/\(name)")
    }
    let process = try Program(
      [program, "--no-sound", "xclock"], in: folder, environment: ["PATH": programs.url.path])
    let output = try process.waitForOutput { $0.contains("picture started") ? $0 : nil }
    #expect(output.contains("install at-spi2-core and dbus-daemon, or use --no-haptics"), "\(output)")
    process.interrupt()
    #expect(process.wait().status == 130)
  }

  @Test func withoutAPlugin() throws {
    let plugins = try TemporaryFolder()
    let core = try Program.run("gst-inspect-1.0", "coreelements", in: folder).output
    let file = try #require(core.firstMatch(of: /(?m)^ *Filename +(\S+)$/)?.1)
    try FileManager.default.createSymbolicLink(
      atPath: plugins.path("libgstcoreelements.so"), withDestinationPath: String(file))
    let result = try Program.run(
      program, "--no-sound", "--preview", "xclock", in: folder,
      environment: ["GST_PLUGIN_SYSTEM_PATH_1_0": plugins.url.path, "GST_REGISTRY": plugins.path("registry.bin")])
    #expect(result.status == 1 && result.errors.contains("install gstreamer1.0-plugins-base"), "\(result)")
  }

  /// As policies and certificates know it; without options by the program's name.
  @Test(arguments: [
    (["--app-name", "Map", "--app-id", "1234567890", "--app-type", "projection"], "Map", "1234567890", "PROJECTION"),
    ([], "xclock", "sdl-car-window-xclock", "NAVIGATION"),
    (["--app-name", "", "--app-id", ""], "xclock", "sdl-car-window-xclock", "NAVIGATION"),
  ])
  func identity(_ options: [String], name: String, id: String, type: String) throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits")
    let process = try Program(
      [program, "--no-sound", "--uri", headUnit.uri] + options + ["/usr/bin/xclock"], in: folder)
    try headUnit.waitForOutput("registered \"\(name)\" (id \"\(id)\", \(type)")
    process.interrupt()
    #expect(process.wait().status == 130)
  }

  @Test func theLastLinesOfTheProgram() throws {
    let result = try Program.run(
      program, "--no-sound", "sh", "-c", "echo first; echo no such map >&2; exit 3", in: folder)
    #expect(result.status == 3 && result.output.contains("the status 3"), "\(result)")
    #expect(result.output.contains("  first\n") && result.output.contains("  no such map\n"), "\(result)")
  }

  @Test(arguments: [
    ["--fps", "0", "xclock"], ["--max-size", "10x10", "xclock"], ["--unknown", "xclock"], ["--uri"], [],
  ])
  func wrongCommandLines(_ arguments: [String]) throws {
    let result = try Program([program] + arguments, in: folder).wait()
    #expect(result.status == 2 && result.errors.contains("Try sdl-car-window --help"), "\(result)")
  }

  /// The guards end the program, the X server and the sound server.
  @Test func killed() throws {
    let process = try Program(
      [program, "sh", "-c", "echo $$ $DISPLAY $PULSE_SERVER >\(folder.path("started")); exec xclock"], in: folder)
    try process.waitForOutput { $0.contains("picture started") ? true : nil }
    func wait(until condition: () -> Bool) {
      let deadline = Date(timeIntervalSinceNow: 30)
      while !condition(), Date() < deadline { usleep(50_000) }
    }
    // The picture may start before the program does.
    var started: [Substring] = []
    wait {
      started = folder.text("started").split(whereSeparator: \.isWhitespace)
      return started.count == 3
    }
    try #require(started.count == 3)
    process.kill()
    let socket = String(started[2].dropFirst("unix:".count))
    let traces = ["/proc/\(started[0])", "/tmp/.X11-unix/X\(started[1].dropFirst())", socket]
    wait { !traces.contains(where: FileManager.default.fileExists(atPath:)) }
    #expect(traces.filter(FileManager.default.fileExists(atPath:)).isEmpty)
  }

  /// Ctrl-C ends the program as well, and the one that starts again and again, of which each end is told.
  @Test func interrupted() throws {
    let process = try Program([program, "--no-sound", "--restart", "sh", "-c", "echo no map; exit 4"], in: folder)
    try process.waitForOutput { output in
      let isTwice = ["the status 4, and is started again", "  no map\n"].allSatisfy { output.ranges(of: $0).count >= 2 }
      return isTwice && output.contains("picture started") ? true : nil
    }
    process.interrupt()
    let result = process.wait()
    #expect(result.status == 130, "\(result)")
  }
}
