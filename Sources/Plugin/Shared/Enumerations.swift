import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLMessages
import TLSEngine

/// HMI levels as a GObject enumeration, in properties and messages of app and head unit.
extension HMILevel: ObjectEnumeration {
  package static let objectType = EnumerationType<HMILevel>("GstSdlHMILevel")

  package var row: EnumerationRow {
    switch self {
    case .none: .init(0, "none", "The app is not in use")
    case .background: .init(1, "background", "The app is in the background")
    case .limited: .init(2, "limited", "Another screen is in front; video and sound may run")
    case .full: .init(3, "full", "The app is in front")
    }
  }
}

/// Whether an app is audible, as a GObject enumeration.
extension AudioStreamingState: ObjectEnumeration {
  package static let objectType = EnumerationType<AudioStreamingState>("GstSdlAudioStreamingState")

  package var row: EnumerationRow {
    switch self {
    case .audible: .init(0, "audible", "The app is heard")
    case .attenuated: .init(1, "attenuated", "The app is heard, more quietly")
    case .notAudible: .init(2, "not-audible", "The app is not heard, and may not send sound")
    }
  }
}

extension MediaEncryption: ObjectEnumeration {
  package static let objectType = EnumerationType<MediaEncryption>("GstSdlEncryption")

  package var row: EnumerationRow {
    switch self {
    case .none: .init(0, "none", "Video and sound in clear")
    case .authenticate:
      .init(1, "authenticate", "A TLS handshake, and encryption if the head unit wants it")
    case .authenticateAndEncrypt: .init(2, "authenticate-and-encrypt", "Encrypted video and sound")
    }
  }
}

extension EncryptionPolicy: ObjectEnumeration {
  package static let objectType = EnumerationType<EncryptionPolicy>("GstSdlEncryptionPolicy")

  package var row: EnumerationRow {
    switch self {
    case .require: .init(0, "require", "An error if the head unit does not encrypt")
    case .prefer: .init(1, "prefer", "A warning, and video or sound in clear")
    }
  }
}

extension RPCEncryption: ObjectEnumeration {
  package static let objectType = EnumerationType<RPCEncryption>("GstSdlRPCEncryption")

  package var row: EnumerationRow {
    switch self {
    case .none: .init(0, "none", "In clear, even if the head unit's policy requires encryption")
    case .prefer: .init(1, "prefer", "Encrypted if the head unit's policy requires it, and encryption is not none")
    case .require: .init(2, "require", "Encrypted, or an error; what comes in clear is ignored")
    }
  }
}

extension HeadUnitSecurity: ObjectEnumeration {
  package static let objectType = EnumerationType<HeadUnitSecurity>("GstSdlHeadUnitEncryption")

  package var row: EnumerationRow {
    switch self {
    case .refuse: .init(0, "refuse", "Answer in clear, as without certificates")
    case .accept: .init(1, "accept", "Encrypt if the app asks for it; in clear after a failed handshake")
    case .require: .init(2, "require", "Refuse video and sound in clear")
    }
  }
}

extension TLSContext.Role: ObjectEnumeration {
  package static let objectType = EnumerationType<TLSContext.Role>("GstSdlTLSRole")

  package var row: EnumerationRow {
    switch self {
    case .client: .init(0, "client", "Begins the handshake")
    case .server: .init(1, "server", "Waits for the handshake")
    }
  }
}

extension TLSContext.Variant: ObjectEnumeration {
  package static let objectType = EnumerationType<TLSContext.Variant>("GstSdlTLSProtocol")

  package var row: EnumerationRow {
    switch self {
    case .tls: .init(0, "tls", "TLS 1.2")
    case .dtls: .init(1, "dtls", "DTLS 1.2")
    }
  }
}
