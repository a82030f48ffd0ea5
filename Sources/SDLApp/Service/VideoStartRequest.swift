/// The stream that the app requests of the head unit.
package struct VideoStartRequest: Hashable, Sendable {
  /// Size of the encoded pictures in pixels; both even.
  package var size: VideoSize
  /// How the H.264 is carried; the codec is always H.264.
  package var streamingProtocol: VideoStreamingProtocol
  /// StartService is sent without parameters, the last resort of SDL-0058: only the head unit's answer says what to
  /// stream.
  package var isBare: Bool

  package init(size: VideoSize, streamingProtocol: VideoStreamingProtocol = .raw, isBare: Bool = false) {
    self.size = size
    self.streamingProtocol = streamingProtocol
    self.isBare = isBare
  }
}

extension VideoStartRequest: CustomStringConvertible {
  /// "H264 over RTP, 800×480".
  package var description: String {
    if isBare { return "a start without parameters, \(size)" }
    return "\(VideoCodec.h264.rawValue) over \(streamingProtocol.rawValue), \(size)"
  }
}

extension VideoStartRequest: ServiceRequest {
  package static var mediaName: String { "video" }

  /// The parameters that the app takes from a StartServiceACK.
  struct Acceptance: Equatable, Sendable {
    var size: VideoSize
    var streamingProtocol: VideoStreamingProtocol
    var mtu: Int64?
  }

  func acceptance(_ answer: VideoServiceParameters) throws(VideoStartFailure) -> Acceptance {
    guard let streamingProtocol = answer.acceptedProtocol else { throw answer.unusableAnswer }
    return Acceptance(size: answer.acceptedSize ?? size, streamingProtocol: streamingProtocol, mtu: answer.mtu)
  }

  func following(_ acceptance: Acceptance) -> VideoStartRequest {
    var request = self
    request.size = acceptance.size
    return request
  }
}

extension VideoSize {
  /// Whether a picture of `other` has no more pixels.
  func hasRoom(for other: VideoSize) -> Bool { other.width * other.height <= width * height }
}
