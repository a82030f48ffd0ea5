import GStreamerKit
import Glibc
import TLSEngine

/// The properties for certificates and keys, of either end.
struct TLSSettings: Equatable, Sendable {
  var role: TLSContext.Role
  /// The TLS version of a client.
  var variant = TLSContext.Variant.tls
  /// Here and below: path of a PEM file, or PEM itself; nil when not set.
  var certificate: String?
  var privateKey: String?
  var authorities: String?
  /// Never read back, logged, or part of an error.
  var passphrase = Secret()

  /// Only the role.
  init(role: TLSContext.Role) {
    self.role = role
  }

  /// A text that is not shown in descriptions and dumps.
  struct Secret: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    var text: String?

    var description: String { "(secret)" }
    var customMirror: Mirror { Mirror(self, children: []) }
  }

  private var sources: TLSCredentials.Sources {
    var sources = TLSCredentials.Sources()
    sources.certificate = certificate.map { PEMSource($0) }
    sources.privateKey = privateKey.map { PEMSource($0) }
    sources.authorities = authorities.map { PEMSource($0) }
    sources.passphrase = passphrase.text
    return sources
  }

  /// Loads the credentials that are set.
  ///
  /// - Throws: the error, with the name of the file.
  func context() throws(ElementError) -> TLSContext {
    do throws(TLSError) {
      return try TLSContext(role: role, variant: variant, credentials: TLSCredentials(sources))
    } catch {
      throw ElementError(error)
    }
  }

  /// The same for the client of a WebSocket. Without authorities, the server needs a certificate for its host, of an
  /// authority of the system.
  func webContext() throws(ElementError) -> TLSContext {
    do throws(TLSError) {
      return try TLSContext(role: .client, credentials: TLSCredentials(sources), trustsSystem: true)
    } catch {
      throw ElementError(error)
    }
  }

  /// The same for the server of a WebSocket. With authorities, the client needs a certificate.
  func webServerContext() throws(ElementError) -> TLSContext {
    guard certificate != nil else {
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "sdl+wss-listen needs a certificate for this machine: set the properties certificate and private-key.")
    }
    do throws(TLSError) {
      return try TLSContext(role: .server, credentials: TLSCredentials(sources))
    } catch {
      throw ElementError(error)
    }
  }

  /// The same for an app, whose certificate must be valid now, and be issued for this app.
  func context(appID: String) throws(ElementError) -> TLSContext {
    guard certificate != nil else {
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "Encryption needs the app's certificate: set the properties certificate and private-key.")
    }
    let context = try context()
    guard let info = context.credentials.info else { return context }
    guard info.subjectSerialNumber?.lowercased() == appID.lowercased() else {
      let given = info.subjectSerialNumber.map { "is \"\($0)\"" } ?? "is missing"
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "The certificate does not belong to this app: the serialNumber of its subject \(given), but app-id is "
          + "\"\(appID)\". Head units refuse it.", details: info.subject)
    }
    switch info.validity(at: Int64(time(nil))) {
    case .valid: return context
    case .notYet:
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "The certificate is not valid before \(Self.text(info.notBefore)). Is this machine's clock right?")
    case .expired:
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "The certificate has expired on \(Self.text(info.notAfter)). Get a new one, or correct this machine's clock.")
    }
  }

  /// "2026-11-22 10:30:00 UTC"
  static func text(_ seconds: Int64) -> String {
    var seconds = time_t(seconds)
    var parts = tm()
    guard gmtime_r(&seconds, &parts) != nil else { return "\(seconds)" }
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S UTC", &parts)
    return String(decoding: text[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }
}

extension ElementError {
  fileprivate init(_ error: TLSError) {
    let text = error.description
    self = .resource(
      error.kind == .unavailable ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_SETTINGS,
      text.prefix(1).uppercased() + text.dropFirst() + ".")
  }
}

extension Property {
  /// A certificate or a key: the path of a PEM file, or PEM itself, which may hold a private key and so is not read
  /// back.
  static func pem(
    _ name: PropertyName, _ path: SettingsPath<String?>, _ nick: StaticString, _ blurb: StaticString
  ) -> Property {
    .text(
      name, path, nick, blurb, .mutableReady, parse: { $0 },
      text: { value in
        guard let value, case .text = PEMSource(value) else { return value }
        return "(PEM text)"
      })
  }

  /// Of the key in a PEM file or text.
  static func passphrase(_ path: SettingsPath<String?>) -> Property {
    .secret(
      "private-key-passphrase", path, "Private key's passphrase",
      "Passphrase of the private key, if it is encrypted; can't be read")
  }
}
