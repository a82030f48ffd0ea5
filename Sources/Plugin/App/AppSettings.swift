import Bluetooth
import GStreamerKit
import Glibc
import SDLApp
import SDLAppLink
import SDLHeadUnitLink
import SDLLink
import Synchronization
import TLSEngine

/// The user's settings of the app: its identity, its head unit, and its time-outs.
struct AppSettings: Equatable, Sendable {
  var uri: String? { didSet { descriptorUse = DescriptorUse() } }
  /// The use of the descriptor in ``uri``, if there is one.
  private(set) var descriptorUse = DescriptorUse()
  var name = Self.defaultName
  var id = Self.defaultID
  var type = AppType.navigation
  var language = "EN-US"
  var names = AppNames()
  var spokenName: String?
  var synonyms: [String] = []
  /// Path of a PNG file.
  var icon: String?
  /// Milliseconds.
  var connectTimeout: UInt32 = 10_000
  /// How long the change to READY waits for the head unit, in milliseconds.
  var openTimeout: UInt32 = 500
  /// Milliseconds; 0 is off. A head unit that hangs is lost after twice this time, the limit of one that does not read.
  var heartbeatInterval: UInt32 = 10_000
  var autoReconnect = true
  /// Milliseconds.
  var startTimeout: UInt32 = 5000
  /// Milliseconds.
  var maxRetryInterval: UInt32 = 30_000
  /// Milliseconds.
  var legacyStartDelay: UInt32 = 250
  var restartsOnForeground = false
  var encryption = MediaEncryption.none
  var encryptionPolicy = EncryptionPolicy.require
  var rpcEncryption = RPCEncryption.prefer
  var secondaryTransport = SecondaryTransportPolicy.auto
  var policyUpdates = PolicyUpdates.none
  var tls = TLSSettings(role: .server)
  var conversation = ConversationLogSettings()
  /// The element that registers the app sends sound: SDL Core gives none to projection apps that are not media apps as
  /// well.
  var hasSound = false

  /// Whether the app's sound is heard in the background.
  var isMedia: Bool { type == .media || (hasSound && type == .projection) }

  var usesTLS: Bool { encryption != .none || rpcEncryption == .require }

  private static let defaultName = "GStreamer"
  static let defaultID = "gst-smartdevicelink"
  private static let loopbackNames = ["localhost", "127.0.0.1", "::1"]

  /// Whether an app that was registered with other settings is as this one would be.
  func isServed(by registered: AppSettings) -> Bool {
    var own = self
    (own.hasSound, own.openTimeout) = (registered.hasSound, registered.openTimeout)
    return own == registered && (!isMedia || registered.isMedia)
  }

  /// The properties whose values are ignored, because another element has registered the app with other values. A
  /// default counts as not set.
  func ignored(beside registered: AppSettings) -> [String] {
    let usual = AppSettings()
    func differs<Value: Equatable>(_ path: KeyPath<AppSettings, Value>) -> Bool {
      self[keyPath: path] != registered[keyPath: path] && self[keyPath: path] != usual[keyPath: path]
    }
    let properties = [
      ("app-type", differs(\.type)), ("language", differs(\.language)), ("app-names", differs(\.names)),
      ("tts-name", differs(\.spokenName)), ("vr-synonyms", differs(\.synonyms)), ("app-icon", differs(\.icon)),
      ("connect-timeout", differs(\.connectTimeout)),
      ("heartbeat-interval", differs(\.heartbeatInterval)), ("auto-reconnect", differs(\.autoReconnect)),
      ("start-timeout", differs(\.startTimeout)), ("max-retry-interval", differs(\.maxRetryInterval)),
      ("legacy-start-delay", differs(\.legacyStartDelay)), ("restart-on-foreground", differs(\.restartsOnForeground)),
      ("secondary-transport", differs(\.secondaryTransport)), ("policy-updates", differs(\.policyUpdates)),
      ("conversation-log", differs(\.conversation.path)), ("conversation-blank", differs(\.conversation.isBlank)),
    ]
    return properties.filter(\.1).map(\.0)
  }

  /// The properties of encryption in which two elements of an app differ. The app has one TLS session, so that each
  /// element has to name the same; a default counts.
  func encryptionDifferences(beside registered: AppSettings) -> [String] {
    guard usesTLS || registered.usesTLS else { return [] }
    let properties = [
      ("encryption", encryption != registered.encryption),
      ("encryption-policy", encryptionPolicy != registered.encryptionPolicy),
      ("rpc-encryption", rpcEncryption != registered.rpcEncryption),
      ("certificate", tls.certificate != registered.tls.certificate),
      ("private-key", tls.privateKey != registered.tls.privateKey),
      ("private-key-passphrase", tls.passphrase != registered.tls.passphrase),
      ("ca-certificates", tls.authorities != registered.tls.authorities),
      ("tls-role", tls.role != registered.tls.role), ("tls-protocol", tls.variant != registered.tls.variant),
    ]
    return properties.filter(\.1).map(\.0)
  }

