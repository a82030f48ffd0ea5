import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin

/// What becomes of the properties of a head unit's elements.
@Suite struct HeadUnitSettingsTests {
  private typealias Change = @Sendable (inout HeadUnitSettings) -> Void

  private static func settings(_ change: Change) -> HeadUnitSettings {
    var settings = HeadUnitSettings()
    change(&settings)
    return settings
  }

  /// Each property that elements have in common, with two values.
  private static let properties: [(name: String, value: Change, other: Change)] = [
    ("announce", { $0.isAnnounced = true }, { $0.isAnnounced = true }),
    ("preset", { $0.preset = .core }, { $0.preset = .legacy }), ("make", { $0.make = "A" }, { $0.make = "B" }),
    ("model", { $0.model = "A" }, { $0.model = "B" }),
    ("pcm-capabilities", { $0.sound = .nothing }, { $0.sound = .format(PCMFormat()) }),
    ("strict", { $0.isStrict = false }, { $0.isStrict = false }),
    ("hmi-level", { $0.hmiLevel = .limited }, { $0.hmiLevel = .background }),
    ("audio-streaming", { $0.audioStreaming = .attenuated }, { $0.audioStreaming = .notAudible }),
    ("script", { $0.script = "/a" }, { $0.script = "/b" }),
    ("conversation-log", { $0.conversation.path = "/a" }, { $0.conversation.path = "/b" }),
    ("conversation-blank", { $0.conversation.isBlank = true }, { $0.conversation.isBlank = true }),
    ("web", { $0.web = "1" }, { $0.web = "2" }), ("web-token", { $0.webToken = "a" }, { $0.webToken = "b" }),
    ("secondary-port", { $0.secondaryPort = 1 }, { $0.secondaryPort = 2 }),
    ("secondary-from", { $0.secondaryOrigin = .any }, { $0.secondaryOrigin = .any }),
    ("video-transports", { $0.videoTransports = [.primary] }, { $0.videoTransports = [.secondary] }),
    ("audio-transports", { $0.audioTransports = [.primary] }, { $0.audioTransports = [.secondary] }),
  ]

  /// Elements of one head unit complete each other; what is set on both differently is a contradiction.
  @Test func elementsCompleteEachOther() {
    let plain = HeadUnitSettings()
    for (name, change, otherChange) in Self.properties {
      let (one, other) = (Self.settings(change), Self.settings(otherChange))
      #expect(plain.contradictions(by: one) == [name])
      #expect(one.contradictions(by: plain) == [] && one.contradictions(by: one) == [])
      // What only the other one has set is taken over.
      #expect(plain.completed(by: one).contradictions(by: one) == [], "\(name)")
      #expect(one.completed(by: plain).contradictions(by: one) == [], "\(name)")
      // Its own value stays.
      let isSame = ["announce", "strict", "conversation-blank", "secondary-from"].contains(name)
      #expect(one.contradictions(by: other) == (isSame ? [] : [name]))
      #expect(one.completed(by: other).contradictions(by: other) == (isSame ? [] : [name]))
    }
  }

  @Test func settingsOfVideoComeFromTheElementThatHasSome() {
    var settings = HeadUnitElementSettings()
    settings.video.maxBitrate = 77
    let (video, audio) = (settings.setup(for: .video), HeadUnitElementSettings().setup(for: .audio))
    #expect(audio.video == nil && audio.completed(by: video).video?.maxBitrate == 77)
    #expect(video.completed(by: HeadUnitElementSettings().setup(for: .video)).video?.maxBitrate == 77)
    #expect(video.place == HeadUnitSetup.Place(address: "127.0.0.1", port: 12345))
    settings.headUnit.address = "*"
    #expect(settings.setup(for: .audio).place.address == nil)
  }

  /// Level, video-streamable, audio-streaming, and what an app on the screen is told.
  @Test(
    arguments: [
      (.full, true, .audible, .streamable, .audible), (.limited, true, .attenuated, .streamable, .attenuated),
      (.full, false, .audible, .notStreamable, .audible), (.full, nil, .notAudible, .streamable, .notAudible),
      (.background, true, .audible, .notStreamable, .notAudible),
      (.background, nil, .audible, .notStreamable, .notAudible),
      (HMILevel.none, true, .audible, .notStreamable, .notAudible),
    ] as [(HMILevel, Bool?, AudioStreamingState, VideoStreamingState, AudioStreamingState)])
  func statusOfAnAppOnTheScreen(
    _ level: HMILevel, _ isStreamable: Bool?, _ sound: AudioStreamingState, _ video: VideoStreamingState,
    _ audio: AudioStreamingState
  ) {
    var settings = HeadUnitElementSettings()
    (settings.headUnit.hmiLevel, settings.headUnit.audioStreaming) = (level, sound)
    if let isStreamable { settings.video.isStreamable = isStreamable }
    let status = settings.setup(for: isStreamable == nil ? .audio : .video).status
    #expect(status.level == level && status.videoStreamingState == video && status.audioStreamingState == audio)
  }

