import GStreamerKit
import SDLApp
import SDLAppLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The user's settings of an app, alone and beside those of another element.
@Suite struct AppSettingsTests {
  private static let uri = "sdl://192.0.2.7"

  init() throws {
    try #require(GStreamer.isReady, "it reads the uri")
  }

  private func settings(_ uri: String = uri, _ change: (inout AppSettings) -> Void = { _ in }) -> AppSettings {
    var settings = AppSettings()
    settings.uri = uri
    change(&settings)
    return settings
  }

  private typealias Change = (name: String, body: @Sendable (inout AppSettings) -> Void)

  /// Each property that the first element's value replaces.
  private static let replaced: [Change] = [
    ("app-type", { $0.type = .media }), ("language", { $0.language = "DE-DE" }),
    ("tts-name", { $0.spokenName = "Map" }), ("vr-synonyms", { $0.synonyms = ["map"] }),
    ("app-icon", { $0.icon = "icon.png" }), ("connect-timeout", { $0.connectTimeout = 1 }),
    ("heartbeat-interval", { $0.heartbeatInterval = 1 }), ("auto-reconnect", { $0.autoReconnect = false }),
    ("start-timeout", { $0.startTimeout = 1 }), ("max-retry-interval", { $0.maxRetryInterval = 1 }),
    ("legacy-start-delay", { $0.legacyStartDelay = 1 }), ("restart-on-foreground", { $0.restartsOnForeground = true }),
    ("secondary-transport", { $0.secondaryTransport = .none }), ("policy-updates", { $0.policyUpdates = .fetch }),
    ("conversation-log", { $0.conversation.path = "log" }), ("conversation-blank", { $0.conversation.isBlank = true }),
  ]

  @Test func whatAnotherElementHasRegisteredIsNamed() {
    let usual = settings()
    for change in Self.replaced {
      let own = settings(Self.uri, change.body)
      #expect(own.ignored(beside: usual) == [change.name])
      #expect(own.ignored(beside: own) == [], "\(change.name)")
      // A default counts as not set.
      #expect(usual.ignored(beside: own) == [], "\(change.name)")
      #expect(!own.isServed(by: usual) && own.isServed(by: own), "\(change.name)")
    }
  }

  /// Each property in which the elements of one TLS session have to agree.
  private static let encryption: [Change] = [
    ("encryption-policy", { $0.encryptionPolicy = .prefer }), ("rpc-encryption", { $0.rpcEncryption = .none }),
    ("certificate", { $0.tls.certificate = "other.pem" }), ("private-key", { $0.tls.privateKey = "other.pem" }),
    ("private-key-passphrase", { $0.tls.passphrase.text = "other" }),
    ("ca-certificates", { $0.tls.authorities = "other.pem" }), ("tls-role", { $0.tls.role = .client }),
    ("tls-protocol", { $0.tls.variant = .dtls }),
  ]

  @Test func elementsOfAnAppAgreeAboutEncryption() {
    let (clear, encrypted) = (settings(), settings { $0.encryption = .authenticate })
    #expect(clear.encryptionDifferences(beside: encrypted) == ["encryption"])
    #expect(encrypted.encryptionDifferences(beside: clear) == ["encryption"])
    for change in Self.encryption {
      var other = encrypted
      change.body(&other)
      #expect(other.encryptionDifferences(beside: encrypted) == [change.name])
      // In clear it does not matter.
      other = clear
      change.body(&other)
      #expect(other.encryptionDifferences(beside: clear) == [], "\(change.name)")
    }
  }

  @Test func onlyDefaultsAreNumbered() {
    let settings = settings()
    #expect(settings.identity(number: 1) == ("GStreamer", "gst-smartdevicelink"))
    #expect(settings.identity(number: 2) == ("GStreamer 2", "gst-smartdevicelink-2"))
    let named = self.settings { $0.name = "Map" }.identity(number: 3)
    #expect(named == ("Map", "gst-smartdevicelink-3"))
    let identified = self.settings { $0.id = "map" }.identity(number: 3)
    #expect(identified == ("GStreamer 3", "map"))
  }

  /// One for all ways to write it. The built-in one serves a single app, and the others one connection.
  @Test(
    arguments: [
      ("sdl://192.0.2.7", "192.0.2.7:12345"), ("sdl://Car:4000", "car:4000"), ("sdl://127.0.0.1", "localhost:12345"),
      ("sdl://LOCALHOST", "localhost:12345"), ("sdl+ws://Car:4000/sdl?a", "car:4000/sdl?a"),
      ("sdl+builtin:default", nil),
      ("sdl+bluetooth:", nil), ("sdl+ws-listen://:4000", nil), ("nonsense", nil),
    ] as [(String, String?)]) func headUnitOfDefaults(_ uri: String, _ expected: String?)
  {
    #expect(settings(uri).headUnitOfDefaults == expected)
    #expect(settings(uri) { $0.name = "Map" }.headUnitOfDefaults == expected)
    #expect(settings(uri) { $0.id = "map" }.headUnitOfDefaults == expected)
    let isNumbered = settings(uri) { ($0.name, $0.id) = ("Map", "map") }.headUnitOfDefaults != nil
    #expect(!isNumbered)
  }

