/// One frame: a header and its payload.
public struct Frame: Equatable, Sendable {
  /// The header; its `dataSize` equals the payload's length.
  public var header: FrameHeader
  /// The bytes behind the header.
  public var payload: [UInt8]

  /// Creates a frame; `header.dataSize` must equal `payload.count`.
  public init(header: FrameHeader, payload: [UInt8]) {
    self.header = header
    self.payload = payload
  }

  /// A control frame.
  public static func control(
    _ control: ControlFrame, service: ServiceType, version: UInt8, sessionID: UInt8, messageID: UInt32 = 0,
    payload: [UInt8] = []
  ) -> Frame {
    Frame(
      header: FrameHeader(
        version: version, frameType: .control, service: service, frameInfo: control.rawValue, sessionID: sessionID,
        dataSize: UInt32(truncatingIfNeeded: payload.count), messageID: messageID),
      payload: payload)
  }

  /// Header and payload as they go over the wire.
  public var bytes: [UInt8] { header.bytes + payload }
}
