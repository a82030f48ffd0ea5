import COpenSSL
import Glibc

package struct CertificateInfo: Equatable, Sendable {
  /// The distinguished name as RFC 2253 writes it: "serialNumber=my-app,CN=My App".
  package var subject: String
  package var issuer: String
  /// The attribute serialNumber of the subject, in which SDL Core expects the app id; nil without one.
  package var subjectSerialNumber: String?
  /// Seconds since 1970 from which it is valid.
  package var notBefore: Int64
  /// Seconds since 1970 until which it is valid.
  package var notAfter: Int64

  /// Longer names are cut: a peer can send names of any length.
  static let maximumNameByteCount = 1024

  /// Reads a certificate; nil for one whose times can't be read.
  init?(_ certificate: OpaquePointer, _ ssl: UnsafePointer<COpenSSLFunctions>) {
    guard let before = Self.seconds(ssl.pointee.X509_get0_notBefore(certificate), ssl),
      let after = Self.seconds(ssl.pointee.X509_get0_notAfter(certificate), ssl)
    else { return nil }
    let name = ssl.pointee.X509_get_subject_name(certificate)
    subject = Self.text(name, ssl)
    issuer = Self.text(ssl.pointee.X509_get_issuer_name(certificate), ssl)
    subjectSerialNumber = Self.attribute(NID_serialNumber, of: name, ssl)
    notBefore = before
    notAfter = after
  }

  private static func seconds(
    _ time: UnsafePointer<ASN1_TIME>?, _ ssl: UnsafePointer<COpenSSLFunctions>
  ) -> Int64? {
    var parts = tm()
    guard let time, ssl.pointee.ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return Int64(timegm(&parts))
  }

  private static func text(_ name: OpaquePointer?, _ ssl: UnsafePointer<COpenSSLFunctions>) -> String {
    guard let name, let bio = ssl.pointee.BIO_new(ssl.pointee.BIO_s_mem()) else { return "" }
    defer { _ = ssl.pointee.BIO_free(bio) }
    guard ssl.pointee.X509_NAME_print_ex(bio, name, 0, COPENSSL_NAME_FORMAT) >= 0 else { return "" }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maximumNameByteCount) { bytes in
      let count = ssl.pointee.BIO_read(bio, bytes.baseAddress, Int32(bytes.count))
      return String(decoding: bytes[..<max(Int(count), 0)], as: UTF8.self)
    }
  }

  private static func attribute(
    _ identifier: Int32, of name: OpaquePointer?, _ ssl: UnsafePointer<COpenSSLFunctions>
  ) -> String? {
    let index = ssl.pointee.X509_NAME_get_index_by_NID(name, identifier, -1)
    guard index >= 0, let entry = ssl.pointee.X509_NAME_get_entry(name, index),
      let value = ssl.pointee.X509_NAME_ENTRY_get_data(entry),
      let bytes = ssl.pointee.ASN1_STRING_get0_data(value)
    else { return nil }
    let count = min(Int(ssl.pointee.ASN1_STRING_length(value)), maximumNameByteCount)
    return String(decoding: UnsafeBufferPointer(start: bytes, count: max(count, 0)), as: UTF8.self)
  }
}

extension CertificateInfo {
  /// Whether it is valid at this time, in seconds since 1970.
  package func validity(at time: Int64) -> Validity {
    if time < notBefore { return .notYet }
    return time > notAfter ? .expired : .valid
  }

  /// A time compared with the validity of a certificate.
  package enum Validity: Sendable {
    case notYet
    case valid
    case expired
  }
}
