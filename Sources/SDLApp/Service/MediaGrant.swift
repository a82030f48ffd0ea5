import SDLWire

/// The right to send payloads of one media service, from its start to its end.
package struct MediaGrant: Equatable, Sendable {
  package let service: ServiceType
  /// The number of this start of any media service; payloads made for an earlier start must not be sent.
  package let epoch: UInt32
  package let sessionID: UInt8
  /// Protocol version of all frames.
  package let version: UInt8
  /// Largest payload of one frame in bytes, valid under every reading of the head unit's `mtu`.
  package let maximumPayload: Int
  /// Whether each frame has to be encrypted; ``maximumPayload`` then is that of the plaintext.
  package var isEncrypted = false
  /// The transport of the session that carries the service.
  package var role = TransportRole.primary
}

/// What a ``MediaGrant`` allows to send.
package protocol StreamGrant: Equatable, Sendable {
  var media: MediaGrant { get }
}

extension StreamGrant {
  package var epoch: UInt32 { media.epoch }
  package var sessionID: UInt8 { media.sessionID }
  package var version: UInt8 { media.version }
  package var maximumPayload: Int { media.maximumPayload }
  package var isEncrypted: Bool { media.isEncrypted }
  package var role: TransportRole { media.role }
}

/// The right to send video. While the service is suspended only a notice may be sent with it.
package struct VideoGrant: StreamGrant {
  package let media: MediaGrant
  /// Size of the pictures that the head unit expects.
  package var size: VideoSize
  /// The head unit acknowledged another size than was requested.
  package var isSizeOverridden = false
  /// The protocol that the head unit acknowledged, which may be another one than was requested.
  package var streamingProtocol = VideoStreamingProtocol.raw
  package var transportClass = TransportClass.tcpWiFi
}

/// The right to send sound. It exists from the acknowledgement of the service to its end; while the app is not audible,
/// it is there, but nothing may be sent.
package struct AudioGrant: StreamGrant {
  package let media: MediaGrant
  package var format: PCMFormat
  /// The head unit has announced no format, and ``format`` is the usual one.
  package var isFormatAssumed: Bool
}
