import Foundation
import Testing

/// The sound of the program that `sdl-car-window` runs.
@Suite struct CarWindowSoundTests {
  private let folder: TemporaryFolder
  private let program: String
  private let tone: String

  init() throws {
    folder = try TemporaryFolder()
    // It is built beside the tests.
    program = Installation.headUnitTool.deletingLastPathComponent().appending(path: "sdl-car-window").path
    // 4.3 s, of which one is to be heard: the service may start late.
    tone = folder.path("tone.wav")
    _ = try folder.launch(
      "--quiet audiotestsrc num-buffers=200 ! audio/x-raw,rate=48000 ! wavenc ! filesink location=\(tone)")
  }

  private func makeFolder(_ name: String) throws -> String {
    try FileManager.default.createDirectory(at: folder.url.appending(path: name), withIntermediateDirectories: false)
    return folder.path(name)
  }

  /// Samples of 16 bits at 16 kHz, after the file's header.
  private func loudSampleCount(_ file: String) throws -> Int {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)).dropFirst(44))
    return stride(from: 1, to: bytes.count, by: 2).count { abs(Int(Int8(bitPattern: bytes[$0]))) > 16 }
  }

  /// Most desktops have it. The sink goes away with the program, and when nobody is left to take it away.
  @Test func theUsersServer() throws {
    let sound = folder.path("record.wav")
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record-audio", sound)
    let session = Installation.package.appending(path: "Tests/Pipelines/Programs/pipewire-session").path
    let sinks = "pactl list short sinks | grep -q sdl-car-window"
    let play = "gst-launch-1.0 filesrc location=\(tone) ! wavparse ! pulsesink; sleep 1"
    let result = try Program.run(
      session, try makeFolder("session"),
      """
      \(program) --uri \(headUnit.uri) -- sh -c '\(play)'
      \(sinks) || echo no sink is left
      \(program) xclock & window=$!
      while ! \(sinks); do sleep 0.1; done
      kill -KILL $window
      while \(sinks); do sleep 0.1; done
      echo none after that
      """, in: folder)
    #expect(result.output.contains("no sink is left") && result.output.contains("none after that"), "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(try loudSampleCount(sound) > 16_000, "\(result)\n\(summary)")
  }

  /// The private one leaves the user's home alone, as do its clients.
  @Test func aPrivateServer() throws {
    let sound = folder.path("record.wav")
    let home = try TemporaryFolder()
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record-audio", sound)
    let result = try Program.run(
      program, "--uri", headUnit.uri, "--", "sh", "-c",
      "gst-launch-1.0 filesrc location=\(tone) ! wavparse ! pulsesink; sleep 1", in: folder,
      environment: ["HOME": home.url.path, "XDG_RUNTIME_DIR": home.url.path, "XDG_CONFIG_HOME": home.path("config")])
    // At once: a script may go on with the next program. libpulse makes this where it looks for the user's server.
    let left = try FileManager.default.subpathsOfDirectory(atPath: home.url.path)
    #expect(left.allSatisfy { $0 == "pulse" }, "\(left)")
    let summary = headUnit.waitForEnd()
    #expect(try loudSampleCount(sound) > 16_000, "\(result)\n\(summary)")
  }

  /// A private one that says more than a pipe holds, and takes its time to end, which the program waits for.
  @Test func aTalkativeServer() throws {
    let (number, go, done) = (folder.path("number"), folder.path("go"), folder.path("done"))
    let server = """
      #!/bin/sh
      echo $$ > \(number)
      trap 'sleep 1; exit' TERM
      /usr/bin/pulseaudio "$@" &
      while [ ! -e \(go) ]; do sleep 0.1; done
      head -c 200000 /dev/zero
      touch \(done)
      wait

      """
    try folder.makeProgram("pulseaudio", server)
    let home = folder.url.path
    let result = try Program.run(
      program, "--", "sh", "-c", "touch \(go); timeout 20 sh -c 'while [ ! -e \(done) ]; do sleep 0.1; done'",
      in: folder, environment: ["PATH": "\(home):/usr/bin:/bin", "HOME": home, "XDG_RUNTIME_DIR": home])
    #expect(FileManager.default.fileExists(atPath: done), "\(result)")
    let text = try String(contentsOfFile: number, encoding: .utf8)
    let process = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(kill(process, 0) != 0, "\(result)")
  }

  /// The picture goes on.
  @Test func withoutAServer() throws {
    let programs = try TemporaryFolder()
    for name in ["Xvfb", "xclock"] {
      let links = ["/usr/bin/\(name)", programs.path(name)]
      try FileManager.default.createSymbolicLink(atPath: links[1], withDestinationPath: links[0])
    }
    let process = try Program(
      [program, "xclock"], in: folder,
      environment: ["PATH": programs.url.path, "HOME": programs.url.path, "XDG_RUNTIME_DIR": programs.url.path])
    let output = try process.waitForOutput { $0.contains("picture started") ? $0 : nil }
    #expect(output.contains("warning: the sound is not heard in the car: There is no sound server"), "\(output)")
    #expect(output.contains("install pulseaudio"), "\(output)")
    process.interrupt()
    #expect(process.wait().status == 130)
  }

  /// The process for the sound tells the reason once, and that it has failed.
  @Test func aServerThatDoesNotAnswer() throws {
    let process = try Program(
      [program, "--sound-process", "sink", "title"], in: folder,
      environment: ["PULSE_SERVER": "unix:\(folder.path("nothing"))"])
    let result = process.wait()
    #expect(result.status == 1 && result.output.split(separator: "\n").count == 1, "\(result)")
  }
}
