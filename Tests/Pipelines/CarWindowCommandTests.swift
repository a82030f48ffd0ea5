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
      "xclock -update 1 & sleep 2; gst-launch-1.0 filesrc location=\(tone) ! wavparse ! pulsesink; sleep 1; kill $!; exit 5",
      in: folder)
    #expect(result.status == 5 && result.output.contains("picture started"), "\(result)")
    #expect(result.output.contains("sound started") && result.output.contains("the status 5"), "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0, "\(summary)")
    let pictures = try Pictures(
      from: "filesrc location=\(video) ! h264parse ! avdec_h264", width: 800, height: 480, in: folder)
    #expect(pictures.count >= 2 && pictures.whitePixels(of: pictures.count - 1) > 100_000, "\(summary)")
    // Of 2.1 s of tone, in samples of 16 bits at 16 kHz, after the file's header.
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: sound)).dropFirst(44))
    let loud = stride(from: 1, to: bytes.count, by: 2).count { abs(Int(Int8(bitPattern: bytes[$0]))) > 16 }
    #expect(loud > 16_000, "\(loud) of \(bytes.count / 2) samples")
  }

  @Test func aProgramThatIsMissing() throws {
    let result = try Program.run(program, "--no-sound", "no-such-program", in: folder)
    #expect(result.status == 1 && result.output.contains("can't be started: No such file"), "\(result)")
  }

  @Test(arguments: [
    ["--fps", "0", "xclock"], ["--max-size", "10x10", "xclock"], ["--unknown", "xclock"], ["--uri"], [],
  ])
  func wrongCommandLines(_ arguments: [String]) throws {
    let result = try Program([program] + arguments, in: folder).wait()
    #expect(result.status == 2 && result.errors.contains("usage: sdl-car-window"), "\(result)")
  }

  /// The guards end the program, the X server and the sound server.
  @Test func killed() throws {
    let process = try Program(
      [program, "sh", "-c", "echo $$ $DISPLAY $PULSE_SERVER >\(folder.path("started")); exec xclock"], in: folder)
    try process.waitForOutput { $0.contains("picture started") ? true : nil }
    let started = folder.text("started").split(whereSeparator: \.isWhitespace)
    try #require(started.count == 3)
    process.kill()
    let socket = String(started[2].dropFirst("unix:".count))
    let traces = ["/proc/\(started[0])", "/tmp/.X11-unix/X\(started[1].dropFirst())", socket]
    let deadline = Date(timeIntervalSinceNow: 30)
    while traces.contains(where: FileManager.default.fileExists(atPath:)), Date() < deadline { usleep(50_000) }
    #expect(traces.filter(FileManager.default.fileExists(atPath:)).isEmpty)
  }

  /// Ctrl-C ends the program as well, and the one that starts again and again.
  @Test func interrupted() throws {
    let process = try Program([program, "--no-sound", "--restart", "timeout", "1", "xclock"], in: folder)
    try process.waitForOutput { $0.contains("picture started") ? true : nil }
    process.interrupt()
    let result = process.wait()
    #expect(result.status == 130, "\(result)")
  }
}
