import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnit

/// What the entries of a capability mean for pictures of a size.
@Suite struct OfferedCapabilityTests {
  private static func entry(
    _ width: Int, _ height: Int, fps: Int? = nil, bitrate: Int? = nil, formats: [VideoStreamingFormat]? = nil
  ) -> VideoStreamingCapability {
    var entry = VideoStreamingCapability()
    entry.preferredResolution = VideoSize(width, height)
    (entry.preferredFPS, entry.maxBitrate, entry.supportedFormats) = (fps, bitrate, formats)
    return entry
  }

  private static func offer(_ root: VideoStreamingCapability, _ others: VideoStreamingCapability...)
    -> OfferedCapability
  {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.videoCapability = root
    configuration.videoCapability?.additionalCapabilities = others
    return OfferedCapability(configuration)
  }

  /// The highest of the entries that have the size; what they do not say is that of the first, as for other sizes.
  @Test(
    arguments: [
      (800, 480, 60, 1000), (400, 240, 10, 1000), (320, 200, 30, 7), (640, 360, 30, 1000),
    ])
  func rates(width: Int, height: Int, fps: Int, bitrate: Int) {
    let offer = Self.offer(
      Self.entry(800, 480, fps: 30, bitrate: 1000), Self.entry(800, 480, fps: 60, bitrate: 500),
      Self.entry(400, 240, fps: 10), Self.entry(320, 200, bitrate: 7))
    let limits = offer.limits(for: VideoSize(width, height))
    #expect(limits == VideoStreamLimits(picturesPerSecond: fps, kilobitsPerSecond: bitrate))
  }

  /// One entry without a limit is enough.
  @Test func unlimitedRates() {
    let offer = Self.offer(Self.entry(800, 480), Self.entry(800, 480, fps: 60, bitrate: 500))
    #expect(offer.limits(for: VideoSize(800, 480)) == VideoStreamLimits())
  }

  /// Those of the entries that have the size, which is known by both of its sides.
  @Test(
    arguments: [
      (800, 480, [.rawH264]), (400, 240, [.rtpH264]), (320, 200, [.rawH264]), (640, 360, [.rawH264]),
      (400, nil, [.rawH264]), (nil, 240, [.rawH264]),
    ] as [(Int32?, Int32?, [VideoStreamingFormat])])
  func formats(width: Int32?, height: Int32?, formats: [VideoStreamingFormat]) {
    let offer = Self.offer(
      Self.entry(800, 480, formats: [.rawH264]), Self.entry(400, 240, formats: [.rtpH264]), Self.entry(320, 200))
    #expect(offer.formats(for: VideoServiceParameters(width: width, height: height)) == formats)
  }

  /// A start may name one side.
  @Test(
    arguments: [
      (800, nil, []), (nil, 480, []), (798, nil, ["width"]), (nil, 478, ["height"]), (nil, nil, []),
      (800, 478, ["height", "width"]),
    ] as [(Int32?, Int32?, [String])])
  func refusedSides(width: Int32?, height: Int32?, rejected: [String]) {
    let sizes = VideoSizeRules(screen: VideoSize(1, 1), capabilities: [nil, Self.entry(800, 480)])
    #expect(sizes.rejection(of: VideoServiceParameters(width: width, height: height)) == rejected)
  }

  /// An acknowledgement with less than two sides stands for the request, and such a request for the whole display.
  @Test(
    arguments: [
      (400, 240, 320, 200, 400, 240), (0, 0, 320, 200, 320, 200), (400, 0, 320, 200, 320, 200),
      (0, 240, 320, 200, 320, 200), (nil, 240, 320, 200, 320, 200), (400, nil, 320, 200, 320, 200),
      (nil, nil, 320, nil, 532, 320), (nil, nil, nil, 200, 532, 320), (0, 0, 0, 0, 532, 320),
    ] as [(Int32?, Int32?, Int32?, Int32?, Int, Int)])
  func acknowledgedSize(
    width: Int32?, height: Int32?, wantedWidth: Int32?, wantedHeight: Int32?, effectiveWidth: Int, effectiveHeight: Int
  ) {
    var root = Self.entry(800, 480)
    root.scale = 1.5
    let sizes = VideoSizeRules(screen: VideoSize(1, 1), capabilities: [nil, root])
    let effective = sizes.effective(
      VideoServiceParameters(width: width, height: height),
      VideoServiceParameters(width: wantedWidth, height: wantedHeight))
    #expect(effective == VideoSize(effectiveWidth, effectiveHeight))
  }

  /// Touchable rectangles lie within the largest width and height, of whichever entries.
  @Test(
    arguments: [
      (0, 0, 800, 600, true), (1, 0, 800, 1, false), (0, 1, 1, 600, false), (0, 0, 801, 1, false),
      (0, 0, 1, 601, false), (-1, 0, 1, 1, false), (0, -1, 1, 1, false), (0, 0, -1, 1, false), (0, 0, 1, -1, false),
    ])
  func rectangles(x: Double, y: Double, width: Double, height: Double, areInside: Bool) {
    var root = Self.entry(800, 480)
    root.hapticSpatialDataSupported = true
    let rectangle = HapticRectangle(id: 1, x: x, y: y, width: width, height: height)
    root.additionalCapabilities = [Self.entry(400, 600)]
    let faults = HapticRules(capability: root, screen: VideoSize(1, 1)).faults(of: [rectangle])
    #expect(faults == (areInside ? [] : [.outsideDisplay(rectangle, display: VideoSize(800, 600))]))
  }
}
