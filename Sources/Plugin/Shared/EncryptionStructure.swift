import GStreamerKit
import SDLApp

extension SecureChannelSummary {
  /// The property `encryption-state` of `sdlvideosink`.
  func structure(isVideoEncrypted: Bool, isRPCEncrypted: Bool) -> Structure {
    let structure = Structure("application/x-sdl-encryption")
    structure.set("video-encrypted", isVideoEncrypted)
    structure.set("rpc-encrypted", isRPCEncrypted)
    structure.set("protocol", protocolVersion)
    structure.set("cipher", cipher)
    structure.set("peer-verified", isPeerVerified)
    if let peer {
      structure.set("peer-subject", peer.subject)
      structure.set("peer-issuer", peer.issuer)
      structure.set("peer-not-before", TLSSettings.text(peer.notBefore))
      structure.set("peer-not-after", TLSSettings.text(peer.notAfter))
    }
    return structure
  }
}
