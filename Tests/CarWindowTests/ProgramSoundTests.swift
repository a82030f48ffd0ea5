import Foundation
import SDLLink
import TestSupport
import Testing

@testable import CarWindow
@testable import PluginTestSupport

/// A private server, unless this user has one.
@Suite struct ProgramSoundTests {
  /// Capturing silence would take some percent of a core for as long as the program runs.
  @Test func nothingComesWhileNothingPlays() throws {
    // It is built beside the tests.
    let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "sdl-car-window")
    let sound = try ProgramSound(
      title: "it's a \"test\"", guardedBy: ProcessGuard(command: [tool.path, "--process-guard"]))
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
}
