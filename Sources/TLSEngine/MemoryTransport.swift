import COpenSSL

/// The caller's memory as OpenSSL's input and output, for the time of one call.
///
/// OpenSSL's own memory BIO would copy every record once more, and grow without a limit.
final class MemoryTransport {
  /// The destination of OpenSSL's output.
  private enum Destination {
    /// Handshake messages, at most ``maximumFlightByteCount`` at once.
    case handshake([UInt8])
    /// Records, into memory that may be too small.
    case memory(UnsafeMutableRawBufferPointer, used: Int)
  }

  /// The most bytes that a handshake sends at once: a chain of certificates.
  static let maximumFlightByteCount = 256 << 10

  /// Input that OpenSSL has not read yet.
  var input = UnsafeRawBufferPointer(start: nil, count: 0)
  private var destination = Destination.handshake([])
  /// Whether one read must not get more than one record (DTLS).
  let isDatagram: Bool

  init(isDatagram: Bool) {
    self.isDatagram = isDatagram
  }

  /// The handshake messages and alerts that OpenSSL has written since the last call.
  func takeMessages() -> [UInt8] {
    defer { destination = .handshake([]) }
    return if case .handshake(let messages) = destination { messages } else { [] }
  }

  /// Has OpenSSL write records into `memory` during `body`.
  ///
  /// - Returns: the number of their bytes.
  func withRecords(in memory: UnsafeMutableRawBufferPointer, _ body: () -> Void) -> Int {
    destination = .memory(memory, used: 0)
    defer { destination = .handshake([]) }
    body()
    return if case .memory(_, let used) = destination { used } else { 0 }
  }

  fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var count = min(buffer.count, input.count)
    if isDatagram, let record = TLSRecord.byteCount(of: input, isDatagram: true) { count = min(count, record) }
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
    input = UnsafeRawBufferPointer(rebasing: input[count...])
    return count
  }

  fileprivate func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch destination {
    case .handshake(var messages):
      guard bytes.count <= Self.maximumFlightByteCount - messages.count else { return false }
      destination = .handshake([])
      messages += bytes
      destination = .handshake(messages)
    case .memory(let memory, let used):
      guard bytes.count <= memory.count - used else { return false }
      UnsafeMutableRawBufferPointer(rebasing: memory[used...]).copyMemory(from: bytes)
      destination = .memory(memory, used: used + bytes.count)
    }
    return true
  }

  /// A BIO on this transport, which has to outlive it. Nil without memory.
  func makeBIO(_ ssl: UnsafePointer<COpenSSLFunctions>) -> OpaquePointer? {
    guard let method = Self.method(ssl), let bio = ssl.pointee.BIO_new(method) else { return nil }
    ssl.pointee.BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    ssl.pointee.BIO_set_init(bio, 1)
    return bio
  }

  /// Made once for the process, since it holds only the functions below.
  private static let sharedMethod: UInt? = {
    guard let ssl = try? OpenSSL.functions(), let method = ssl.pointee.BIO_meth_new(BIO_TYPE_SOURCE_SINK, "memory")
    else { return nil }
    _ = ssl.pointee.BIO_meth_set_read(method, readCallback)
    _ = ssl.pointee.BIO_meth_set_write(method, writeCallback)
    _ = ssl.pointee.BIO_meth_set_ctrl(method, controlCallback)
    return UInt(bitPattern: method)
  }()

  private static func method(_ ssl: UnsafePointer<COpenSSLFunctions>) -> OpaquePointer? {
    sharedMethod.flatMap { OpaquePointer(bitPattern: $0) }
  }
}

private func transport(
  of bio: OpaquePointer?, _ ssl: UnsafePointer<COpenSSLFunctions>
) -> MemoryTransport? {
  ssl.pointee.BIO_get_data(bio).map { Unmanaged<MemoryTransport>.fromOpaque($0).takeUnretainedValue() }
}

private let readCallback: @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, Int32) -> Int32 = {
  bio, buffer, size in
  guard let ssl = try? OpenSSL.functions(), let transport = transport(of: bio, ssl), size > 0 else { return -1 }
  ssl.pointee.BIO_clear_flags(bio, COPENSSL_BIO_FLAGS)
  let count = transport.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)))
  if count > 0 { return Int32(count) }
  ssl.pointee.BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
  return -1
}

private let writeCallback: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
  bio, bytes, size in
  guard let ssl = try? OpenSSL.functions(), let transport = transport(of: bio, ssl), size > 0 else { return -1 }
  ssl.pointee.BIO_clear_flags(bio, COPENSSL_BIO_FLAGS)
  return transport.write(UnsafeRawBufferPointer(start: bytes, count: Int(size))) ? size : -1
}

/// Only "flush" is supported; all other controls are refused.
private let controlCallback: @convention(c) (OpaquePointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int = {
  _, command, _, _ in
  command == BIO_CTRL_FLUSH ? 1 : 0
}
