import HeadUnitControl
import SDLHeadUnitLink
import SDLLink
import TLSEngine

/// The options of WebSocket, and what the server gets of them.
struct WebSocketOptions {
  static let names: Set = ["--auth-token", "--cloud-app", "--websocket", "--websocket-origin"]
  static let usage = """
    --websocket [ADDRESS:]PORT
                       accept web apps over WebSocket as well (SDL Core's port is 2020; 0 takes any free port; ADDRESS is
                       that of --address unless given)
      --websocket-tls  with --websocket: wss, with --certificate and --private-key; apps need a certificate of
                       --ca-certificates, if given
      --websocket-origin ORIGIN
                       with --websocket: accept pages of this origin, too, such as https://apps.example, null or *; may
                       be repeated (programs and pages of this machine always may)
      --cloud-app URI  connect to the app at ws[s]://HOST:PORT[/PATH] when the driver activates it, which is at once
                       without --no-activation; may be repeated
      --auth-token TOKEN
                       with --cloud-app: the authToken that the app gets
    """

  private struct Remote {
    var text: String
    var host: String
    var port: UInt16
    var target: String
    var isSecure: Bool
  }

  /// Without an address at that of the TCP port.
  private var place: HostAndPort?
  private var origins: [String] = []
  private var remotes: [Remote] = []
  private var authToken: String?
  var usesTLS = false
  private var isActivated = true
  private var server: TLSContext?
  private var client: TLSContext?

  /// False for a value that the option does not take.
  mutating func take(_ option: String, _ value: String) -> Bool {
    switch option {
    case "--websocket":
      place = HostAndPort(value[...])
      return place != nil
    case "--websocket-origin":
      origins.append(value)
      return ["*", "null"].contains(value) || Self.isOrigin(value)
    case "--auth-token": authToken = value
    default:
      guard let remote = Self.remote(value) else { return false }
      remotes.append(remote)
    }
    return true
  }

  /// Checks the combination of all options.
  mutating func finish(_ credentials: TLSCredentials.Sources, isActivated: Bool) throws(Options.Invalid) {
    self.isActivated = isActivated
    guard place != nil || (origins.isEmpty && !usesTLS) else {
      throw Options.Invalid(text: "--websocket-origin and --websocket-tls need --websocket")
    }
    guard authToken == nil || !remotes.isEmpty else { throw Options.Invalid(text: "--auth-token needs --cloud-app") }
    do throws(TLSError) {
      if usesTLS {
        guard credentials.certificate != nil else {
          throw TLSError(.credentials, "--websocket-tls needs --certificate and --private-key")
        }
        server = try TLSContext(role: .server, credentials: TLSCredentials(credentials))
      }
      if remotes.contains(where: \.isSecure) {
        client = try TLSContext(role: .client, credentials: TLSCredentials(credentials), trustsSystem: true)
      }
    } catch {
      throw Options.Invalid(text: "\(error)")
    }
  }

  /// - Parameter address: of the TCP port.
  /// - Returns: the port for web apps; nil without one.
  func apply(to webSockets: ServedWebSockets, address: String?) throws(LinkError) -> UInt16? {
    let apps = remotes.map { remote in
      CloudApp(
        WebSocketServer(
          host: remote.host, port: remote.port, target: remote.target, tls: remote.isSecure ? client : nil),
        name: remote.text, isActivated: isActivated)
    }
    webSockets.add(apps, authToken: authToken)
    guard let place else { return nil }
    return try webSockets.listen(
      address: place.host.map { $0 == "*" ? nil : $0 } ?? address, port: place.port,
      origins: AllowedOrigins(named: origins), tls: server)
  }

  /// As browsers say it: they leave a path out, even a slash.
  private static func isOrigin(_ text: String) -> Bool {
    text.firstRange(of: "://").map { !text[$0.upperBound...].contains("/") } ?? false
  }

  private static func remote(_ text: String) -> Remote? {
    guard let marker = text.firstRange(of: "://"), ["ws", "wss"].contains(text[..<marker.lowerBound].lowercased())
    else { return nil }
    let rest = text[marker.upperBound...]
    let authority = rest.prefix { !"/?#".contains($0) }
    guard let server = HostAndPort(authority), let host = server.host, server.port > 0 else { return nil }
    let target = rest.dropFirst(authority.count).prefix { $0 != "#" }
    guard target.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
    return Remote(
      text: text, host: host, port: server.port, target: String(target),
      isSecure: text[..<marker.lowerBound].lowercased() == "wss")
  }
}
