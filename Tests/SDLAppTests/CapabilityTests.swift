import SDLApp
import Testing

/// How the app learns what video the head unit can show.
@Suite struct CapabilityTests {
  private static func registered(_ change: (inout RegisterAppInterfaceResponse) -> Void = { _ in }) -> AppDriver {
    let driver = AppDriver.registering()
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.acceptRegistration(change)
    return driver
  }

  private static func result(_ success: Bool, _ code: ResultCode) -> JSONObject {
    RPCResult(success: success, resultCode: code).json
  }

  private static func update(_ change: (inout VideoStreamingCapability) -> Void) -> VideoStreamingCapability {
    var capability = VideoStreamingCapability()
    change(&capability)
    return capability
  }

  @Test func askedOnceWithSubscription() throws {
    let driver = Self.registered()
    let frame = try #require(driver.frames.last)
    let request = try RPCMessage(payload: frame.payload)
    #expect(request.function == .getSystemCapability)
    #expect(
      GetSystemCapability(json: request.parameters) == GetSystemCapability(type: .videoStreaming, subscribe: true))
    driver.answerCapability()
    driver.status(.full, .streamable)
    #expect(
      driver.take() == [
        "• registered", "→ GetSystemCapability request", "• capability 800×480", "• status FULL STREAMABLE",
        "→ StartService video 800×480 RAW H264",
      ])
  }

  @Test func noVideoBeforeTheAnswer() {
    let driver = Self.registered()
    driver.status(.full, .streamable)
    #expect(driver.take().last == "• status FULL STREAMABLE")
    driver.answerCapability()
    #expect(driver.take() == ["• capability 800×480", "→ StartService video 800×480 RAW H264"])
  }

  @Test func disallowedInNoneIsAskedAgain() {
    let driver = Self.registered()
    driver.status(.none, .notStreamable)
    driver.respond(.getSystemCapability, Self.result(false, .disallowed))
    _ = driver.take()
    driver.wait(.seconds(60))
    driver.status(.none, .notStreamable)
    #expect(driver.take() == ["• status NONE NOT_STREAMABLE"])
    driver.status(.background, .notStreamable)
    #expect(driver.take() == ["• status BACKGROUND NOT_STREAMABLE", "→ GetSystemCapability request"])
    driver.answerCapability()
    #expect(driver.take() == ["• capability 800×480"])
  }

  /// The level changes before the refusal arrives.
  @Test func disallowedInNoneThatIsOver() {
    let driver = Self.registered()
    driver.status(.full, .streamable)
    _ = driver.take()
    driver.respond(.getSystemCapability, Self.result(false, .disallowed))
    #expect(driver.take() == ["→ GetSystemCapability request"])
    driver.respond(.getSystemCapability, Self.result(false, .disallowed))
    #expect(
      driver.take() == [
        "• diagnostic", "• no capability, display 640×360", "→ StartService video 800×480 RAW H264",
      ])
  }

  @Test(arguments: [ResultCode.dataNotAvailable, .unsupportedResource, .unsupportedRequest, .genericError])
  func unavailable(code: ResultCode) {
    let driver = Self.registered()
    _ = driver.take()
    driver.respond(.getSystemCapability, Self.result(false, code))
    #expect(driver.take() == ["• diagnostic", "• no capability, display 640×360"])
  }

  @Test func successWithoutCapability() {
    let driver = Self.registered()
    _ = driver.take()
    driver.respond(.getSystemCapability, Self.result(true, .success))
    #expect(driver.take() == ["• diagnostic", "• no capability, display 640×360"])
  }

  @Test func unanswered() {
    let driver = Self.registered()
    driver.status(.full, .streamable)
    _ = driver.take()
    driver.wait(.milliseconds(11_999))
    #expect(driver.take().isEmpty)
    driver.wait(.milliseconds(1))
    #expect(
      driver.take() == [
        "• diagnostic", "• no capability, display 640×360", "→ StartService video 800×480 RAW H264",
      ])
    // An answer that comes too late is ignored.
    driver.answerCapability()
    #expect(driver.take() == ["• diagnostic"])
  }

  @Test func genericResponse() {
    let driver = Self.registered()
    _ = driver.take()
    driver.respond(.getSystemCapability, Self.result(false, .invalidData), as: .genericResponse)
    #expect(driver.take() == ["• diagnostic", "• no capability, display 640×360"])
  }

  @Test func olderRPCVersions() {
    for (version, isAsked) in [(RPCVersion(4, 4), false), (RPCVersion(3, 0), false), (RPCVersion(4, 5), true)] {
      let driver = Self.registered {
        $0.rpcVersion = version
        $0.videoStreaming = nil
      }
      #expect(
        driver.take() == [
          "• registered", isAsked ? "→ GetSystemCapability request" : "• no capability, display 640×360",
        ]
      )
      #expect(driver.headUnit?.rpcVersion == version)
    }
  }

  @Test func headUnitWithoutVideo() {
    // SDL Core sends false whenever its HMI does not describe itself, although it has a capability.
    let undescribed = Self.registered { $0.videoStreaming = false }
    #expect(undescribed.failure == nil)
    #expect(!undescribed.isClosed)

    let textOnly = Self.registered {
      $0.rpcVersion = RPCVersion(4, 4)
      $0.videoStreaming = nil
      $0.graphicSupported = false
    }
    #expect(textOnly.failure == .videoNotSupported)
    #expect(textOnly.isClosed)
  }

  @Test func partialUpdatesAreMerged() {
    let driver = AppDriver.ready()
    driver.updateCapability(Self.update { $0.preferredResolution = VideoSize(400, 380) })
    driver.updateCapability(Self.update { $0.maxBitrate = 500 })
    driver.updateCapability(Self.update { $0.scale = 1.5 })
    var expected = AppDriver.capability
    expected.preferredResolution = VideoSize(400, 380)
    expected.maxBitrate = 500
    expected.scale = 1.5
    #expect(driver.capabilities.last == expected)
    #expect(driver.take().count == 3)
    // L-g: nothing new in it.
    driver.updateCapability(Self.update { $0.scale = 1.5 })
    driver.updateCapability(expected)
    driver.updateCapability(VideoStreamingCapability())
    #expect(driver.take().isEmpty)
  }

  /// SDL Core answers with the capability of its start, so that an earlier update is newer.
  @Test func updateOvertakesTheAnswer() {
    let driver = Self.registered()
    driver.updateCapability(Self.update { $0.preferredResolution = VideoSize(400, 380) })
    driver.updateCapability(Self.update { $0.maxBitrate = 500 })
    #expect(driver.capabilities.isEmpty)
    driver.answerCapability()
    var expected = AppDriver.capability
    expected.preferredResolution = VideoSize(400, 380)
    expected.maxBitrate = 500
    #expect(driver.capabilities == [expected])
  }

  @Test func updateInsteadOfAnAnswer() {
    let update = Self.update { $0.preferredResolution = VideoSize(400, 380) }
    let early = Self.registered()
    early.updateCapability(update)
    early.respond(.getSystemCapability, Self.result(false, .dataNotAvailable))
    #expect(early.capabilities == [update])

    let late = Self.registered()
    late.respond(.getSystemCapability, Self.result(false, .dataNotAvailable))
    late.updateCapability(update)
    #expect(late.capabilities == [nil, update])
  }

  @Test func otherCapabilitiesAreIgnored() {
    let driver = AppDriver.ready()
    driver.notify(
      .onSystemCapabilityUpdated, ["systemCapability": .object(["systemCapabilityType": .string("DISPLAYS")])])
    #expect(driver.take().isEmpty)
  }
}