  /// Messages are needed for a log, and for the page; they cost time otherwise.
  @Test func messagesAreReportedForALogAndForAPage() {
    #expect(!HeadUnitSettings().configuration.reportsMessages)
    #expect(Self.settings { $0.conversation.path = "/a" }.configuration.reportsMessages)
    #expect(Self.settings { $0.web = "0" }.configuration.reportsMessages)
  }

  @Test func aPortBelowZeroOffersNoSecondaryTransport() {
    func transport(_ port: Int32?, _ preset: HeadUnitPreset) -> HeadUnitSettings {
      Self.settings { ($0.secondaryPort, $0.preset) = (port, preset) }
    }
    #expect(transport(0, .standard).configuration.behaviour.secondaryTransport == .served)
    #expect(transport(nil, .bluetoothAndWiFi).configuration.behaviour.secondaryTransport == .served)
    #expect(transport(-1, .bluetoothAndWiFi).configuration.behaviour.secondaryTransport == .off)
    #expect(transport(nil, .standard).configuration.behaviour.secondaryTransport == .off)
  }

  private static func capability(_ change: (inout HeadUnitVideoSettings) -> Void) -> VideoStreamingCapability? {
    var settings = HeadUnitElementSettings()
    change(&settings.video)
    return settings.setup(for: .video).configuration.videoCapability
  }

  /// Unset values are those of the preset; 0 announces none.
  @Test func theCapabilityHasTheValuesThatAreSet() throws {
    let preset = try #require(Self.capability { _ in })
    #expect(preset == HeadUnitPreset.standard.configuration.videoCapability)
    let none = try #require(
      Self.capability { ($0.scale, $0.diagonal, $0.pixelDensity, $0.maxBitrate, $0.frameRate) = (0, 0, 0, 0, 0) })
    #expect(none.scale == nil && none.diagonalScreenSize == nil && none.pixelPerInch == nil)
    #expect(none.maxBitrate == nil && none.preferredFPS == nil)
    #expect(none.supportedFormats == preset.supportedFormats)
    let other = try #require(
      Self.capability {
        ($0.scale, $0.diagonal, $0.pixelDensity, $0.maxBitrate, $0.frameRate) = (0.5, 0.5, 0.5, 1, 1)
        ($0.hasHaptics, $0.formats) = (true, [.rtpH264])
      })
    #expect(other.scale == 0.5 && other.diagonalScreenSize == 0.5 && other.pixelPerInch == 0.5)
    #expect(other.maxBitrate == 1 && other.preferredFPS == 1)
    #expect(other.hapticSpatialDataSupported == true && other.supportedFormats == [.rtpH264])
  }

  @Test func rpcsAreEncryptedOnlyIfVideoMayBe() {
    func configuration(_ change: (inout HeadUnitVideoSettings) -> Void) -> HeadUnitConfiguration {
      var settings = HeadUnitElementSettings()
      settings.video.requiresRPCEncryption = true
      change(&settings.video)
      return settings.setup(for: .video).configuration
    }
    #expect(!configuration { _ in }.requiresRPCEncryption)
    #expect(configuration { $0.encryption = .accept }.requiresRPCEncryption)
    #expect(!configuration { ($0.encryption, $0.requiresRPCEncryption) = (.accept, false) }.requiresRPCEncryption)
    #expect(configuration { _ in }.beginsHandshake && !configuration { $0.tls.role = .server }.beginsHandshake)
  }

  /// A head unit has its certificates from the beginning, whatever is set later.
  @Test func theProtectionStays() {
    var (running, later) = (HeadUnitVideoSettings(), HeadUnitVideoSettings())
    (running.encryption, running.requiresRPCEncryption, running.tls.certificate) = (.require, true, "/running")
    (later.encryption, later.maxBitrate, later.tls.certificate) = (.accept, 5, "/later")
    let kept = later.keepingProtection(of: running)
    #expect(kept.encryption == .require && kept.requiresRPCEncryption && kept.tls == running.tls)
    #expect(kept.maxBitrate == 5)
    let first = running.keepingProtection(of: nil)
    #expect(first.encryption == .refuse && !first.requiresRPCEncryption && first.tls == running.tls)
  }
}
