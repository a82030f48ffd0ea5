import SDLApp
import Testing

/// When rectangles are sent, and which (rows T of the acceptance cases).
@Suite struct HapticTests {
  static let full = "• status FULL STREAMABLE"
  static let limited = "• status LIMITED STREAMABLE"
  static let request = "→ SendHapticData request"

  static func capability(
    _ width: Int = 800, _ height: Int = 480, isSupported: Bool? = true
  ) -> VideoStreamingCapability {
    var capability = AppDriver.capability
    capability.preferredResolution = VideoSize(width, height)
    capability.hapticSpatialDataSupported = isSupported
    return capability
  }

  /// In FULL, with the service acknowledged.
  static func streaming(_ capability: VideoStreamingCapability = capability()) -> AppDriver {
    let driver = AppDriver.ready(request: nil)
    driver.updateCapability(capability)
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    driver.acknowledgeVideo()
    _ = driver.take()
    return driver
  }

  /// Squares in the pictures, one for each left edge.
  static func list(_ edges: [Double], pictureSize: VideoSize? = nil) -> HapticRectangleList {
    HapticRectangleList(
      edges.map { HapticRectangle(id: 0, x: $0, y: 0, width: 10, height: 10) }, pictureSize: pictureSize)
  }

  /// The left edges that were sent, request by request.
  static func sent(_ driver: AppDriver) throws -> [[Double]] {
    defer { _ = driver.take() }
    return try driver.frames.filter { $0.header.frameType != .control }.map { try RPCMessage(payload: $0.payload) }
      .filter { $0.function == .sendHapticData }
      .map { SendHapticData(json: $0.parameters).rectangles.map(\.x) }
  }

  static func answer(_ driver: AppDriver, _ code: ResultCode = .success) {
    driver.respond(.sendHapticData, RPCResult(success: code == .success, resultCode: code).json)
  }

