import SDLApp

/// The right to send on one service, as far as writing depends on it.
struct MediaGrant: Equatable, Sendable {
  let service: ServiceType
  /// The number of this start of the service; payloads made for an earlier start are refused.
  let epoch: UInt32
  let sessionID: UInt8
  /// Protocol version of all frames.
  let version: UInt8
  /// Largest payload of one frame, in bytes.
  let maximumPayload: Int
  /// Each frame has to be encrypted.
  let isEncrypted: Bool
  /// The transport that carries the service.
  let role: TransportRole

  init(_ grant: VideoGrant) {
    service = .video
    epoch = grant.epoch
    sessionID = grant.sessionID
    version = grant.version
    maximumPayload = grant.maximumPayload
    isEncrypted = grant.isEncrypted
    role = grant.role
  }

  init(_ grant: AudioGrant) {
    service = .audio
    epoch = grant.epoch
    sessionID = grant.sessionID
    version = grant.version
    maximumPayload = grant.maximumPayload
    isEncrypted = false
    role = grant.role
  }
}
