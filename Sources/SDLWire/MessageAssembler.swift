/// A whole message of the RPC, hybrid, audio, video or (TLS handshake) control service.
package struct Message: Equatable, Sendable {
  /// Header of the frame that completed the message; its `dataSize` is that frame's, and `isEncrypted` holds for all
  /// but the first frame.
  package var header: FrameHeader
  /// All payload bytes of the message.
  package var payload: [UInt8]

  package init(header: FrameHeader, payload: [UInt8]) {
    self.header = header
    self.payload = payload
  }
}

/// Puts multi-frame messages together again; single frames pass straight through.
///
/// Messages are distinguished by session, service and message id. The size that a first frame announces is checked
/// against the limits, and memory grows only with the bytes that have arrived.
package struct MessageAssembler: Sendable {
  /// Why a frame was refused; the message that it belonged to is dropped, others are not disturbed.
  package enum Failure: Error, Equatable, Sendable {
    /// A consecutive frame without a first frame.
    case notAnnounced
    /// A number is missing or repeated.
    case outOfSequence(expected: UInt8, got: UInt8)
    /// More bytes than the first frame announced, or no size in it.
    case sizeMismatch(announced: Int, got: Int)
    /// The last frame has come, and the message has fewer bytes than the first frame announced.
    case incomplete(Message, announced: Int)
    /// The first frame announces more than the receiver takes.
    case oversized(UInt32)
    /// The first frame announces nothing.
    case empty
    /// Some frames of the message came encrypted, others in clear.
    case mixedEncryption
    /// There is no room for all messages that are incomplete; see ``MessageAssembler/dropOldest()``.
    case noRoom
  }

  private struct Key: Hashable {
    var sessionID: UInt8
    var service: ServiceType
    var messageID: UInt32
  }

  private struct Partial {
    var announcedSize: Int
    var payload: [UInt8]
    var frameNumber: Int
    var lastFrame: Duration
    /// Of all frames but the first, which always comes in clear; nil before them.
    var isEncrypted: Bool?

    /// Makes room for the next bytes, with some to spare so that the bytes are seldom moved, but never for more than
    /// announced.
    mutating func append(_ bytes: [UInt8]) {
      let size = payload.count + bytes.count
      if payload.capacity < size { payload.reserveCapacity(min(announcedSize, size * 2)) }
      payload.append(contentsOf: bytes)
    }
  }

  /// The largest message accepted, in bytes; all incomplete messages together hold no more.
  package var maximumMessageSize: Int
  /// How many messages may be incomplete at once; for a further one, the message whose last frame is oldest is dropped.
  package let maximumPartialMessages: Int
  /// A message whose next frame has not come within this time is dropped (SDL Core's
  /// `ExpectedConsecutiveFramesTimeout`).
  package let timeout: Duration
  private var partials: [Key: Partial] = [:]

  package init(
    maximumMessageSize: Int = 16 << 20, maximumPartialMessages: Int = 8, timeout: Duration = .seconds(10)
  ) {
    self.maximumMessageSize = maximumMessageSize
    self.maximumPartialMessages = maximumPartialMessages
    self.timeout = timeout
  }

  /// The memory that incomplete messages take, in bytes.
  package var partialByteCount: Int { partials.values.reduce(0) { $0 + $1.payload.capacity } }

  /// When ``dropExpired(now:)`` has something to do; nil while no message is incomplete.
  package var nextDeadline: Duration? { partials.values.map(\.lastFrame).min().map { $0 + timeout } }

  /// Takes the next data frame, already decrypted; returns the message that it completes. `now` is the time of a clock
  /// that never goes back. Control frames must not come here.
  package mutating func accept(_ frame: Frame, now: Duration) throws(Failure) -> Message? {
    let header = frame.header
    let key = Key(sessionID: header.sessionID, service: header.service, messageID: header.messageID)
    dropExpired(now: now)
    switch header.frameType {
    case .control, .single:
      return Message(header: header, payload: frame.payload)
    case .first:
      try begin(key, announcement: frame.payload, now: now)
      return nil
    case .consecutive:
      return try append(frame, to: key, now: now)
    }
  }

  /// Drops the messages whose next frame is overdue. ``accept(_:now:)`` does so as well.
  package mutating func dropExpired(now: Duration) {
    for (key, partial) in partials where now - partial.lastFrame >= timeout { partials[key] = nil }
  }

  private mutating func begin(_ key: Key, announcement: [UInt8], now: Duration) throws(Failure) {
    partials[key] = nil
    guard announcement.count == 8 else { throw .sizeMismatch(announced: 8, got: announcement.count) }
    let total = UInt32(bigEndianBytes: announcement.span, at: 0)
    guard total > 0 else { throw .empty }
    guard total <= maximumMessageSize else { throw .oversized(total) }
    if partials.count >= maximumPartialMessages { dropOldest() }
    partials[key] = Partial(announcedSize: Int(total), payload: [], frameNumber: 0, lastFrame: now)
  }

  private mutating func append(_ frame: Frame, to key: Key, now: Duration) throws(Failure) -> Message? {
    guard var partial = partials.removeValue(forKey: key) else { throw .notAnnounced }
    let isLast = frame.header.frameInfo == 0
    let expected = UInt8(partial.frameNumber % 255 + 1)
    guard isLast || frame.header.frameInfo == expected else {
      throw .outOfSequence(expected: expected, got: frame.header.frameInfo)
    }
    let size = partial.payload.count + frame.payload.count
    guard isLast ? size <= partial.announcedSize : size < partial.announcedSize else {
      throw .sizeMismatch(announced: partial.announcedSize, got: size)
    }
    // Clear frames that an attacker inserts must not pass as encrypted because the last one is.
    let isEncrypted = partial.isEncrypted ?? frame.header.isEncrypted
    guard frame.header.isEncrypted == isEncrypted else { throw .mixedEncryption }
    partial.isEncrypted = isEncrypted
    partial.append(frame.payload)
    partial.frameNumber += 1
    partial.lastFrame = now
    if isLast {
      let message = Message(header: frame.header, payload: partial.payload)
      guard size == partial.announcedSize else { throw .incomplete(message, announced: partial.announcedSize) }
      return message
    }
    partials[key] = partial
    while partials.count > 1, partials.values.reduce(0, { $0 + $1.payload.count }) > maximumMessageSize {
      dropOldest()
    }
    return nil
  }

  /// Drops the incomplete message whose last frame came first.
  /// - Returns: its service; nil if there is none.
  @discardableResult
  package mutating func dropOldest() -> ServiceType? {
    guard let oldest = partials.min(by: { $0.value.lastFrame < $1.value.lastFrame })?.key else { return nil }
    partials[oldest] = nil
    return oldest.service
  }
}