  /// The head unit on which other apps may have the same default id or name; nil if both are set, and for the built-in
  /// one, which serves a single app.
  var headUnitOfDefaults: String? {
    guard name == Self.defaultName || id == Self.defaultID else { return nil }
    return switch try? headUnit() {
    case .tcp, .webSocket: sharedHeadUnit
    default: nil
    }
  }

  /// The head unit, the same for all ways to write it; nil for a built-in one, which serves a single app.
  private var sharedHeadUnit: String? {
    switch try? headUnit() {
    case .tcp(let host, let port):
      "\(Self.loopbackNames.contains(host.lowercased()) ? "localhost" : host.lowercased()):\(port)"
    case .webSocket(let host, let port, let target, _):
      "\(Self.loopbackNames.contains(host.lowercased()) ? "localhost" : host.lowercased()):\(port)\(target)"
    case .bluetooth, .descriptor, .webSocketListener: uri
    case .builtIn, nil: nil
    }
  }

  /// Whether a head unit that has registered this app refuses `other`, because it has the same id. Case does not
  /// matter, and defaults get a number.
  func excludes(_ other: AppSettings) -> Bool {
    guard id != Self.defaultID, id.lowercased() == other.id.lowercased(), let headUnit = sharedHeadUnit else {
      return false
    }
    return headUnit == other.sharedHeadUnit
  }

  /// The app's id and name: the number is appended to defaults, if it is not 1.
  func identity(number: Int) -> (name: String, id: String) {
    guard number > 1 else { return (name, id) }
    return (
      name == Self.defaultName ? "\(name) \(number)" : name, id == Self.defaultID ? "\(id)-\(number)" : id
    )
  }

  /// The app's identity and the session's time-outs.
  private func session(number: Int) -> AppSession.Configuration {
    let identity = identity(number: number)
    var session = AppSession.Configuration(
      appName: identity.name, appID: identity.id, appType: type.hmiType, language: language)
    session.names = names.values
    session.spokenName = spokenName
    session.synonyms = synonyms
    session.sessionTimeout = .milliseconds(Int64(connectTimeout))
    session.videoStartTimeout = .milliseconds(Int64(startTimeout))
    session.longestVideoRetry = .milliseconds(Int64(maxRetryInterval))
    session.legacyStartDelay = .milliseconds(Int64(legacyStartDelay))
    session.restartsOnForeground = restartsOnForeground
    session.isMediaApplication = isMedia
    session.encryption = encryption
    session.encryptionPolicy = encryptionPolicy
    session.rpcEncryption = rpcEncryption
    session.usesSecondaryTransport = secondaryTransport == .auto
    session.beginsHandshake = tls.role == .client
    session.heartbeatInterval = heartbeatInterval == 0 ? nil : .milliseconds(Int64(heartbeatInterval))
    return session
  }

  private func headUnit() throws(HeadUnitURI.Malformed) -> HeadUnitURI {
    guard let uri else { return .builtIn(.standard) }
    return try HeadUnitURI(uri)
  }

