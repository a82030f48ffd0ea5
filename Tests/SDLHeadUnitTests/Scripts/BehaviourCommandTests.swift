@testable import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// Commands that change the head unit's behaviour and its capability.
@Suite struct BehaviourCommandTests {
  @Test(
    arguments: [
      ("answer start-session nak", .behave(.rpcStart(.reject))),
      ("answer register too-many-applications", .behave(.registration(.result(.tooManyApplications, success: false)))),
      ("answer register RESUME_FAILED", .behave(.registration(.result(.resumeFailed, success: true)))),
      (
        "answer get-capability silence",
        .behave(.answer(.getSystemCapability, HeadUnitBehaviour.ScriptedAnswer(answer: .silence)))
      ),
      ("answer end-service ack", .behave(.serviceEnd(.acknowledge))),
      ("answer start-video regular", .behave(.videoStart(.regular))),
      ("answer start-video echo", .behave(.videoStart(.echo))),
      ("answer start-video once silence", .answerOnce(.silence)),
      ("answer start-video ack", .behave(.videoStart(.acknowledge(VideoServiceParameters())))),
      (
        "answer start-video ack 0x0",
        .behave(.videoStart(.acknowledge(VideoServiceParameters(width: 0, height: 0))))
      ),
      (
        "answer start-video once ack RTP/H264 320x240",
        .answerOnce(
          .acknowledge(VideoServiceParameters(width: 320, height: 240, videoProtocol: "RTP", videoCodec: "H264")))
      ),
      ("answer start-video nak", .behave(.videoStart(.reject([])))),
      (
        "answer start-video once nak width height because too  large",
        .answerOnce(.reject(["width", "height"], reason: "too large"))
      ),
      ("delay start-video 2.5", .behave(.videoStartDelay(.milliseconds(2500)))),
      ("delay start-video 0", .behave(.videoStartDelay(.zero))),
      ("none-after-refusal off", .behave(.dropsToNoneAfterRefusal(false))),
      ("heartbeat core", .behave(.heartbeat(.likeCore))),
      ("heartbeat silence", .behave(.heartbeat(.silence))),
      ("heartbeat 3", .behave(.heartbeat(.pings(every: .seconds(3))))),
      ("player on", .behave(.player(.connects(after: .zero)))),
      ("player off", .behave(.player(.absent))),
      ("player 0.5", .behave(.player(.connects(after: .milliseconds(500))))),
      ("data-timeout off", .behave(.videoDataTimeout(nil))),
      ("data-timeout 4", .behave(.videoDataTimeout(.seconds(4)))),
      ("secondary-transport off", .behave(.secondaryTransport(.off))),
      ("secondary-transport on", .serveSecondaryTransport(port: nil)),
      ("secondary-transport on 0", .serveSecondaryTransport(port: 0)),
      ("secondary-transport on 5678", .serveSecondaryTransport(port: 5678)),
      (
        "secondary-transport 10.0.0.1 5678",
        .behave(.secondaryTransport(.elsewhere(TransportEventUpdate(address: "10.0.0.1", port: 5678))))
      ),
      // Apps have to cope with ports that are none.
      (
        "secondary-transport 10.0.0.1 70000",
        .behave(.secondaryTransport(.elsewhere(TransportEventUpdate(address: "10.0.0.1", port: 70_000))))
      ),
      ("delay secondary-transport 0.5", .behave(.secondaryTransportDelay(.milliseconds(500)))),
      ("delay secondary-transport 0", .behave(.secondaryTransportDelay(nil))),
      ("answer register-secondary close", .behave(.secondaryRegistration(.acknowledgeAndClose))),
      ("answer register-secondary nak", .behave(.secondaryRegistration(.reject))),
      ("video-transports 2,1", .behave(.videoTransports([.secondary, .primary]))),
      ("audio-transports 1", .behave(.audioTransports([.primary]))),
      ("audio-transports none", .behave(.audioTransports([]))),
      ("cut secondary", .cutSecondary),
      ("unregister driver-distraction-violation", .unregister(.driverDistractionViolation)),
    ] as [(String, HeadUnitCommand)])
  func reads(line: String, command: HeadUnitCommand) throws {
    #expect(try HeadUnitCommand.parse(line) == command)
  }

  private static func capability(_ change: (inout VideoStreamingCapability) -> Void) -> VideoStreamingCapability {
    var capability = VideoStreamingCapability()
    change(&capability)
    return capability
  }

  @Test(
    arguments: [
      ("size 400x300", capability { $0.preferredResolution = VideoSize(400, 300) }),
      ("scale 1.5", capability { $0.scale = 1.5 }),
      ("framerate 10 max-bitrate 600", capability { ($0.preferredFPS, $0.maxBitrate) = (10, 600) }),
      (
        "haptics off diagonal 7 density 96.5",
        capability {
          $0.hapticSpatialDataSupported = false
          ($0.diagonalScreenSize, $0.pixelPerInch) = (7, 96.5)
        }
      ),
      ("formats RTP/H264,RAW/H264", capability { $0.supportedFormats = [.rtpH264, .rawH264] }),
      (
        "sizes 320x240,400x300@2",
        capability {
          $0.additionalCapabilities = [
            capability { $0.preferredResolution = VideoSize(320, 240) },
            capability { ($0.preferredResolution, $0.scale) = (VideoSize(400, 300), 2) },
          ]
        }
      ),
    ])
  func partialUpdates(members: String, expected: VideoStreamingCapability) throws {
    #expect(try HeadUnitCommand.parse("update \(members)") == .update(expected))
  }

  @Test(arguments: ["framerate 10", "max-bitrate 0"])
  func shortUpdates(line: String) throws {
    let command = try #require(try HeadUnitCommand.parse(line))
    #expect(try command == HeadUnitCommand.parse("update \(line)"))
  }

  @Test func tap() throws {
    guard case .gesture(let tap) = try HeadUnitCommand.parse("touch tap 100 200") else {
      Issue.record("no gesture")
      return
    }
    #expect(tap.messages.map(\.time) == [.zero, .milliseconds(50)])
    #expect(tap.messages.map(\.event.kind) == [.begin, .end])
    #expect(tap.messages.flatMap(\.event.fingers).flatMap(\.samples) == [.init(x: 100, y: 200), .init(x: 100, y: 200)])
  }

  @Test func swipe() throws {
    guard case .gesture(let swipe) = try HeadUnitCommand.parse("touch swipe 100 50 0 60 0.1") else {
      Issue.record("no gesture")
      return
    }
    #expect(swipe.messages.map(\.time) == [0, 20, 40, 60, 80, 100, 100].map { .milliseconds($0) })
    #expect(swipe.messages.map(\.event.kind) == [.begin, .move, .move, .move, .move, .move, .end])
    #expect(swipe.messages.flatMap(\.event.fingers).flatMap(\.samples).map(\.x) == [100, 80, 60, 40, 20, 0, 0])
    #expect(swipe.messages.flatMap(\.event.fingers).flatMap(\.samples).map(\.y) == [50, 52, 54, 56, 58, 60, 60])
  }

  /// It takes 300 ms if nothing else is said.
  @Test func swipeWithoutATime() throws {
    guard case .gesture(let swipe) = try HeadUnitCommand.parse("touch swipe 100 50 0 60") else {
      Issue.record("no gesture")
      return
    }
    #expect(swipe.messages.last?.time == .milliseconds(300) && swipe.messages.count == 17)
  }
}
