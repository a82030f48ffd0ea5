import SDLApp
import SDLHeadUnit
import Testing

/// Sizes for negotiation (rows S of the acceptance cases, and the table of scales).
@Suite struct VideoOfferTests {
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
  ])
  func size(_ row: Row) {
    let offer = VideoOffer(displaySize: row.display, scale: row.scale, frameRate: nil)
    #expect(offer?.size == row.size)
    if let offer {
      #expect(offer.displaySize == row.display)
      #expect((1...10).contains(offer.scale))
      #expect(offer.size.width.isMultiple(of: 2) && offer.size.height.isMultiple(of: 2))
    }
  }

  @Test(
    arguments: [(nil, nil), (0, nil), (-5, nil), (1, 1), (60, 60), (240, 240), (1000, 240), (.max, 240)]
      as [(Int?, Int?)])
  func frameRate(announced: Int?, offered: Int?) {
    #expect(VideoOffer(displaySize: VideoSize(800, 480), scale: 1, frameRate: announced)?.frameRate == offered)
  }

  @Test func shippedCapabilityOfCore() throws {
    let capability = try #require(HeadUnitPreset.core.configuration.videoCapability)
    let offers = VideoOffer.offers(of: capability)
    #expect(
      offers.map(\.size) == [
        VideoSize(800, 380), VideoSize(320, 200), VideoSize(480, 320), VideoSize(400, 380), VideoSize(800, 240),
        VideoSize(532, 252), VideoSize(400, 190),
      ])
    #expect(offers.allSatisfy { $0.frameRate == 15 })
    #expect(offers.map(\.scale) == [1, 1, 1, 1, 1, 1.5, 2])
  }

  @Test func genericHMI() throws {
    let capability = try #require(HeadUnitPreset.genericHMI.configuration.videoCapability)
    #expect(
      VideoOffer.offers(of: capability).map(\.size) == [VideoSize(960, 600), VideoSize(640, 400), VideoSize(480, 300)])
  }

  @Test func whatAdditionalOnesInherit() {
    func entry(_ size: ImageResolution?, scale: Double? = nil, rate: Int? = nil) -> VideoStreamingCapability {
      var entry = VideoStreamingCapability()
      entry.preferredResolution = size
      entry.scale = scale
      entry.preferredFPS = rate
      return entry
    }
    var root = entry(ImageResolution(800, 480), scale: 2, rate: 30)
    root.additionalCapabilities = [
      // The frame rate, but not the scale.
      entry(ImageResolution(640, 360)),
      // 0 counts as absent.
      entry(ImageResolution(320, 240), rate: 0),
      // Another rate is another offer, …
      entry(ImageResolution(640, 360), rate: 15),
      // … the same picture, whatever the display, is not.
      entry(ImageResolution(1280, 720), scale: 2),
      // Nothing to offer.
      entry(nil, scale: 1.5), entry(ImageResolution(20, 20), scale: 2),
    ]
    let offers = VideoOffer.offers(of: root)
    #expect(offers.map(\.size) == [VideoSize(400, 240), VideoSize(640, 360), VideoSize(320, 240), VideoSize(640, 360)])
    #expect(offers.map(\.frameRate) == [30, 30, 30, 15])
    #expect(offers.map(\.scale) == [2, 1, 1, 1])
    #expect(VideoOffer.offers(of: VideoStreamingCapability()).isEmpty)
  }

  /// A root without a size does not hide the additional ones.
  @Test func onlyAdditionalOnes() {
    var entry = VideoStreamingCapability()
    entry.preferredResolution = ImageResolution(640, 360)
    var root = VideoStreamingCapability()
    root.additionalCapabilities = [entry, entry]
    #expect(VideoOffer.offers(of: root).map(\.size) == [VideoSize(640, 360)])
  }
}