  /// The parameters of the connection.
  ///
  /// - Parameters:
  ///   - number: see ``AppNumber``.
  ///   - clock: of all time-outs.
  ///   - log: gets events while the app waits for a car.
  /// - Throws: the first thing in the settings that can't work.
  func connection(
    number: Int = 1, clock: TimeSource = .monotonic, log: @escaping @Sendable (String) -> Void
  ) throws(ElementError) -> AppConnection.Configuration {
    let headUnit: HeadUnitURI
    do {
      headUnit = try self.headUnit()
    } catch {
      throw .resource(GST_RESOURCE_ERROR_SETTINGS, "The property uri can't be used: \(error.description)")
    }
    for (property, value) in [("app-name", name), ("app-id", id)] where !(1...100).contains(value.count) {
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS, "The property \(property) must have 1 to 100 characters, not \(value.count)")
    }
    if let spokenName, !(1...500).contains(spokenName.unicodeScalars.count) {
      throw .resource(GST_RESOURCE_ERROR_SETTINGS, "The property tts-name must have 1 to 500 characters, or be unset")
    }
    let session = session(number: number)
    // OpenSSL is loaded only for this.
    let tls = usesTLS ? try tls.context(appID: session.appID) : nil
    // Last, because it may take a descriptor over.
    let (endpoint, canReconnect) = try endpoint(headUnit, tls, clock, log: log)
    var configuration = AppConnection.Configuration(
      endpoint: endpoint, session: session, connectTimeout: .milliseconds(Int64(connectTimeout)),
      reconnection: autoReconnect && canReconnect ? .init() : nil, clock: clock)
    configuration.tls = tls
    return configuration
  }

  private func endpoint(
    _ headUnit: HeadUnitURI, _ tls: TLSContext?, _ clock: TimeSource, log: @escaping @Sendable (String) -> Void
  ) throws(ElementError) -> (endpoint: AppConnection.Endpoint, canReconnect: Bool) {
    switch headUnit {
    case .tcp(let host, let port): return (.tcp(host: host, port: port), true)
    case .webSocket(let host, let port, let target, let isSecure):
      let tls = isSecure ? try self.tls.webContext() : nil
      return (.webSocket(WebSocketServer(host: host, port: port, target: target, tls: tls)), true)
    case .webSocketListener(let address, let port, let isSecure):
      let tls = isSecure ? try self.tls.webServerContext() : nil
      return (.transport(WebSocketListener(address: address, port: port, tls: tls, log: log)), true)
    case .builtIn(let preset): return (.transport(BuiltInHeadUnit(preset.configuration, tls: tls, clock: clock)), true)
    case .bluetooth(let car):
      var configuration = BluetoothTransport.Configuration.app(only: car)
      configuration.log = log
      return (.transport(BluetoothTransport(configuration)), true)
    case .descriptor(let number, let isLocal): return (.descriptor(try descriptor(number, isLocal: isLocal)), false)
    }
  }

  private func descriptor(_ number: Int32, isLocal: Bool) throws(ElementError) -> ConnectedDescriptor {
    guard !descriptorUse.hasBegun else {
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "The property uri can't be used again: descriptor \(number) was closed by an earlier start, and its number may have been reused. Set uri for each start, even if a new connection has the same number."
      )
    }
    do {
      let descriptor = try ConnectedDescriptor(adopting: number, isLocal: isLocal)
      _ = descriptorUse.begin()
      return descriptor
    } catch {
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "The property uri can't be used: descriptor \(number) \(error). The element closes it when it stops, so each start needs a new one."
      )
    }
  }
}

/// Whether the descriptor of a `uri` has been used: the connection closes it at its end, and the system then reuses its
/// number. Setting the property again, even to the same number, names another descriptor.
final class DescriptorUse: Equatable, Sendable {
  private let isOver = Atomic(false)

  /// Whether this is the first time.
  func begin() -> Bool { !isOver.exchange(true, ordering: .relaxed) }

  var hasBegun: Bool { isOver.load(ordering: .relaxed) }

  /// It is no part of the user's settings.
  static func == (left: DescriptorUse, right: DescriptorUse) -> Bool { true }
}

/// Values of the property `app-type`.
enum AppType: CaseIterable {
  case navigation
  case projection
  case media

  var hmiType: AppHMIType {
    switch self {
    case .navigation: .navigation
    case .projection: .projection
    case .media: .media
    }
  }
}

/// Values of the property `connection-state`.
enum ConnectionState: CaseIterable {
  case idle
  case resolving
  case connecting
  case registering
  /// Registered; neither video nor sound runs.
  case ready
  case streaming
  case failed
  /// The connection is lost, and will be made again.
  case reconnecting
  /// A car has to connect by itself.
  case waiting
}

extension AppType: ObjectEnumeration {
  static let objectType = EnumerationType<AppType>("GstSdlAppType")

  var row: EnumerationRow {
    switch self {
    case .navigation: .init(0, "navigation", "Navigation app")
    case .projection: .init(1, "projection", "Projection app")
    case .media: .init(2, "media", "Media app, without video; its sound is heard in the background as well")
    }
  }
}

extension ConnectionState: ObjectEnumeration {
  static let objectType = EnumerationType<ConnectionState>("GstSdlConnectionState")

  var row: EnumerationRow {
    switch self {
    case .idle: .init(0, "idle", "Not connected")
    case .resolving: .init(1, "resolving", "Looking up the host name")
    case .connecting: .init(2, "connecting", "Connecting")
    case .registering: .init(3, "registering", "Agreeing on a version and registering the app")
    case .ready: .init(4, "ready", "Registered, without a stream")
    case .streaming: .init(5, "streaming", "Video or sound may be sent")
    case .failed: .init(6, "failed", "Failed; an error message says why")
    case .reconnecting: .init(7, "reconnecting", "The connection was lost, and will be tried again")
    case .waiting: .init(8, "waiting", "Waiting for a car to connect")
    }
  }
}