  /// Defaults get a number.
  @Test func anIdIsRegisteredOnce() {
    func app(_ id: String, _ uri: String = Self.uri) -> AppSettings { settings(uri) { $0.id = id } }
    #expect(app("Map").excludes(app("mAP")) && app("map").excludes(app("map", "sdl://192.0.2.7:12345")))
    #expect(!app("map").excludes(app("radio")) && !app("map").excludes(app("map", "sdl://192.0.2.8")))
    #expect(!settings().excludes(settings()))
    let builtIn = app("map", "sdl+builtin:default")
    #expect(!builtIn.excludes(builtIn))
    let bluetooth = app("map", "sdl+bluetooth:")
    #expect(bluetooth.excludes(bluetooth))
  }

  /// A projection app is registered for sound or without it.
  @Test func anAppServesElementsWithTheSameSettings() {
    let silent = settings { $0.type = .projection }
    let withSound = settings {
      $0.type = .projection
      $0.hasSound = true
    }
    #expect(silent.isServed(by: withSound) && !withSound.isServed(by: silent))
    #expect(settings { $0.hasSound = true }.isServed(by: settings()))
    #expect(settings { $0.openTimeout = 1 }.isServed(by: settings()))
    #expect(withSound.isMedia && !silent.isMedia && settings { $0.type = .media }.isMedia)
    #expect(!settings { $0.hasSound = true }.isMedia)
  }

  private func connection(_ change: (inout AppSettings) -> Void) throws -> AppConnection.Configuration {
    try settings(Self.uri, change).connection(number: 2) { _ in }
  }

  @Test func timesOfTheConnection() throws {
    let configuration = try connection {
      $0.connectTimeout = 1
      $0.startTimeout = 2
      $0.maxRetryInterval = 3
      $0.legacyStartDelay = 4
      $0.heartbeatInterval = 5
    }
    #expect(configuration.connectTimeout == .milliseconds(1))
    let session = configuration.session
    #expect(session.sessionTimeout == .milliseconds(1) && session.videoStartTimeout == .milliseconds(2))
    #expect(session.longestVideoRetry == .milliseconds(3) && session.legacyStartDelay == .milliseconds(4))
    #expect(session.heartbeatInterval == .milliseconds(5))
    #expect(try connection { $0.heartbeatInterval = 0 }.session.heartbeatInterval == nil)
    #expect(session.appName == "GStreamer 2" && session.appID == "gst-smartdevicelink-2")
  }

  @Test func whatASessionIsTold() throws {
    let usual = try connection { _ in }
    #expect(usual.session.usesSecondaryTransport && !usual.session.restartsOnForeground)
    #expect(!usual.session.beginsHandshake && !usual.session.isMediaApplication && usual.reconnection != nil)
    let other = try connection {
      $0.secondaryTransport = .none
      $0.restartsOnForeground = true
      $0.tls.role = .client
      $0.type = .media
      $0.autoReconnect = false
      $0.encryptionPolicy = .prefer
      $0.rpcEncryption = .none
      $0.spokenName = "Map"
      $0.synonyms = ["map"]
    }
    #expect(!other.session.usesSecondaryTransport && other.session.restartsOnForeground)
    #expect(other.session.beginsHandshake && other.session.isMediaApplication && other.reconnection == nil)
    #expect(other.session.encryptionPolicy == .prefer && other.session.rpcEncryption == .none)
    #expect(other.session.spokenName == "Map" && other.session.synonyms == ["map"])
  }

  /// Of SDL's RPC specification.
  @Test func lengthsOfNames() throws {
    for (count, isValid) in [(0, false), (1, true), (100, true), (101, false)] {
      let text = String(repeating: "é", count: count)
      let results = [
        Result { try connection { $0.name = text } }, Result { try connection { $0.id = text } },
      ].map { (try? $0.get()) != nil }
      #expect(results == [isValid, isValid], "\(count)")
    }
    for (count, isValid) in [(0, false), (1, true), (500, true), (501, false)] {
      let isTaken = (try? connection { $0.spokenName = String(repeating: "é", count: count) }) != nil
      #expect(isTaken == isValid, "\(count)")
    }
  }
}
