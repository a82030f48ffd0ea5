import Testing

@testable import SDLApp

/// The largest picture that a head unit may ask for: each costs this machine memory and computing time.
@Suite struct LargePictureTests {
  private static let huge = VideoSize(8192, 4320)
  private static let wide = VideoSize(800, 380)

  private func sizes(_ driver: NegotiationDriver) -> [VideoSize?]? {
    driver.negotiation.knownDisplays?.map(\.streamSize)
  }

  /// Left out, also of the caps, and told once; what remains is streamed.
  @Test func oneOfTwo() {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.huge, Self.wide])
    #expect(driver.take().filter { $0 == "warning" }.count == 1)
    #expect(sizes(driver) == [Self.wide])
    driver.announce([Self.huge, Self.wide])
    driver.announce([Self.huge, VideoSize(640, 320)])
    #expect(!driver.take().contains("warning"))
    driver.announce([Self.huge, VideoSize(8000, 4000), Self.wide])
    #expect(driver.take().filter { $0 == "warning" }.count == 1)
    #expect(driver.error == nil)
  }

  /// The error says what could be done.
  @Test func onlySuch() {
    let driver = NegotiationDriver.playing([])
    driver.announce([Self.huge])
    guard case .tooLarge(let sizes, let largest, others: false)? = driver.error else {
      Issue.record("\(String(describing: driver.error))")
      return
    }
    #expect(sizes == [Self.huge] && largest == VideoSize(4096, 2304))
    let text = driver.error.map { "\($0)" } ?? ""
    #expect(text.contains("8192×4320") && text.contains("max-width") && text.contains("4096×2304"), "\(text)")
    #expect(driver.request == nil)
  }

  /// A screen without a capability, too.
  @Test func screen() {
    let driver = NegotiationDriver.playing([])
    driver.publish { $0.videoCapability = AppSession.VideoCapability(capability: nil, fallbackSize: Self.huge) }
    #expect(driver.error != nil)
  }

  /// The head unit may acknowledge another size than it has announced.
  @Test func acknowledged() {
    let driver = NegotiationDriver.playing([Self.wide])
    driver.overridingSize = Self.huge
    driver.runSession()
    guard case .tooLarge? = driver.error else {
      Issue.record("\(String(describing: driver.error))")
      return
    }
  }

  /// The number of pixels counts, in any shape; and what is encoded, not the display's own pixels.
  @Test(arguments: [VideoSize(4096, 2304), VideoSize(2304, 4096), VideoSize(7680, 720), VideoSize(3840, 2160)])
  func fits(size: VideoSize) {
    let driver = NegotiationDriver.playing([])
    driver.announce([size])
    #expect(driver.error == nil && sizes(driver) == [size])
    driver.announce([VideoDisplay(size: size, scale: 2)])
    #expect(driver.error == nil)
  }

  @Test func scaled() {
    let driver = NegotiationDriver.playing([])
    driver.announce([VideoDisplay(size: Self.huge, scale: 2)])
    #expect(driver.error == nil && sizes(driver) == [VideoSize(4096, 2160)])
  }

  /// The user's own bound.
  @Test func configured() {
    let raised = NegotiationDriver { $0.largestPicture = VideoSize(8192, 8192) }
    raised.announce([Self.huge])
    #expect(raised.error == nil)
    let lowered = NegotiationDriver { $0.largestPicture = VideoSize(640, 480) }
    lowered.announce([VideoSize(640, 482), VideoSize(640, 480)])
    #expect(lowered.error == nil && sizes(lowered) == [VideoSize(640, 480)])
  }
}
