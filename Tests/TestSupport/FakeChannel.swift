import SDLWire
import Synchronization

/// A secure channel without cryptography: a handshake of four messages, and records of which each byte is changed and
/// that must come in their order.
package final class FakeChannel: SecureChannel {
  private struct State {
    var received = 0
    var isEstablished = false
    var encryptedCount: UInt8 = 0
    var decryptedCount: UInt8 = 0
  }

  private let isServer: Bool
  private let peer: SecureChannelSummary.Peer
  private let failsAt: Int?
  private let failureCode: SecurityErrorCode
  private let state = Mutex(State())

  /// - Parameters:
  ///   - serialNumber: of the other end's certificate.
  ///   - failsAt: the message of the handshake that is not accepted, from 1 on.
  package init(
    isServer: Bool, serialNumber: String? = nil, failsAt: Int? = nil, failureCode: SecurityErrorCode = .invalidData
  ) {
    self.failureCode = failureCode
    self.isServer = isServer
    self.failsAt = failsAt
    peer = SecureChannelSummary.Peer(
      subject: "CN=fake", issuer: "CN=fake", serialNumber: serialNumber, notBefore: 0, notAfter: 1)
  }

  package var isEstablished: Bool { state.withLock { $0.isEstablished } }

  package var summary: SecureChannelSummary? {
    isEstablished ? SecureChannelSummary(protocolVersion: "fake", cipher: "XOR", peer: peer, isPeerVerified: true) : nil
  }

  private static func message(_ number: UInt8) -> [UInt8] { [22, 3, 3, 0, 1, number] }

  package func begin() -> SecureChannelStep { SecureChannelStep(output: Self.message(1)) }

  package func advance(_ bytes: [UInt8]) -> SecureChannelStep {
    state.withLock { state in
      let expected: UInt8 = (isServer ? 1 : 2) + 2 * UInt8(state.received)
      guard bytes == Self.message(expected), failsAt != Int(expected), !state.isEstablished else {
        return SecureChannelStep(failure: SecureChannelFailure(failureCode, "message \(expected) is not accepted"))
      }
      state.received += 1
      state.isEstablished = state.received == 2
      return SecureChannelStep(output: expected == 4 ? [] : Self.message(expected + 1))
    }
  }

  package func encrypt(
    _ plaintext: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
  ) throws(SecureChannelFailure) -> Int {
    let record = state.withLock { state in
      defer { state.encryptedCount &+= 1 }
      let size = plaintext.count + 1
      return [23, 3, 3, UInt8(size >> 8), UInt8(size & 0xFF), state.encryptedCount] + plaintext.map { $0 ^ 0x55 }
    }
    guard record.count <= destination.count else { throw SecureChannelFailure(.encryptionFailed, "no room") }
    destination.copyBytes(from: record)
    return record.count
  }

  package func decrypt(_ records: [UInt8]) throws(SecureChannelFailure) -> [UInt8] {
    let isExpected = state.withLock { state in
      defer { state.decryptedCount &+= 1 }
      return records.count > 6 && records[0] == 23 && records[5] == state.decryptedCount
        && Int(records[3]) << 8 + Int(records[4]) == records.count - 5
    }
    guard isExpected else { throw SecureChannelFailure(.decryptionFailed, "not the next record") }
    return Self.plaintext(of: records)
  }

  /// What a record says, for those who only look on.
  package static func plaintext(of record: [UInt8]) -> [UInt8] { record.dropFirst(6).map { $0 ^ 0x55 } }
}
