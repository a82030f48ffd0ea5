/// The outside of TLS and DTLS records (RFC 5246, section 6.2.1; RFC 6347, section 4.1).
public enum TLSRecord {
  /// The most bytes of plaintext in one record.
  public static let maximumPlaintext = 1 << 14
  /// Bytes that a record may be longer than its plaintext, header included, for every cipher suite of TLS 1.2.
  public static let maximumOverhead = 5 + 32 + 256

  /// Whether a record of DTLS begins here, rather than one of TLS.
  public static func isDatagram(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.count > 1 && bytes[1] == 0xFE }

  /// Bytes of the record that begins here, with its header; nil when less than a header is there.
  static func byteCount(of bytes: UnsafeRawBufferPointer, isDatagram: Bool) -> Int? {
    let headerSize = isDatagram ? 13 : 5
    guard bytes.count >= headerSize else { return nil }
    return headerSize + Int(bytes[headerSize - 2]) << 8 + Int(bytes[headerSize - 1])
  }

  /// Whether the bytes are nothing but whole records.
  static func areWhole(_ bytes: UnsafeRawBufferPointer, isDatagram: Bool) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      guard let count = byteCount(of: rest, isDatagram: isDatagram), count <= rest.count else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }
}
