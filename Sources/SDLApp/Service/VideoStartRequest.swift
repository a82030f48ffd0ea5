/// The stream that the app requests of the head unit.
package struct VideoStartRequest: Hashable, Sendable {
  /// Size of the encoded pictures in pixels; both even.
  package var size: VideoSize
  /// How the H.264 is carried; the codec is always H.264.
  package var transport: VideoTransport
  /// StartService is sent without parameters, the last resort of SDL-0058: only the head unit's answer says what to
  /// stream.
  package var isBare: Bool

  package init(size: VideoSize, transport: VideoTransport = .raw, isBare: Bool = false) {
    self.size = size
    self.transport = transport
    self.isBare = isBare
  }
}

extension VideoStartRequest: CustomStringConvertible {
  /// "H264 over RTP, 800×480".
  package var description: String {
    isBare ? "a start without parameters, \(size)" : "\(VideoCodec.h264.rawValue) over \(transport.rawValue), \(size)"
  }
}

extension VideoStartRequest: ServiceRequest {
  package static var mediaName: String { "video" }

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
package struct VideoSize: Hashable, Sendable, CustomStringConvertible {
  package var width: Int
  package var height: Int

  package init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  /// Whether a picture of `other` has no more pixels.
  func hasRoom(for other: VideoSize) -> Bool { other.width * other.height <= width * height }

  /// "800×480".
  package var description: String { "\(width)×\(height)" }
}

package enum StreamStopReason: String, Sendable {
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
