import GStreamerKit
import SDLApp
import TLSEngine

/// The properties of encryption, the same in every sink: the app's services share one TLS session.
extension Property where Owner: AppElement {
  static var encryption: [Property<Owner>] {
    [
      .enumeration(
        "encryption", \.app.encryption, "Encryption",
        """
        Whether to ask the head unit to encrypt video and sound by TLS, which needs certificate and private-key
        """,
        .mutableReady),
      .enumeration(
        "encryption-policy", \.app.encryptionPolicy, "Encryption policy",
        "What happens if the head unit does not encrypt as requested", .mutableReady),
      .enumeration(
        "rpc-encryption", \.app.rpcEncryption, "RPC encryption",
        """
        Whether touches and all other RPCs are encrypted once the app is registered, which needs certificate and \
        private-key
        """,
        .mutableReady),
      .pem(
        "certificate", \.app.tls.certificate, "Certificate",
        """
        PEM file, or PEM text, with the app's certificate and the intermediate certificates; the serialNumber of its \
        subject has to be the app-id
        """
      ),
      .pem(
        "private-key", \.app.tls.privateKey, "Private key",
        """
        PEM file, or PEM text, with the key of the certificate; unset: it is read from certificate. Text is never \
        read back
        """
      ),
      .passphrase(\.app.tls.passphrase.text),
      .pem(
        "ca-certificates", \.app.tls.authorities, "CA certificates",
        """
        PEM file, or PEM text, with the authorities, one of which must have signed the head unit's certificate; \
        unset: any head unit is accepted
        """
      ),
      .enumeration(
        "tls-role", \.app.tls.role, "TLS role",
        "Role of the app in the TLS handshake: server, unless the head unit is configured as the server", .mutableReady),
      .enumeration(
        "tls-protocol", \.app.tls.variant, "TLS protocol",
        "Protocol of the app as TLS client; as a server it follows the client", .mutableReady),
      .structure(
        "encryption-state", "Encryption state",
        """
        State of the encryption (application/x-sdl-encryption): video-encrypted, audio-encrypted, rpc-encrypted, \
        protocol, cipher, the head unit's certificate; unset before the TLS handshake
        """,
        get: { $0.app?.status.session.encryptionState }),
    ]
  }
}

extension PropertyName {
  static let encryptionState: PropertyName = "encryption-state"
}

extension AppSession.Status {
  /// Unset before the TLS handshake.
  fileprivate var encryptionState: Structure? {
    guard let encryption else { return nil }
    let structure = Structure("application/x-sdl-encryption")
    structure.set("video-encrypted", video.grant?.isEncrypted == true)
    structure.set("audio-encrypted", audio.grant?.isEncrypted == true)
    structure.set("rpc-encrypted", isRPCEncrypted)
    structure.set("protocol", encryption.protocolVersion)
    structure.set("cipher", encryption.cipher)
    structure.set("peer-verified", encryption.isPeerVerified)
    if let peer = encryption.peer {
      structure.set("peer-subject", peer.subject)
      structure.set("peer-issuer", peer.issuer)
      structure.set("peer-not-before", TLSSettings.text(peer.notBefore))
      structure.set("peer-not-after", TLSSettings.text(peer.notAfter))
    }
    return structure
  }
}
