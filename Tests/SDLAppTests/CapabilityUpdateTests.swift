import SDLApp
import SDLHeadUnit
import Testing

/// The displays after partial updates of the capability.
@Suite struct CapabilityUpdateTests {
  private static let core = HeadUnitPreset.core.configuration.videoCapability ?? VideoStreamingCapability()

  private static func capability(_ json: String) throws -> VideoStreamingCapability {
    VideoStreamingCapability(json: try JSONObject(parsing: Array(json.utf8)))
  }

  private static func size(_ width: Int, _ height: Int, _ rest: String = "") -> String {
    #"{"preferredResolution":{"resolutionWidth":\#(width),"resolutionHeight":\#(height)}\#(rest)}"#
  }

  /// "800×380", with a question mark for a fallback.
  private static func texts(_ capability: VideoStreamingCapability?) -> [String] {
    capability.map(VideoDisplay.displays(of:))?.map { display in
      (display.streamSize?.description ?? "none") + (display.isFallback ? "?" : "")
    } ?? []
  }

  private static func driver(_ capability: VideoStreamingCapability, supporting sizes: [VideoSize]? = nil) -> AppDriver
  {
    let driver = AppDriver.registering()
    driver.acceptRegistration()
    driver.answerCapability(capability)
    let displays = VideoDisplay.displays(of: capability)
    driver.setSupportedDisplays(displays.filter { display in sizes?.contains { display.size == $0 } ?? true })
    return driver
  }

  private static func stream(_ driver: AppDriver, _ size: VideoSize) {
    driver.setVideoRequest(VideoStartRequest(size: size))
    driver.status(.full, .streamable)
    driver.acknowledgeVideo()
    _ = driver.take()
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var updates: [String]
    var displays: [String]
    init(_ id: String, _ updates: [String], _ displays: [String]) {
      (testDescription, self.updates, self.displays) = (id, updates, displays)
    }
  }

