/// The stream that the app requests of the head unit.
public struct VideoStartRequest: Hashable, Sendable {
  /// Size of the encoded pictures in pixels; both even.
  public var size: VideoSize
  /// How the H.264 is carried; the codec is always H.264.
  public var transport: VideoTransport
  /// StartService is sent without parameters, the last resort of SDL-0058: only the head unit's answer says what to
  /// stream.
  public var isBare: Bool

  public init(size: VideoSize, transport: VideoTransport = .raw, isBare: Bool = false) {
    self.size = size
    self.transport = transport
    self.isBare = isBare
  }
}

extension VideoStartRequest: CustomStringConvertible {
  /// "H264 over RTP, 800×480".
  public var description: String {
    isBare ? "a start without parameters, \(size)" : "\(VideoCodec.h264.rawValue) over \(transport.rawValue), \(size)"
  }
}

extension VideoStartRequest: ServiceRequest {
  public static var mediaName: String { "video" }

  /// The parameters that the app takes from a StartServiceACK.
  struct Acceptance: Equatable, Sendable {
    var size: VideoSize
    var transport: VideoTransport
    var mtu: Int64?
  }

  func acceptance(_ answer: VideoServiceParameters) throws(VideoStartFailure) -> Acceptance {
    guard let transport = answer.acceptedTransport else { throw answer.unusableAnswer }
    return Acceptance(size: answer.acceptedSize ?? size, transport: transport, mtu: answer.mtu)
  }

  func following(_ acceptance: Acceptance) -> VideoStartRequest {
    var request = self
    request.size = acceptance.size
    return request
  }
}

/// Width and height of a picture in pixels.
public struct VideoSize: Hashable, Sendable, CustomStringConvertible {
  public var width: Int
  public var height: Int

  public init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  /// Whether a picture of `other` has no more pixels.
  func hasRoom(for other: VideoSize) -> Bool { other.width * other.height <= width * height }

  /// "800×480".
  public var description: String { "\(width)×\(height)" }
}

/// The right to send video. It exists exactly while video may be sent.
public struct VideoGrant: Equatable, Sendable {
  /// The number of this start of the service; frames made for an earlier start must not be sent.
  public var epoch: UInt32
  public var sessionID: UInt8
  /// Protocol version of all frames.
  public var version: UInt8
  /// Largest payload of one frame in bytes, valid under every reading of the head unit's `mtu`.
  public var maximumPayload: Int
  /// Size of the pictures that the head unit expects.
  public var size: VideoSize
  /// The head unit acknowledged another size than was requested.
  public var isSizeOverridden = false
  /// The transport that the head unit acknowledged, which may be another one than was requested.
  public var transport = VideoTransport.raw
  public var codec = VideoCodec.h264
  /// Whether each frame has to be encrypted; ``maximumPayload`` then is that of the plaintext.
  public var isEncrypted = false
  /// The transport of the session that carries the service.
  public var role = TransportRole.primary
  public var transportClass = TransportClass.tcpWiFi
}

public enum StreamStopReason: String, Sendable {
  /// The HMI level or the streaming state does not allow it any more.
  case hmiStatus = "hmi-status"
  /// The app does not request a stream any more.
  case app = "app"
  /// The app requests another size.
  case resized = "resized"
  /// The app supports none of the sizes that the head unit can show now.
  case outOfRange = "out-of-range"
  /// The head unit ended the service.
  case headUnit = "head-unit"
  /// The app is back in the foreground, and configured to restart the service then.
  case restarted = "restarted"
  /// It continues over another transport of the session.
  case moved = "moved"
  /// The secondary transport that carried it was lost. It continues over the primary one, if the head unit allows that.
  case transportLost = "transport-lost"
  case connectionLost = "connection-lost"
  case sessionEnded = "session-ended"
}
