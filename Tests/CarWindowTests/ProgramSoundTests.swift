import Foundation
import SDLLink
import TestSupport
import Testing

@testable import CarWindow
@testable import PluginTestSupport

/// A private server, unless this user has one.
@Suite struct ProgramSoundTests {
  /// It is built beside the tests.
  private static let tool =
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "sdl-car-window").path

  /// Capturing silence would take some percent of a core for as long as the program runs.
  @Test func nothingComesWhileNothingPlays() throws {
    let sound = try ProgramSound(
      title: "it's a \"test\"", guardedBy: ProcessGuard(command: [Self.tool, "--process-guard"]))
    defer { sound.stop() }
    let counts = Monitor((all: 0, loud: 0))
    try sound.start(tellsSilence: false) { event in
      guard case .samples(let bytes) = event else { return }
      counts.withLock { $0 = ($0.all + bytes.count, $0.loud + bytes.count { $0 != 0 }) }
    }
    let isQuiet = {
      let before = counts.withLock { $0.all }
      usleep(1_000_000)
      return counts.withLock { $0.all } == before
    }
    #expect(eventually(isQuiet))
    let player = Process()
    player.executableURL = URL(filePath: "/usr/bin/env")
    player.arguments = ["gst-launch-1.0", "--quiet", "audiotestsrc", "num-buffers=50", "!", "pulsesink"]
    player.environment = ProcessInfo.processInfo.environment.merging(sound.environment) { $1 }
    try player.run()
    player.waitUntilExit()
    // 50 buffers of 1024 samples of 4 bytes, of which a few bytes are 0.
    #expect(eventually { counts.withLock { $0.loud } > 180_000 }, "\(counts.withLock { $0 })")
    #expect(eventually(isQuiet))
  }

  /// With more than 20 ms in a piece, sound would be late against the picture. The sink goes with the process.
  @Test func whatTheServerIsAskedFor() throws {
    let processGuard = ProcessGuard(command: [Self.tool, "--process-guard"])
    let server = try SoundServer(guardedBy: processGuard)
    defer { server.stop() }
    let environment = CarWindow.environment.merging(server.environment) { $1 }.merging(["LC_ALL": "C"]) { $1 }
    let samples = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(samples) }
    let process = try GuardedProcess(
      GuardedProcess.Command(
        arguments: [Self.tool, SoundProcess.argument, "car", "Car (it's a \"test\")"], environment: environment,
        folder: "/", passed: samples, privateFolder: nil), guardedBy: processGuard)
    func pactl(_ arguments: String...) throws -> (status: Int32, output: String) {
      let pactl = Process()
      pactl.executableURL = URL(filePath: "/usr/bin/env")
      pactl.arguments = ["pactl"] + arguments
      pactl.environment = environment
      let output = Pipe()
      (pactl.standardOutput, pactl.standardError) = (output, FileHandle.nullDevice)
      try pactl.run()
      let bytes = output.fileHandleForReading.readDataToEndOfFile()
      pactl.waitUntilExit()
      return (pactl.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }
    // A suspended source has no latency.
    #expect(try pactl("unload-module", "module-suspend-on-idle").status == 0)
    var sources = ""
    let isConfigured = eventually {
      sources = (try? pactl("list", "sources").output) ?? ""
      return sources.contains("configured 20000 usec")
    }
    #expect(isConfigured && sources.contains("Name: car.monitor"), "\(sources)")
    // Quotation marks would end the description.
    let sinks = try pactl("list", "sinks").output
    #expect(sinks.contains("Description: Car (its a test)\n"), "\(sinks)")
    let recording = try pactl("list", "source-outputs").output
    #expect(recording.contains("Sample Specification: s16le 2ch 48000Hz\n"), "\(recording)")
    #expect(recording.contains("node.passive = \"true\""), "\(recording)")
    // Nobody moves it to another source, such as a microphone.
    #expect(try pactl("load-module", "module-null-sink", "sink_name=other").status == 0)
    let number = try #require(try pactl("list", "short", "source-outputs").output.split(separator: "\t").first)
    #expect(try pactl("move-source-output", String(number), "other.monitor").status != 0)
    process.end(within: .seconds(5))
    let names = try pactl("list", "short", "sinks").output.split(separator: "\n").map { $0.split(separator: "\t")[1] }
    #expect(names == ["other"])
  }
}
