/// The stream that the app would like to send.
public struct VideoStartRequest: Hashable, Sendable {
  /// Size of the encoded pictures in pixels; both even.
  public var size: VideoSize
  /// How the H.264 is carried; the codec is always H.264.
  public var transport: VideoTransport
  /// StartService goes without any parameters, the last resort of SDL-0058: the head unit's answer alone tells what it
  /// wants.
  public var isBare: Bool

  /// Memberwise.
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

/// Width and height of a picture in pixels.
public struct VideoSize: Hashable, Sendable, CustomStringConvertible {
  public var width: Int
  public var height: Int

  /// Memberwise.
  public init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  /// "800×480".
  public var description: String { "\(width)×\(height)" }
}

/// The right to send video. It exists exactly while bytes may go out.
public struct VideoGrant: Equatable, Sendable {
  /// Counts the starts of the service in this session; frames made for an older start must not be sent.
  public var epoch: UInt32
  public var sessionID: UInt8
  /// Protocol version of all frames.
  public var version: UInt8
  /// Largest payload of one frame in bytes, valid under every reading of the head unit's `mtu`.
  public var maximumPayload: Int
  /// Size of the pictures that the head unit expects.
  public var size: VideoSize
  /// The head unit acknowledged another size than it was asked for.
  public var isSizeOverridden = false
  /// How the head unit expects the video to be carried; it may have acknowledged another way than it was asked for.
  public var transport = VideoTransport.raw
  public var codec = VideoCodec.h264
}

/// Why a video stream ended.
public enum VideoStopReason: String, Sendable {
  /// The HMI level or the streaming state does not allow video any more.
  case hmiStatus = "hmi-status"
  /// The app does not wish to stream any more.
  case app = "app"
  /// The app wishes another size.
  case resized = "resized"
  /// The app supports none of the sizes that the head unit can show now.
  case outOfRange = "out-of-range"
  /// The head unit ended the service.
  case headUnit = "head-unit"
  /// The app is back in the foreground and wants a service that begins anew.
  case restarted = "restarted"
  /// The connection broke.
  case connectionLost = "connection-lost"
  /// The session is over.
  case sessionEnded = "session-ended"
}
