/// One end of a TLS session in memory, as both state machines use it: bytes in, bytes out.
///
/// A class, because the sending and the reading thread share the state of the encryption.
package protocol SecureChannel: AnyObject, Sendable {
  var isEstablished: Bool { get }
  /// The result of the handshake; nil before that.
  var summary: SecureChannelSummary? { get }
  /// The first message of the end that begins.
  func begin() -> SecureChannelStep
  /// Takes handshake bytes of the peer.
  func advance(_ bytes: [UInt8]) -> SecureChannelStep
  /// Encrypts at most ``SecurePayload/recordLimit`` bytes into memory that is larger by ``SecurePayload/overhead``.
  ///
  /// The peer must get all encrypted bytes, in this order.
  /// - Returns: the number of bytes written.
  func encrypt(
    _ plaintext: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
  ) throws(SecureChannelFailure) -> Int
  /// Decrypts the payload of a frame: one or more whole records. After a failure nothing else can be decrypted.
  func decrypt(_ records: [UInt8]) throws(SecureChannelFailure) -> [UInt8]
}

/// Makes the channel of one handshake, or throws the reason why there is none.
package typealias SecureChannelFactory = @Sendable () throws(SecureChannelFailure) -> any SecureChannel

/// The output of a handshake step, and its failure if there is one. With a failure there may be an alert to send.
package struct SecureChannelStep: Equatable, Sendable {
  package var output: [UInt8]
  package var failure: SecureChannelFailure?

  package init(output: [UInt8] = [], failure: SecureChannelFailure? = nil) {
    self.output = output
    self.failure = failure
  }
}

/// Why a handshake or a decryption failed.
package struct SecureChannelFailure: Error, Equatable, Sendable {
  /// For the peer.
  package var code: SecurityErrorCode
  /// In a form that can follow a colon.
  package var text: String

  package init(_ code: SecurityErrorCode, _ text: String) {
    self.code = code
    self.text = text
  }
}

package struct SecureChannelSummary: Equatable, Sendable {
  /// A certificate's owner.
  package struct Peer: Equatable, Sendable {
    /// Distinguished names as RFC 2253 writes them.
    package var subject: String
    package var issuer: String
    /// The subject's serialNumber, in which head units expect the app id.
    package var serialNumber: String?
    /// Seconds since 1970 between which the certificate is valid.
    package var notBefore: Int64
    package var notAfter: Int64

    package init(subject: String, issuer: String, serialNumber: String?, notBefore: Int64, notAfter: Int64) {
      self.subject = subject
      self.issuer = issuer
      self.serialNumber = serialNumber
      self.notBefore = notBefore
      self.notAfter = notAfter
    }
  }

  /// "TLSv1.2" or "DTLSv1.2".
  package var protocolVersion: String
  package var cipher: String
  /// Nil for a peer without a certificate.
  package var peer: Peer?
  /// Whether the peer's certificate was checked against authorities.
  package var isPeerVerified: Bool

  package init(protocolVersion: String, cipher: String, peer: Peer?, isPeerVerified: Bool) {
    self.protocolVersion = protocolVersion
    self.cipher = cipher
    self.peer = peer
    self.isPeerVerified = isPeerVerified
  }
}

package enum SecurePayload {
  /// Bytes that a payload may grow by, for every cipher suite of TLS 1.2.
  package static let overhead = 5 + 32 + 256
  /// The most plaintext in one frame: the limit of SDL's libraries for apps (16384 less the overhead).
  package static let recordLimit = (1 << 14) - overhead

  /// The most plaintext in a frame whose payload may have `limit` bytes once it is encrypted. With a small limit, half
  /// of it is left for the overhead of the encryption.
  package static func plaintextLimit(_ limit: Int) -> Int {
    min(recordLimit, max(limit - overhead, limit / 2, 1))
  }
}

/// The ids of SendInternalError (protocol specification, "Secure services").
package enum SecurityErrorCode: UInt8, Sendable, CaseIterable {
  case success = 0x00
  case invalidQuerySize = 0x01
  case invalidQueryID = 0x02
  case notSupported = 0x03
  case alreadyProtected = 0x04
  case notProtected = 0x05
  case decryptionFailed = 0x06
  case encryptionFailed = 0x07
  /// With ``notSupported`` the only ones to which SDL Core reacts.
  case invalidData = 0x08
  case handshakeFailed = 0x09
  case certificateInvalid = 0x0A
  case certificateExpired = 0x0B
  case unknown = 0xFF
}

extension Frame {
  /// The frame as if it had been sent in clear.
  ///
  /// - Throws: as ``SecureChannel/decrypt(_:)``; the channel is of no use then.
  package func decrypted(by channel: any SecureChannel) throws(SecureChannelFailure) -> Frame {
    var frame = self
    frame.payload = try channel.decrypt(payload)
    frame.header.dataSize = UInt32(truncatingIfNeeded: frame.payload.count)
    return frame
  }
}

/// A message whose frames are encrypted each by itself when they are sent, since TLS numbers its records: another
/// thread may send on the same session.
package struct ProtectedMessage: Equatable, Sendable {
  /// How the message is cut.
  package let fragmentation: Fragmentation
  /// The payload, in clear.
  package let payload: [UInt8]

  /// Creates a message.
  /// - Parameter maximumPayload: of a frame as it is sent, in bytes; the plaintext in it is smaller.
  package init(
    service: ServiceType, version: UInt8, sessionID: UInt8, messageID: UInt32, payload: [UInt8], maximumPayload: Int
  ) {
    fragmentation = Fragmentation(
      service: service, version: version, sessionID: sessionID, messageID: messageID, payloadSize: payload.count,
      maximumPayload: SecurePayload.plaintextLimit(maximumPayload))
    self.payload = payload
  }

  /// The frames in clear, for logs and checks.
  package var framesInClear: [UInt8] { fragmentation.frames(of: payload) }

  /// The bytes of all frames. First frames stay in clear, and announce the size of the plaintext.
  ///
  /// The peer must get them before all later records.
  /// - Throws: as ``SecureChannel/encrypt(_:into:)``; nothing may be sent on the session then.
  package func frames(encryptedBy channel: any SecureChannel) throws(SecureChannelFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    for fragment in fragmentation {
      var frame = Frame(header: fragment.header, payload: [])
      switch fragment.content {
      case .announcement(let totalSize, let frameCount):
        for number in [totalSize, frameCount] {
          frame.payload += withUnsafeBytes(of: number.bigEndian) { Array($0) }
        }
      case .payload(let range):
        frame.payload = try channel.encrypt(Array(payload[range]))
        frame.header.isEncrypted = true
        frame.header.dataSize = UInt32(truncatingIfNeeded: frame.payload.count)
      }
      bytes += frame.bytes
    }
    return bytes
  }
}

extension SecureChannel {
  /// The records of at most ``SecurePayload/recordLimit`` bytes; as ``encrypt(_:into:)``.
  package func encrypt(_ plaintext: [UInt8]) throws(SecureChannelFailure) -> [UInt8] {
    var records = [UInt8](repeating: 0, count: plaintext.count + SecurePayload.overhead)
    let result = plaintext.withUnsafeBytes { plaintext in
      records.withUnsafeMutableBytes { records in
        Result { () throws(SecureChannelFailure) in try encrypt(plaintext, into: records) }
      }
    }
    records.removeSubrange(try result.get()...)
    return records
  }
}
