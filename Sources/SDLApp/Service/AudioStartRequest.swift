import SDLMessages
import SDLWire

/// The app's request for sound: without parameters, since the head unit alone chooses the format.
public struct AudioStartRequest: Hashable, Sendable {
  /// Creates a request for sound in the head unit's format.
  public init() {}
}

extension AudioStartRequest: ServiceRequest {
  public static var mediaName: String { "audio" }

  var isBare: Bool { false }

  func acceptance(_ answer: AudioServiceAcknowledgement) throws(AudioStartFailure) -> AudioServiceAcknowledgement {
    answer
  }

  func following(_ acceptance: AudioServiceAcknowledgement) -> AudioStartRequest { self }
}

/// The right to send sound. It exists from the acknowledgement of the service to its end; while the app is not audible,
/// it is there, but nothing may be sent.
public struct AudioGrant: Equatable, Sendable {
  /// The number of this start of the service; payloads made for an earlier start must not be sent. No ``VideoGrant``
  /// has the same.
  public var epoch: UInt32
  public var sessionID: UInt8
  /// Protocol version of all frames.
  public var version: UInt8
  /// Largest payload of one frame in bytes, valid under every reading of the head unit's `mtu`.
  public var maximumPayload: Int
  public var format: PCMFormat
  /// The head unit has announced no format, and ``format`` is the usual one.
  public var isFormatAssumed: Bool
  /// Whether each frame has to be encrypted; ``maximumPayload`` then is that of the plaintext.
  public var isEncrypted = false
  /// The transport of the session that carries the service.
  public var role = TransportRole.primary
}
