import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// Where this head unit answers the same bytes in another way than SDL Core 8.2.0, on purpose: what Core does there
/// would hide a fault of the app, or ends only when Core is started anew. Everywhere else they are to be equal.
@Suite struct CoreDifferenceTests {
  struct Difference: Sendable, CustomTestStringConvertible {
    let conversation: String
    /// What SDL Core was seen to do.
    let core: String
    let ours: [String]
    let answer: @Sendable () -> [String]

    var testDescription: String { conversation }
  }

  private static let differences = [
    Difference(
      conversation: "a frame one byte above the limit, and a picture after it", core: "loses both without a word",
      ours: ["too long", "the picture"]
    ) {
      var app = TestApp.streaming()
      let tooLong = FrameHeader(
        version: 5, frameType: .single, service: .video, frameInfo: 0, sessionID: 1,
        dataSize: UInt32(FrameLimits.corePayload + 1), messageID: 7)
      app.send(Frame(header: tooLong, payload: [UInt8](repeating: 0xFF, count: FrameLimits.corePayload + 1)))
      app.video(Stream.keyFrame)
      return app.events.compactMap { event in
        switch event {
        case .violation(.malformedBytes(.oversized)): "too long"
        case .videoData(Stream.keyFrame): "the picture"
        default: nil
        }
      }
    },
    Difference(
      conversation: "a second registration with another id in the same session",
      core: "SUCCESS, although its specification says no", ours: ["APPLICATION_REGISTERED_ALREADY"]
    ) {
      var app = TestApp.registered()
      let id = app.register { $0["appID"] = .string("5678") }
      return [app.result(id)?.resultCode ?? "no answer"]
    },
    Difference(
      conversation: "a connection that ends before RegisterAppInterface is answered, and another",
      core: "APPLICATION_REGISTERED_ALREADY from then on", ours: ["SUCCESS"]
    ) {
      var app = TestApp()
      app.run { $0.change(.registration(.silence), now: $1) }
      app.startSession()
      app.register()
      app.run { $0.transportLost(now: $1) }
      app.run { $0.change(.registration(.regular), now: $1) }
      app.run { $0.transportConnected(now: $1) }
      app.startSession()
      let id = app.register()
      return [app.result(id)?.resultCode ?? "no answer"]
    },
    Difference(
      conversation: "the driver closes the app between StartService and the answer, and opens it again",
      core: "never answers any client again", ours: ["video startServiceNAK", "video startServiceACK"]
    ) {
      var app = TestApp.active()
      app.run { $0.change(.videoStartDelay(.milliseconds(10)), now: $1) }
      app.startVideo(.standard)
      app.set(.none, .notStreamable)
      app.wait(.milliseconds(10))
      app.set(.full, .streamable)
      app.startVideo(.standard)
      app.wait(.milliseconds(10))
      return app.controls
    },
    Difference(
      conversation: "an app that does not go on with the TLS handshake", core: "gives no answer, for 70 s at least",
      ours: ["video startServiceNAK"]
    ) {
      var app = TestApp.secured(.require)
      app.startEncrypted()
      app.wait(.seconds(10))
      return app.controls
    },
    Difference(
      conversation: "TLS with the head unit as the server",
      core: "in half of the tries the acknowledgement takes the place of the last message of the handshake",
      ours: ["the last message", "the acknowledgement"]
    ) {
      var app = TestApp.secured(.require, makeSecureChannel: { TestChannel(lastMessage: [22, 3, 3, 0, 1, 3]) }) {
        $0.beginsHandshake = false
      }
      app.startEncrypted()
      app.shakeHands()
      return app.headers.map { $0.service == .control ? "the last message" : "the acknowledgement" }
    },
    Difference(
      conversation: "the driver comes back, and video starts while the time to stop it runs out",
      core: "hangs for good", ours: ["video endServiceACK", "video startServiceACK"]
    ) {
      var app = TestApp.streaming()
      app.run { $0.change(.videoStartDelay(.milliseconds(10)), now: $1) }
      app.set(.background, .notStreamable)
      app.send(.endService, .video)
      app.wait(.milliseconds(995))
      app.set(.full, .streamable)
      app.startVideo(.standard)
      app.wait(.milliseconds(10))
      return app.controls
    },
    Difference(
      conversation: "EndService right after a picture", core: "may lose what it has not passed on, up to 2.4 MB",
      ours: ["the picture", "the end"]
    ) {
      var app = TestApp.streaming()
      app.video(Stream.keyFrame)
      app.send(.endService, .video)
      return app.events.compactMap { event in
        switch event {
        case .videoData(Stream.keyFrame): "the picture"
        case .videoStopped: "the end"
        default: nil
        }
      }
    },
    Difference(
      conversation: "the list of further sizes becomes empty", core: "its API refuses an empty list",
      ours: ["an empty list"]
    ) {
      var app = TestApp.registered(HeadUnitPreset.core.configuration)
      app.request(.getSystemCapability, ["systemCapabilityType": .string("VIDEO_STREAMING"), "subscribe": .bool(true)])
      var update = VideoStreamingCapability()
      update.additionalCapabilities = []
      app.run { $0.updateCapability(update, now: $1) }
      let capability = app.rpcs.last.map { SystemCapability(json: $0.parameters) }?.videoStreaming
      return capability?.additionalCapabilities == [] ? ["an empty list"] : ["another list"]
    },
  ]

  @Test(arguments: differences) func onPurpose(_ difference: Difference) {
    #expect(difference.answer() == difference.ours, "SDL Core: \(difference.core)")
  }
}
