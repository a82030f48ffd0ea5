import SDLWire
import TLSEngine
import TestSupport
import Testing

@testable import SDLLink

/// What the peer is told of a failure of TLS: SDL's apps tell their users by these codes.
@Suite struct TLSChannelTests {
  /// Until one end fails, or both are ready; returns the failure, and whose it is.
  private func shakeHands(
    _ client: TLSChannel, _ server: TLSChannel
  ) -> (failure: SecureChannelFailure, isClient: Bool)? {
    var step = client.begin()
    for round in 0..<20 {
      let isClient = round % 2 == 0
      if let failure = step.failure { return (failure, isClient) }
      if client.isEstablished, server.isEstablished { return nil }
      step = (isClient ? server : client).advance(step.output)
    }
    return nil
  }

  private func channels(_ certificates: TestCertificates = .desk) throws -> (client: TLSChannel, server: TLSChannel) {
    (
      TLSChannel(try TestTLS.headUnit().makeSession()), TLSChannel(try TestTLS.app(certificates).makeSession())
    )
  }

  @Test(
    arguments: [
      ("expired", TestCertificates.expired, SecurityErrorCode.certificateExpired),
      ("not valid yet", .early, .certificateExpired), ("of an unknown authority", .foreign, .certificateInvalid),
    ])
  func certificateOfThePeer(_ name: String, certificates: TestCertificates, code: SecurityErrorCode) throws {
    let (client, server) = try channels(certificates)
    let found = try #require(shakeHands(client, server))
    #expect(found.failure.code == code && found.isClient, "\(name): \(found)")
    #expect(!client.isEstablished && client.summary == nil)
  }

  /// It is told with an alert, which is no reason to complain of the peer's bytes.
  @Test func refusalOfThePeer() throws {
    let (client, server) = try channels(.foreign)
    var step = client.begin()
    for _ in 0..<10 where step.failure == nil {
      step = server.advance(step.output)
      guard step.failure == nil else { break }
      step = client.advance(step.output)
    }
    #expect(step.failure?.code == .certificateInvalid && !step.output.isEmpty, "with an alert for the app")
    #expect(server.advance(step.output).failure?.code == .handshakeFailed)
  }

  @Test func bytesThatAreNoHandshake() throws {
    let (_, server) = try channels()
    let step = server.advance(Array("GET / HTTP/1.1\r\n\r\n".utf8))
    #expect(step.failure?.code == .invalidData)
    // It is over then.
    #expect(server.advance([]).failure?.code == .handshakeFailed)
  }

  @Test func changedRecords() throws {
    let (client, server) = try channels()
    #expect(shakeHands(client, server) == nil && client.isEstablished && server.isEstablished)
    #expect(client.summary?.isPeerVerified == true && server.summary?.isPeerVerified == false)
    #expect(client.summary?.peer?.serialNumber == TestCertificates.appID && server.summary?.peer == nil)
    var record = try client.encrypt([1, 2, 3])
    #expect(try server.decrypt(record) == [1, 2, 3])
    record = try client.encrypt([4])
    record[record.count - 1] ^= 1
    let error = #expect(throws: SecureChannelFailure.self) { try server.decrypt(record) }
    #expect(error?.code == .decryptionFailed)
    // Nothing can be sent either, as the peer would not follow.
    let next = #expect(throws: SecureChannelFailure.self) { try server.encrypt([5]) }
    #expect(next?.code == .handshakeFailed)
  }
}
