import GStreamerKit
import Glibc
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Many apps and as many head units in one process, whose threads and descriptors are counted.
/// `make test` gives the suite a process of its own.
@Suite(.serialized) struct ManyPairsWholeProcessTests {
  /// An app and a head unit, connected over TCP.
  private struct Pair {
    static let frameCount = 30
    /// The sources' own, the connection's, the head unit's and the player's.
    static let threadCount = 5

    let screen: Pipeline
    let app: Pipeline

    init() throws {
      screen = try Pipeline("sdlheadunitsrc name=src port=0 screen-size=320x240 ! fakesink sync=false")
      try screen.play()
      let port = try #require(try screen["src"]["current-port"])
      // Paced, but not live, so that no frame that was sent may be missing, however busy the machine is.
      app = try Pipeline(
        """
        videotestsrc pattern=ball num-buffers=\(Self.frameCount) ! video/x-raw,width=320,height=240,framerate=15/1 \
        ! sdlvideosink name=sink uri=sdl://127.0.0.1:\(port) max-framerate=15 keep-alive-interval=0
        """)
      try app.playAsAPlayer()
    }

    func waitForEnd() throws {
      try app.waitForEnd()
      let source = try screen["src"]
      let statistics = try app.sink.statistics
      // The others may be late on a busy machine.
      #expect(statistics["frames-sent"] > 0, "\(statistics)")
      let count = statistics["frames-sent"] + statistics["frames-repeated"]
      #expect(eventually { source.statistics["frames-out"] == count }, "\(source.statistics), \(statistics)")
      #expect(source.statistics.dropped == 0, "\(source.statistics)")
    }

    func stop() {
      app.stop()
      screen.stop()
    }
  }

  /// Threads during the streams.
  private static func stream(_ pairCount: Int) throws -> Int {
    let pairs = try (0..<pairCount).map { _ in try Pair() }
    for pair in pairs { try pair.app.waitForElementMessage("sdl-stream-started") }
    let threads = ProcessUsage().threads
    for pair in pairs { try pair.waitForEnd() }
    for pair in pairs { pair.stop() }
    return threads
  }

  @Test func allStreamAndNothingIsLeft() throws {
    // What is loaded and started once. GLib makes its main context when it is first asked whose thread it is.
    _ = try Self.stream(1)
    _ = g_main_context_default()
    let before = ProcessUsage()
    let pairCount = 32
    let threads = try Self.stream(pairCount)
    #expect(threads - before.threads < pairCount * (Pair.threadCount + 1))
    #expect(before.isRestored(), "\(before), then \(ProcessUsage())")
  }
}
