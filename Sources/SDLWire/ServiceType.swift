/// The services of an SDL session, as numbered in byte 1 of every frame (protocol specification, "Service Type").
public enum ServiceType: UInt8, Sendable, CaseIterable {
  /// Session control; also carries the TLS handshake.
  case control = 0x00
  /// Remote procedure calls as JSON.
  case rpc = 0x07
  /// PCM audio.
  case audio = 0x0A
  /// The video stream ("NAV" or "mobile nav" in older documents).
  case video = 0x0B
  /// An RPC with a binary tail ("bulk").
  case hybrid = 0x0F
}

/// The low three bits of byte 0.
public enum FrameType: UInt8, Sendable {
  /// Session management; the frame info is a ``ControlFrame``.
  case control = 0
  /// A whole message in one frame.
  case single = 1
  /// Announces size and frame count of a message that follows in consecutive frames.
  case first = 2
  /// One piece of a message.
  case consecutive = 3
}

/// The frame info byte of a control frame (protocol specification, "Frame Info").
public enum ControlFrame: UInt8, Sendable, CaseIterable {
  case heartbeat = 0x00
  case startService = 0x01
  case startServiceACK = 0x02
  case startServiceNAK = 0x03
  case endService = 0x04
  case endServiceACK = 0x05
  case endServiceNAK = 0x06
  case registerSecondaryTransport = 0x07
  case registerSecondaryTransportACK = 0x08
  case registerSecondaryTransportNAK = 0x09
  case transportEventUpdate = 0xFD
  /// Deprecated; head units still send it for video data on protocol 2–4.
  case serviceDataACK = 0xFE
  case heartbeatACK = 0xFF
}
