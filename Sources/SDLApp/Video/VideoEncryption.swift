/// Whether video is to be encrypted, in the terms of SDL's guides for apps.
public enum VideoEncryption: Sendable, CaseIterable {
  case none
  /// A TLS handshake is required, encryption is not. On the wire both requests are the same: the head unit decides.
  case authenticate
  case authenticateAndEncrypt
}

/// What follows an answer that does not give what ``VideoEncryption`` asks for.
public enum EncryptionPolicy: Sendable, CaseIterable {
  /// The session fails.
  case require
  /// A warning, and video in clear.
  case prefer
}
