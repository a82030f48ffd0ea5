import SDLApp
import Testing

/// Three layers, merged from scratch (rows E of the acceptance cases).
@Suite struct EncoderTargetsTests {
  struct Row: Sendable {
    var app: Int?
    var limit: Int?
    var preferred: Int?
    var bitrate: Int
    var frameRate: Int
  }

  @Test(arguments: [
    // E1, E2, E3, E5, E6, E10
    Row(app: nil, limit: nil, preferred: nil, bitrate: 600, frameRate: 15),
    Row(app: nil, limit: 20_000, preferred: 15, bitrate: 600, frameRate: 15),
    Row(app: 3000, limit: 5000, preferred: nil, bitrate: 3000, frameRate: 15),
    Row(app: 8000, limit: nil, preferred: nil, bitrate: 8000, frameRate: 15),
    Row(app: 300, limit: nil, preferred: nil, bitrate: 300, frameRate: 15),
    Row(app: nil, limit: 0, preferred: 0, bitrate: 600, frameRate: 15),
    // The head unit's limit holds for both layers below it.
    Row(app: 8000, limit: 5000, preferred: 30, bitrate: 5000, frameRate: 30),
    Row(app: nil, limit: 400, preferred: nil, bitrate: 400, frameRate: 15),
    // The unit mistaken by generic_hmi is no limit in practice.
    Row(app: nil, limit: 400_000, preferred: 60, bitrate: 600, frameRate: 60),
    // Absurd numbers from the network.
    Row(app: 1000, limit: -1, preferred: -1, bitrate: 1000, frameRate: 15),
    Row(app: 1000, limit: .max, preferred: .max, bitrate: 1000, frameRate: 240),
    Row(app: 1000, limit: .min, preferred: .min, bitrate: 1000, frameRate: 15),
  ])
  func merge(_ row: Row) {
    let targets = EncoderTargets(bitrate: row.app, maximumBitrate: row.limit, preferredFrameRate: row.preferred)
    #expect(targets.bitrate == row.bitrate)
    #expect(targets.frameRate == row.frameRate)
  }
}
