import COpenSSL

/// Checksums by OpenSSL.
package enum Checksum {
  private static let sha1ByteCount = 20
  private static let sha256ByteCount = 32

  /// The SHA-256 of bytes in hexadecimal; nil where OpenSSL is not installed.
  package static func sha256(_ bytes: [UInt8]) -> String? {
    guard let openSSL = try? OpenSSL.functions() else { return nil }
    var digest = [UInt8](repeating: 0, count: sha256ByteCount)
    guard openSSL.pointee.EVP_Digest(bytes, bytes.count, &digest, nil, openSSL.pointee.EVP_sha256(), nil) == 1 else {
      return nil
    }
    return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The SHA-1 of bytes; nil where OpenSSL is not installed.
  package static func sha1(_ bytes: [UInt8]) -> [UInt8]? {
    guard let openSSL = try? OpenSSL.functions() else { return nil }
    var digest = [UInt8](repeating: 0, count: sha1ByteCount)
    guard openSSL.pointee.EVP_Digest(bytes, bytes.count, &digest, nil, openSSL.pointee.EVP_sha1(), nil) == 1 else {
      return nil
    }
    return digest
  }
}
