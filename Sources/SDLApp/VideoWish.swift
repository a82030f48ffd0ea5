/// The stream that the app would like to send.
public struct VideoWish: Equatable, Sendable {
  /// Size of the encoded pictures in pixels; both even.
  public var size: VideoSize
  /// How the H.264 is carried; the codec is always H.264.
  public var transport: VideoTransport

  /// Memberwise.
  public init(size: VideoSize, transport: VideoTransport = .raw) {
    self.size = size
    self.transport = transport
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

/// `videoProtocol` of the video service.
public enum VideoTransport: String, Sendable {
  /// Annex B byte stream.
  case raw = "RAW"
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
  public var isSizeInsisted = false
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

/// Why a video stream could not start. It is tried again unless ``rejectedParameters`` has entries.
public enum VideoStartFailure: Equatable, Sendable, CustomStringConvertible {
  /// StartServiceNAK.
  case refused(rejectedParameters: [String], reason: String?)
  /// Neither ACK nor NAK came in time.
  case unanswered
  /// The head unit ended the service just after it had begun, and not for the first time.
  case endedAtOnce

  /// What the head unit refused, by the names of the request's keys.
  public var rejectedParameters: [String] {
    if case .refused(let parameters, _) = self { parameters } else { [] }
  }

  /// For people.
  public var description: String {
    switch self {
    case .unanswered: "the head unit did not answer the request to start video"
    case .endedAtOnce: "the head unit accepts video, but ends it again at once"
    case .refused(let parameters, let reason):
      "the head unit refused to start video"
        + (parameters.isEmpty ? "" : ", rejecting \(parameters.joined(separator: ", "))")
        + (reason.map { ": \($0)" } ?? "")
    }
  }
}
