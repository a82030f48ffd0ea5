@testable import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// The sizes that an app may stream which knows only the size of the screen.
@Suite struct ScreenSizeTests {
  private static func headUnit(
    make: String, screen: VideoSize = VideoSize(1280, 768), preset: HeadUnitPreset = .legacy
  ) -> HeadUnitConfiguration {
    var configuration = preset.configuration
    configuration.screen = screen
    configuration.vehicle.make = make
    // Video formats are negotiated since protocol 5.
    configuration.maximumProtocolVersion = ProtocolVersion(5, 4, 0)
    return configuration
  }

  private static func size(_ width: Int32, _ height: Int32) -> VideoServiceParameters {
    VideoServiceParameters(width: width, height: height)
  }

  /// Both of SDL's libraries divide by 4/3 for these makes, if a side is longer than 800.
  @Test(
    arguments: [
      ("Ford", 1280, 768, 960, 576), ("Ford Motor Company", 1280, 768, 960, 576), ("Lincoln", 1280, 768, 960, 576),
      ("Ford", 801, 480, 600, 360), ("Ford", 800, 480, 800, 480), ("Ford", 384, 1024, 288, 768),
      ("SDL", 1280, 768, 1280, 768),
    ] as [(String, Int, Int, Int32, Int32)])
  func sizeWithoutCapability(make: String, width: Int, height: Int, videoWidth: Int32, videoHeight: Int32) {
    let screen = VideoSize(width, height)
    var app = TestApp.active(Self.headUnit(make: make, screen: screen))
    app.startVideo(Self.size(videoWidth, videoHeight))
    #expect(app.controls == ["video startServiceACK"])
    app.forget()
    // Touches are in pixels of the screen, whatever the size of the pictures.
    let last = PictureTouch.Sample(x: Double(videoWidth) / 2, y: Double(videoHeight) / 2, time: .seconds(1))
    let touch = PictureTouch(kind: .begin, fingers: [PictureTouch.Finger(id: 0, samples: [last])])
    app.run { $0.touch(touch, picture: VideoSize(Int(videoWidth), Int(videoHeight)), now: $1) }
    let place = OnTouchEvent.Sample(x: (width + 1) / 2, y: height / 2, time: 1000)
    #expect(app.events == [.touchSent(OnTouchEvent(kind: .begin, fingers: [.init(id: 0, samples: [place])]))])
  }

  @Test func theScreenItselfIsTooLargeForAFord() {
    var app = TestApp.active(Self.headUnit(make: "Ford"))
    app.startVideo(Self.size(1280, 768))
    #expect(app.rejection?.rejectedParameters == ["height", "width"])
  }

  /// Before protocol 5 no size is asked for, so that the pictures alone can be wrong.
  @Test func sizeBeforeProtocol5() {
    var configuration = Self.headUnit(make: "Ford", screen: VideoSize(1067, 640))
    configuration.maximumProtocolVersion = ProtocolVersion(4)
    var app = TestApp(configuration)
    app.version = 4
    app.startSession(nil)
    app.register { $0["syncMsgVersion"] = .object(["majorVersion": .integer(4), "minorVersion": .integer(4)]) }
    app.wait(.seconds(1))
    app.startVideo(VideoServiceParameters())
    #expect(app.controls.last == "video startServiceACK")
    // Its pictures are 800×480.
    app.video(Stream.keyFrame)
    #expect(app.violations == [])
  }

  /// A head unit that has a capability, but refuses GetSystemCapability (pipelines/scripts/no-capability.txt).
  @Test func refusedCapability() {
    var configuration = Self.headUnit(make: "Ford", preset: .standard)
    configuration.videoCapability?.preferredResolution = configuration.screen
    configuration.behaviour.answers[.getSystemCapability] = HeadUnitBehaviour.ScriptedAnswer(
      answer: .result(.unsupportedRequest, success: false))
    var app = TestApp.active(configuration)
    app.request(.getSystemCapability, GetSystemCapability(type: .videoStreaming, subscribe: true).json)
    app.startVideo(Self.size(960, 576))
    #expect(app.controls == ["video startServiceACK"])
  }

  /// The capability takes precedence, as in sdl_ios.
  @Test(arguments: [(960, 576, false), (1280, 768, true)] as [(Int32, Int32, Bool)])
  func receivedCapability(width: Int32, height: Int32, isTaken: Bool) {
    var configuration = Self.headUnit(make: "Ford", preset: .standard)
    configuration.videoCapability?.preferredResolution = configuration.screen
    var app = TestApp.active(configuration)
    app.request(.getSystemCapability, GetSystemCapability(type: .videoStreaming, subscribe: nil).json)
    app.startVideo(Self.size(width, height))
    #expect(app.controls == [isTaken ? "video startServiceACK" : "video startServiceNAK"])
  }

  /// The sizes beside the screen's were those of the former one.
  @Test func anotherScreen() {
    var configuration = HeadUnitPreset.core.configuration
    configuration.setScreen(VideoSize(1024, 600))
    #expect(configuration.screen == VideoSize(1024, 600))
    #expect(configuration.videoCapability?.preferredResolution == VideoSize(1024, 600))
    #expect(configuration.videoCapability?.additionalCapabilities == nil)
  }
}
