import GStreamerKit
import SDLHeadUnit
import SDLMessages
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The head unit resizes while caps and buffers are in flight: whenever that happens, the last size wins.
@Suite struct ResizeRaceTests {
  private static let sizes = [
    VideoSize(64, 48), VideoSize(80, 48), VideoSize(96, 64), VideoSize(64, 96),
    VideoSize(128, 96), VideoSize(48, 64),
  ]

  /// How upstream brings pictures.
  enum Source: CaseIterable {
    case live, scaled, queued, file, encoded

    var description: String {
      let rate = "framerate=240/1"
      let encoder = "x264enc tune=zerolatency speed-preset=ultrafast threads=1"
      return switch self {
      case .live: "videotestsrc is-live=true ! video/x-raw,format=I420,\(rate)"
      case .scaled: "videotestsrc is-live=true ! video/x-raw,width=160,height=120,\(rate) ! videoconvertscale"
      case .queued: "videotestsrc is-live=true ! video/x-raw,format=I420,\(rate) ! queue"
      case .file: "videotestsrc ! video/x-raw,format=I420,\(rate)"
      case .encoded:
        "videotestsrc is-live=true ! video/x-raw,\(rate) ! \(encoder) ! video/x-h264,profile=constrained-baseline"
      }
    }

    var rounds: Int { self == .live ? 60 : 25 }
  }

  /// - Parameter isStrict: whether a start in any size but the last is refused, after which the app leaves the screen.
  ///   The head unit may have resized while the start was on its way.
  private func harness(_ source: Source, isStrict: Bool = false) throws -> ResizeHarness {
    let first = Self.sizes[0]
    // Without a requested frame rate none is checked, and files run as fast as they can.
    let frameRate = source == .file ? nil : 240
    return try ResizeHarness(
      .small(first.width, first.height, frameRate: frameRate, maximumBitrate: nil).with {
        $0.refusesUnknownSizes = isStrict
      },
      source: source.description,
      properties: "sync=\(source != .file) keep-alive-interval=0 threads=1 speed-preset=ultrafast bitrate=200")
  }

  @Test(arguments: Source.allCases) func random(_ source: Source) throws {
    var generator = SeededGenerator(seed: 4)
    let harness = try harness(source)
    try harness.start()
    var size = Self.sizes[0]
    for _ in 0..<source.rounds {
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        size = Self.sizes.filter { $0 != size }.randomElement(using: &generator) ?? size
        harness.resize(size)
        g_usleep(UInt.random(in: 0...3000, using: &generator))
      }
      try harness.waitForFrames(1, of: size)
      g_usleep(UInt.random(in: 0...1000, using: &generator))
    }
    try harness.expectSettled()
    #expect(harness.resizes.count >= source.rounds / 2)
  }

  /// A refused start has no other consequence than that the driver has to open the app again.
  @Test func refusals() throws {
    var generator = SeededGenerator(seed: 5)
    let harness = try harness(.live, isStrict: true)
    try harness.start()
    var size = Self.sizes[0]
    for _ in 0..<60 {
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        size = Self.sizes.filter { $0 != size }.randomElement(using: &generator) ?? size
        harness.resize(size)
        g_usleep(UInt.random(in: 0...3000, using: &generator))
      }
      try harness.waitForFrames(1, of: size, reopening: true)
    }
    let news = harness.pipeline.drain()
    #expect(news.allSatisfy { $0.error == nil }, "\(news.compactMap(\.error))")
    harness.pipeline.stop()
    #expect(try harness.statistics.areFramesConserved)
    try harness.expectDecodable()
  }

  @Test(arguments: NegotiationHook.Moment.allCases, [Source.live, .scaled, .encoded])
  func atTheMoment(_ moment: NegotiationHook.Moment, source: Source) throws {
    let harness = try harness(source)
    try harness.start()
    let pad = try harness.pipeline.sink.pad("sink")
    for round in 0..<12 {
      let (first, second) = (Self.sizes[1 + round % 2], Self.sizes[3 + round % 2])
      let trap = NegotiationHook(moment, first) {
        harness.resize(second)
        // The connection thread itself may be the one that asks upstream.
        if moment != .reconfigure { try? harness.waitUntilKnown(second) }
      }
      let probe = trap.set(at: pad)
      harness.resize(first)
      try harness.waitForFrames(2, of: second)
      gst_pad_remove_probe(pad, probe)
      #expect(trap.hasRun)
    }
    try harness.expectSettled()
  }
}
