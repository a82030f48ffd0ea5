import SDLApp
import Testing

/// Sizes for negotiation.
@Suite struct VideoDisplayTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var display: VideoSize
    var scale: Double?
    var size: VideoSize?
    init(_ width: Int, _ height: Int, _ scale: Double?, _ size: VideoSize?) {
      display = VideoSize(width, height)
      self.scale = scale
      self.size = size
    }
    var testDescription: String { "\(display) at \(scale.map { "\($0)" } ?? "no scale")" }
  }

  @Test(arguments: [
    Row(800, 354, 1, VideoSize(800, 354)), Row(1280, 569, 1.25, VideoSize(1024, 454)),
    Row(1280, 569, 1.5, VideoSize(852, 378)), Row(800, 380, 1.5, VideoSize(532, 252)),
    Row(480, 320, 1.5, VideoSize(320, 212)), Row(1920, 1080, 1.75, VideoSize(1096, 616)),
    Row(500, 200, 1.3, VideoSize(384, 154)), Row(1280, 720, 3, VideoSize(426, 240)),
    Row(101, 101, 2, VideoSize(50, 50)), Row(960, 600, 1.5, VideoSize(640, 400)),
    Row(960, 600, 2, VideoSize(480, 300)), Row(1280, 768, 4.0 / 3, VideoSize(960, 576)),
    // Scales out of range.
    Row(800, 480, nil, VideoSize(800, 480)), Row(800, 480, 0, VideoSize(800, 480)),
    Row(800, 480, 0.5, VideoSize(800, 480)), Row(800, 480, -3, VideoSize(800, 480)),
    Row(800, 480, 12, VideoSize(80, 48)), Row(800, 480, .nan, VideoSize(800, 480)),
    Row(800, 480, .infinity, VideoSize(80, 48)), Row(800, 480, -.infinity, VideoSize(800, 480)),
    // The smallest picture.
    Row(16, 16, 1, VideoSize(16, 16)), Row(17, 17, 1, VideoSize(16, 16)), Row(15, 400, 1, nil), Row(400, 15, 1, nil),
    Row(150, 150, 10, nil), Row(155, 160, 10, VideoSize(16, 16)), Row(0, 0, nil, nil), Row(-800, 480, 1, nil),
    Row(.max, .max, 1, nil), Row(.min, .min, 1, nil),
    // The largest one.
    Row(8192, 4352, 1, VideoSize(8192, 4352)), Row(8192, 4354, 1, nil), Row(8194, 16, 1, nil),
    Row(10_000, 10_000, 1, nil), Row(10_000, 10_000, 2, VideoSize(5000, 5000)),
  ])
  func size(_ row: Row) {
    let display = VideoDisplay(size: row.display, scale: row.scale)
    #expect(display.streamSize == row.size)
    #expect(display.size == row.display)
    #expect((1...10).contains(display.scale))
    if let size = display.streamSize { #expect(size.width.isMultiple(of: 2) && size.height.isMultiple(of: 2)) }
  }

  @Test(
    arguments: [(nil, nil), (0, nil), (-5, nil), (1, 1), (60, 60), (240, 240), (1000, 240), (.max, 240)]
      as [(Int?, Int?)])
  func frameRate(announced: Int?, offered: Int?) {
    #expect(VideoDisplay(size: VideoSize(800, 480), scale: 1, frameRate: announced).frameRate == offered)
  }
}
