import TLSEngine
import TestSupport
import Testing

/// Encrypted data that is changed on the way.
@Suite struct DataTests {
  @Test(arguments: [false, true]) func everyByteCounts(datagrams: Bool) throws {
    for position in 0..<80 {
      let pair = try Pair.established(datagrams: datagrams)
      var record = try pair.server.encrypted(Array(repeating: 9, count: 40))
      guard position < record.count else { continue }
      record[position] ^= 0x10
      do {
        let data = try pair.client.decrypt(record)
        Issue.record("byte \(position) was changed, and the data \(data.count) bytes long")
      } catch {
        #expect(error.kind == .decryption)
      }
      // It stays over.
      let next = try pair.server.encrypted([1])
      #expect(throws: TLSError.self) { try pair.client.decrypt(next) }
    }
  }

  @Test func missingRepeatedAndCutRecords() throws {
    for variant in 0..<4 {
      let pair = try Pair.established()
      let first = try pair.server.encrypted([1, 2, 3])
      let second = try pair.server.encrypted([4, 5, 6])
      #expect(throws: TLSError.self) {
        switch variant {
        case 0: _ = try pair.client.decrypt(second)
        case 1:
          _ = try pair.client.decrypt(first)
          _ = try pair.client.decrypt(first)
        case 2: _ = try pair.client.decrypt(first.dropLast())
        default: _ = try pair.client.decrypt(first + second.dropLast(3))
        }
      }
    }
  }

  /// The session is over then: not even the record that was cut counts, once it is whole.
  @Test(arguments: [false, true]) func wholeRecordAfterItsBeginning(datagrams: Bool) throws {
    for count in [0, 4, 30] {
      let pair = try Pair.established(datagrams: datagrams)
      let record = try pair.server.encrypted([1, 2, 3])
      #expect(throws: TLSError.self, "\(count)") { try pair.client.decrypt(Array(record.prefix(count))) }
      #expect(throws: TLSError.self, "\(count)") { try pair.client.decrypt(record) }
    }
  }

  /// Once, and only to a peer that has completed the handshake.
  @Test func endIsTold() throws {
    #expect(try TLSContext.app().makeSession().end() == [])
    let pair = try Pair.established()
    // A record of an encrypted alert.
    #expect(pair.server.end().first == 21 && pair.server.end() == [])
    #expect(throws: TLSError.self) { try pair.server.encrypted([1]) }
  }

  @Test func garbage() throws {
    let seed = testSeed()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let pair = try Pair.established(datagrams: Bool.random(using: &generator))
      let size = Int.random(in: 0...400, using: &generator)
      let bytes = generator.bytes(size)
      #expect(throws: TLSError.self, "seed \(seed)") { try pair.client.decrypt(bytes) }
    }
  }

  /// Video is encrypted by one thread while another decrypts what the head unit says.
  @Test func twoThreads() async throws {
    let pair = try Pair.established()
    let client = pair.client
    let server = pair.server
    let fromClient = try (0..<200).map { try client.encrypted(Array(repeating: UInt8($0), count: 500)) }
    try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
      group.addTask { try (0..<200).map { try server.encrypted(Array(repeating: UInt8($0), count: 3000)) } }
      group.addTask { try fromClient.map { try server.decrypt($0) } }
      for try await _ in group {}
    }
  }
}