extension AppState: ObjectEnumeration {
  package static let objectType = EnumerationType<AppState>("GstSdlAppState")

  package var row: EnumerationRow {
    switch self {
    case .foreground: .init(0, "foreground", "The app is in front")
    case .resigning: .init(1, "resigning", "The app is about to leave the foreground")
    case .background: .init(2, "background", "The app is in the background")
    case .regaining: .init(3, "regaining", "The app is about to come back")
    }
  }
}

/// Values of the property `policy-updates`.
enum PolicyUpdates: CaseIterable {
  case none
  case application
  case fetch
}

extension PolicyUpdates: ObjectEnumeration {
  static let objectType = EnumerationType<PolicyUpdates>("GstSdlPolicyUpdates")

  var row: EnumerationRow {
    switch self {
    case .none: .init(0, "none", "Requests of the head unit are ignored")
    case .application:
      .init(1, "application", "Requests are posted as messages sdl-system-request, for the application to answer")
    case .fetch: .init(2, "fetch", "Policies are fetched over HTTPS from the head unit's URL")
    }
  }
}

/// A number that distinguishes apps with the default `app-id` and `app-name`, because a head unit registers each id and
/// name once: the first one of this machine on a head unit has none, the second is number 2, and so on.
///
/// A number is the name of a socket in Linux's abstract namespace, which is shared by all processes and ends with its
/// owner, also if that crashes. So a restarted program has the same number, and finds the files that the head unit
/// keeps for it.
struct AppNumber: ~Copyable {
  /// More apps than head units accept. Beyond that the head unit refuses them.
  private static let numbers = 1...32

  /// From 1.
  let value: Int
  private let descriptor: Int32

  /// The lowest number that no other app of this machine has on the head unit.
  ///
  /// - Parameter headUnit: as the property `uri` names it; one with two names counts as two.
  init(on headUnit: String) {
    for number in Self.numbers {
      let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      if descriptor >= 0, Self.bind(descriptor, to: "gst-smartdevicelink-app-\(number) \(headUnit)") {
        value = number
        self.descriptor = descriptor
        return
      }
      let isTaken = descriptor >= 0 && errno == EADDRINUSE
      if descriptor >= 0 { close(descriptor) }
      guard isTaken else { break }
    }
    value = 1
    descriptor = -1
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Binds to a name in the abstract namespace (unix(7)), which begins with a zero byte. Long names are cut.
  private static func bind(_ descriptor: Int32, to name: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let count = withUnsafeMutableBytes(of: &address.sun_path) { path in
      let bytes = name.utf8.prefix(path.count - 1)
      path[1...].copyBytes(from: bytes)
      return bytes.count + 1
    }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + count)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, length) == 0 }
    }
  }
}

/// The property `app-names`: the app's name by language.
struct AppNames: Equatable, Sendable {
  private static let lengths = 1...100
  private static let mostSynonyms = 100
  private static let longestSynonym = 40

  /// By language tags such as DE-DE.
  private(set) var values: [String: String] = [:]

  init() {}

  /// Reads a structure whose fields are named like languages. Nil is none.
  init(_ structure: StructureView?) throws(InvalidPropertyValue) {
    for language in structure?.fieldNames ?? [] {
      guard let name = structure?.string(language), Self.lengths.contains(name.unicodeScalars.count) else {
        throw InvalidPropertyValue("the name in \(language) must be a text of 1 to 100 characters")
      }
      values[language] = name
    }
  }

  /// The value of the property; nil for none.
  var structure: Structure? {
    guard !values.isEmpty else { return nil }
    let structure = Structure("names")
    for (language, name) in values.sorted(by: { $0.key < $1.key }) { structure.set(language, name) }
    return structure
  }

  /// The value of the property `vr-synonyms`.
  static func synonyms(_ text: String) throws(InvalidPropertyValue) -> [String] {
    let names = text.split(separator: ",").map { String($0.drop { $0 == " " }) }
    guard names.count <= mostSynonyms, names.allSatisfy({ (1...longestSynonym).contains($0.unicodeScalars.count) })
    else {
      throw InvalidPropertyValue("at most \(mostSynonyms) names of 1 to \(longestSynonym) characters are possible")
    }
    return names
  }
}
