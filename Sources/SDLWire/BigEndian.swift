extension UInt32 {
  /// The four bytes at `offset`, which the caller has checked to exist.
  init(bigEndianBytes bytes: Span<UInt8>, at offset: Int) {
    self =
      UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16
      | UInt32(bytes[offset + 2]) << 8 | UInt32(bytes[offset + 3])
  }

  /// Most significant byte first.
  var bigEndianBytes: [UInt8] {
    [UInt8(self >> 24), UInt8(self >> 16 & 0xFF), UInt8(self >> 8 & 0xFF), UInt8(self & 0xFF)]
  }
}