  @Test func onChangeOnly() throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10, 20]))
    #expect(try Self.sent(driver) == [[10, 20]])
    Self.answer(driver)
    driver.wait(.seconds(1))
    driver.setHapticRectangles(Self.list([10, 20]))
    driver.status(.full, .streamable)
    #expect(driver.take() == [Self.full])
    driver.setHapticRectangles(Self.list([20]))
    #expect(try Self.sent(driver) == [[20]])
  }

  @Test func frameOnTheWire() throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([12.5]))
    let message = try RPCMessage(payload: try #require(driver.frames.last).payload)
    #expect(message.type == .request && message.service == .rpc)
    let json = #"{"hapticRectData":[{"id":0,"rect":{"height":10,"width":10,"x":12.5,"y":0}}]}"#
    #expect(String(decoding: message.parameters.serialized, as: UTF8.self) == json)
  }

  @Test func newestWinsWhileUnanswered() throws {
    let driver = Self.streaming()
    for edge in 1...50 { driver.setHapticRectangles(Self.list([Double(edge)])) }
    #expect(try Self.sent(driver) == [[1]])
    driver.wait(.seconds(2))
    #expect(try Self.sent(driver) == [])
    Self.answer(driver)
    #expect(try Self.sent(driver) == [[50]])
    // Back to the list that the head unit has.
    driver.setHapticRectangles(Self.list([3]))
    driver.setHapticRectangles(Self.list([50]))
    Self.answer(driver)
    driver.wait(.seconds(2))
    #expect(driver.take() == [])
  }

  /// At most ten requests per second, also if the head unit answers at once.
  @Test func noFlood() throws {
    let driver = Self.streaming()
    var count = 0
    for step in 0..<1000 {
      driver.setHapticRectangles(Self.list([Double(step % 700)]))
      if try !Self.sent(driver).isEmpty {
        count += 1
        Self.answer(driver)
      }
      driver.wait(.milliseconds(10))
      if driver.take().contains(Self.request) {
        count += 1
        Self.answer(driver)
      }
    }
    #expect((99...101).contains(count), "\(count)")
    driver.wait(.seconds(1))
    #expect(driver.session.nextDeadline == nil)
  }

  @Test("an empty list clears") func emptyListClears() throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    Self.answer(driver)
    driver.wait(.seconds(1))
    _ = driver.take()
    driver.setHapticRectangles(Self.list([]))
    let message = try RPCMessage(payload: try #require(driver.frames.last).payload)
    #expect(String(decoding: message.parameters.serialized, as: UTF8.self) == #"{"hapticRectData":[]}"#)
    Self.answer(driver)
    _ = driver.take()
    // Once cleared, the list stays empty for every picture.
    driver.setVideoRequest(nil)
    driver.control(.endServiceACK, .video)
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.acknowledgeVideo()
    driver.wait(.seconds(1))
    #expect(!driver.take().contains(Self.request))
  }

  /// The head unit may still have the list of an earlier app.
  @Test("an empty list clears, also as the first") func emptyFirstList() throws {
    let driver = Self.streaming()
    #expect(driver.take() == [])
    driver.setHapticRectangles(Self.list([]))
    #expect(try Self.sent(driver) == [[]])
  }

  @Test("a resize sends them again") func resize() throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    #expect(try Self.sent(driver) == [[10]])
    Self.answer(driver)
    var update = VideoStreamingCapability()
    update.preferredResolution = VideoSize(1280, 720)
    update.scale = 1.25
    driver.updateCapability(update)
    driver.wait(.seconds(1))
    // The old service still runs.
    #expect(try Self.sent(driver) == [])
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(1024, 576)))
    driver.control(.endServiceACK, .video)
    #expect(try Self.sent(driver) == [])
    driver.acknowledgeVideo()
    #expect(try Self.sent(driver) == [[12.5]])
  }

  /// The display may change while the stream stays the same.
  @Test("another scale sends them again") func anotherScaleSendsThemAgain() throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    Self.answer(driver)
    driver.wait(.seconds(1))
    _ = driver.take()
    var update = VideoStreamingCapability()
    update.preferredResolution = VideoSize(1600, 960)
    update.scale = 2
    driver.updateCapability(update)
    #expect(try Self.sent(driver) == [[20]])
  }

  /// The same rectangles on the same display, but the head unit may have dropped them with the service.
  @Test("a new service sends them again") func newServiceSendsThemAgain() throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    Self.answer(driver)
    driver.control(.endService, .video)
    _ = driver.take()
    driver.wait(.seconds(5))
    driver.acknowledgeVideo()
    #expect(try Self.sent(driver) == [[10]])
  }

  @Test func rectanglesOfOtherPicturesWait() throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10], pictureSize: VideoSize(400, 240)))
    driver.wait(.seconds(1))
    #expect(try Self.sent(driver) == [])
    driver.setHapticRectangles(Self.list([20], pictureSize: VideoSize(800, 480)))
    #expect(try Self.sent(driver) == [[20]])
  }

  @Test("nothing without the head unit's flag", arguments: [false, nil] as [Bool?])
  func onlyIfSupported(isSupported: Bool?) throws {
    let driver = Self.streaming(Self.capability(isSupported: isSupported))
    driver.setHapticRectangles(Self.list([10]))
    driver.setHapticRectangles(Self.list([]))
    driver.wait(.seconds(1))
    #expect(driver.take() == [])
    driver.setHapticRectangles(Self.list([30]))
    // Until an update sets the flag.
    driver.updateCapability(Self.capability())
    #expect(try Self.sent(driver) == [[30]])
  }

  @Test func withoutCapability() {
    let driver = AppDriver.registering()
    driver.acceptRegistration()
    driver.respond(.getSystemCapability, RPCResult(success: false, resultCode: .dataNotAvailable).json)
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.setHapticRectangles(Self.list([10]))
    driver.status(.full, .streamable)
    driver.acknowledgeVideo()
    #expect(!driver.take().contains(Self.request))
  }

  @Test func keptUntilFull() throws {
    let driver = AppDriver.ready(request: nil)
    driver.updateCapability(Self.capability())
    driver.setHapticRectangles(Self.list([10]))
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.limited, .streamable)
    driver.acknowledgeVideo()
    driver.setHapticRectangles(Self.list([20]))
    #expect(try Self.sent(driver) == [])
    driver.status(.full, .streamable)
    #expect(try Self.sent(driver) == [[20]])
    Self.answer(driver)
    driver.wait(.seconds(1))
    driver.status(.limited, .streamable)
    driver.setHapticRectangles(Self.list([30]))
    #expect(driver.take() == [Self.limited])
    driver.status(.full, .streamable)
    #expect(try Self.sent(driver) == [[30]])
  }

  @Test func keptUntilTheServiceIsOpen() throws {
    let driver = AppDriver.ready()
    driver.updateCapability(Self.capability())
    driver.setHapticRectangles(Self.list([10]))
    driver.status(.full, .streamable)
    #expect(try Self.sent(driver) == [])
    driver.acknowledgeVideo()
    #expect(try Self.sent(driver) == [[10]])
  }

  @Test func nothingAfterTheEnd() {
    let driver = Self.streaming()
    driver.finish()
    _ = driver.take()
    driver.setHapticRectangles(Self.list([10]))
    driver.wait(.seconds(2))
    driver.setHapticRectangles(Self.list([20]))
    #expect(!driver.take().contains(Self.request))
  }
}