  private static let coreFallbacks = [
    "800×380?", "320×200?", "480×320?", "400×380?", "800×240?", "532×252?", "400×190?",
  ]
  private static let newList =
    size(640, 360, #","additionalVideoStreamingCapabilities":[\#(size(320, 180)),\#(size(640, 360))]"#)

  @Test(arguments: [
    Row("a size alone", [size(480, 322)], ["480×322"] + coreFallbacks),
    Row("two sizes in a row", [size(480, 322), size(240, 100)], ["240×100"] + coreFallbacks),
    Row("the same size again", [size(480, 322), size(480, 322)], ["480×322"] + coreFallbacks),
    Row("rates afterwards", [size(480, 322), #"{"preferredFPS":10}"#], ["480×322"] + coreFallbacks),
    Row("a new list", [size(480, 322), newList], ["640×360", "320×180", "640×360"]),
    Row("a size after a new list", [newList, size(480, 322)], ["480×322", "320×180?", "640×360?"]),
    Row("an empty list", [size(480, 322, #","additionalVideoStreamingCapabilities":[]"#)], ["480×322"]),
    Row(
      "what is announced is no fallback", [size(480, 320, #","diagonalScreenSize":5,"pixelPerInch":0"#)],
      ["480×320"] + coreFallbacks.filter { $0 != "480×320?" }),
    Row("a size that can't be encoded", [size(10, 10)], coreFallbacks),
  ])
  func formerLists(_ row: Row) throws {
    let driver = Self.driver(Self.core)
    for update in row.updates { driver.updateCapability(try Self.capability(update)) }
    #expect(Self.texts(driver.capabilities.last ?? nil) == row.displays)
  }

  /// Updates before the answer to GetSystemCapability, whose list is older.
  @Test func formerListsOfEarlyUpdates() throws {
    let driver = AppDriver.registering()
    driver.acceptRegistration()
    driver.updateCapability(try Self.capability(Self.newList))
    driver.updateCapability(try Self.capability(Self.size(480, 322)))
    driver.answerCapability(Self.core)
    #expect(Self.texts(driver.capabilities.last ?? nil) == ["480×322", "320×180?", "640×360?"])
  }

  @Test func manyUpdatesStayBounded() throws {
    let driver = Self.driver(Self.core)
    for index in 1...150 {
      let entries = (1...100).map { Self.size(100 + $0, 100 + index) }.joined(separator: ",")
      driver.updateCapability(try Self.capability("{\"additionalVideoStreamingCapabilities\":[\(entries)]}"))
      driver.updateCapability(try Self.capability(Self.size(1000 + index, 480)))
    }
    let capability = try #require(driver.capabilities.last ?? nil)
    #expect(VideoDisplay.displays(of: capability).count == 101)
    #expect(capability.formerCapabilities.count == 100)
    #expect(capability.json["additionalVideoStreamingCapabilities"] == nil)
  }

  @Test func fallbacksAreNotAnnounced() throws {
    let driver = Self.driver(Self.core)
    driver.updateCapability(try Self.capability(Self.size(480, 322)))
    driver.setSupportedDisplays(VideoDisplay.displays(of: try #require(driver.capabilities.last ?? nil)))
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(480, 322)))
    driver.status(.full, .streamable)
    let frame = try #require(driver.frames.last { $0.header.frameType == .single })
    let announced = OnAppCapabilityUpdated(json: try RPCMessage(payload: frame.payload).parameters).videoStreaming
    #expect(announced?.additionalCapabilities?.map(\.preferredResolution) == [VideoSize(480, 322)])
  }

  /// The head unit refuses the size that it announces, and accepts one of the former list: touches are scaled by that.
  @Test func touchesOnAFallback() throws {
    let driver = Self.driver(Self.core)
    driver.updateCapability(try Self.capability(Self.size(480, 322)))
    Self.stream(driver, VideoSize(532, 252))
    driver.touch(400, 190)
    #expect(driver.take() == ["• touch down 0 (266.0, 126.0), frame"])
  }

  private static let large =
    #"{"preferredResolution":{"resolutionWidth":1920,"resolutionHeight":720},"#
    + #""preferredFPS":30,"additionalVideoStreamingCapabilities":["#
    + size(800, 380, #","preferredFPS":60"#) + "," + size(480, 320) + "]}"

  @Test("A scale alone is that of the display in use") func scaleOfTheDisplayInUse() throws {
    let driver = Self.driver(try Self.capability(Self.large))
    Self.stream(driver, VideoSize(800, 380))
    driver.updateCapability(try Self.capability(#"{"scale":2}"#))
    #expect(Self.texts(driver.capabilities.last ?? nil) == ["1920×720", "400×190", "480×320"])
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(400, 190)))
    driver.control(.endServiceACK, .video)
    driver.acknowledgeVideo()
    // The display in use is the new one now.
    driver.updateCapability(try Self.capability(#"{"scale":4}"#))
    #expect(Self.texts(driver.capabilities.last ?? nil) == ["1920×720", "200×94", "480×320"])
  }

  @Test func scaleOfTheDisplayThatIsAskedFor() throws {
    let driver = Self.driver(try Self.capability(Self.large))
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(480, 320)))
    driver.status(.full, .streamable)
    driver.updateCapability(try Self.capability(#"{"scale":2}"#))
    #expect(Self.texts(driver.capabilities.last ?? nil) == ["1920×720", "800×380", "240×160"])
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(800, 380)))
    // 480×320 has been requested already.
    driver.updateCapability(try Self.capability(#"{"scale":3}"#))
    #expect(Self.texts(driver.capabilities.last ?? nil) == ["1920×720", "800×380", "160×106"])
  }

  /// Head units repeat updates, also before the app has asked for the new size.
  @Test func repeatedScale() throws {
    let driver = Self.driver(try Self.capability(Self.large))
    Self.stream(driver, VideoSize(800, 380))
    for _ in 0..<3 { driver.updateCapability(try Self.capability(#"{"scale":2}"#)) }
    #expect(driver.take().count == 1)
    #expect(Self.texts(driver.capabilities.last ?? nil) == ["1920×720", "400×190", "480×320"])
    driver.updateCapability(try Self.capability(#"{"scale":4}"#))
    #expect(Self.texts(driver.capabilities.last ?? nil) == ["1920×720", "200×94", "480×320"])
    // A display of the former size is another one than that in use.
    let restored = Self.driver(Self.core, supporting: [VideoSize(480, 320)])
    Self.stream(restored, VideoSize(480, 320))
    for scale in ["2", "1", "2"] { restored.updateCapability(try Self.capability("{\"scale\":\(scale)}")) }
    #expect(
      Self.texts(restored.capabilities.last ?? nil) == [
        "800×380", "800×380", "320×200", "240×160", "400×380", "800×240", "532×252", "400×190",
      ])
  }

  @Test func scaleOfAFallbackInUse() throws {
    let driver = Self.driver(try Self.capability(Self.large))
    driver.updateCapability(try Self.capability(Self.size(640, 360)))
    Self.stream(driver, VideoSize(800, 380))
    driver.updateCapability(try Self.capability(#"{"scale":2}"#))
    #expect(Self.texts(driver.capabilities.last ?? nil) == ["640×360", "400×190?", "480×320?"])
  }

  @Test func scaleOfTheCapabilityItself() throws {
    for size in [VideoSize(1920, 720), VideoSize(640, 480)] {
      let driver = Self.driver(try Self.capability(Self.large))
      Self.stream(driver, size)
      driver.updateCapability(try Self.capability(#"{"scale":2}"#))
      #expect(Self.texts(driver.capabilities.last ?? nil) == ["960×360", "800×380", "480×320"])
    }
  }

  /// Rates are inherited, so that they change for all entries that have none of their own.
  @Test func ratesOfTheDisplayInUse() throws {
    let driver = Self.driver(try Self.capability(Self.large))
    Self.stream(driver, VideoSize(800, 380))
    driver.updateCapability(try Self.capability(#"{"preferredFPS":10}"#))
    let capability = try #require(driver.capabilities.last ?? nil)
    #expect(VideoDisplay.displays(of: capability).map(\.frameRate) == [10, 10, 10])
    // Nothing new in it.
    _ = driver.take()
    driver.updateCapability(try Self.capability(#"{"preferredFPS":10}"#))
    #expect(driver.take().isEmpty)
  }

  @Test func sizesAreThoseOfTheCapability() throws {
    let driver = Self.driver(try Self.capability(Self.large))
    Self.stream(driver, VideoSize(800, 380))
    driver.updateCapability(try Self.capability(Self.size(1280, 720, #","scale":2"#)))
    #expect(Self.texts(driver.capabilities.last ?? nil) == ["640×360", "800×380?", "480×320?"])
  }
}
