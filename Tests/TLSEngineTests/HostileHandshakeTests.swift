import TLSEngine
import TestSupport
import Testing

/// Handshakes that are changed on the way: they end, with one error, and never with two ends that disagree about
/// success.
@Suite struct HostileHandshakeTests {
  /// Messages of a healthy handshake; their sizes differ by some bytes from one to the next.
  private func sizes(datagrams: Bool) throws -> [Int] {
    try Pair.established(datagrams: datagrams).messages.map(\.bytes.count)
  }

  private func run(
    _ contexts: (client: TLSContext, server: TLSContext), datagrams: Bool,
    _ change: (_ isClient: Bool, _ index: Int, [UInt8]) -> [[UInt8]]
  ) -> Pair {
    var pair = Pair(client: contexts.client, server: contexts.server, datagrams: datagrams)
    pair.shakeHands(change)
    return pair
  }

  @Test(arguments: [false, true]) func everyByteFlipped(datagrams: Bool) throws {
    let contexts = (client: try TLSContext.headUnit(), server: try TLSContext.app())
    for (message, size) in try sizes(datagrams: datagrams).enumerated() {
      for position in stride(from: 0, to: size, by: size > 300 ? 7 : 3) {
        var matters = false
        let pair = run(contexts, datagrams: datagrams) { _, index, bytes in
          guard index == message, position < bytes.count else { return [bytes] }
          matters = !datagrams && !isRecordVersion(position, bytes)
          var changed = bytes
          changed[position] ^= 1 << (position % 8)
          return [changed]
        }
        // The Finished messages cover all that went before, except for the headers of records in clear.
        if matters {
          #expect(!(pair.client.isEstablished && pair.server.isEstablished), "message \(message), byte \(position)")
        }
      }
    }
  }

  /// The version in the header of a TLS record, which says nothing (RFC 8446, 5.1).
  private func isRecordVersion(_ position: Int, _ bytes: [UInt8]) -> Bool {
    var start = 0
    while start + 5 <= bytes.count {
      if (start + 1...start + 2).contains(position) { return true }
      start += 5 + Int(bytes[start + 3]) << 8 + Int(bytes[start + 4])
    }
    return false
  }

  @Test(arguments: [false, true]) func cutAnywhere(datagrams: Bool) throws {
    let contexts = (client: try TLSContext.headUnit(), server: try TLSContext.app())
    for (message, size) in try sizes(datagrams: datagrams).enumerated() {
      for position in stride(from: 0, to: size, by: 11) {
        var isCut = false
        let pair = run(contexts, datagrams: datagrams) { _, index, bytes in
          guard index == message, position < bytes.count else { return [bytes] }
          isCut = true
          return [Array(bytes.prefix(position))]
        }
        let isComplete = pair.client.isEstablished && pair.server.isEstablished
        #expect(isCut != isComplete, "message \(message), byte \(position)")
      }
    }
  }

  @Test(arguments: [false, true]) func repeatedAndReordered(datagrams: Bool) throws {
    let contexts = (client: try TLSContext.headUnit(), server: try TLSContext.app())
    let count = try sizes(datagrams: datagrams).count
    for message in 0..<count {
      // DTLS is made for both; TLS must refuse, or be through already.
      let repeated = run(contexts, datagrams: datagrams) { _, index, bytes in
        index == message ? [bytes, bytes] : [bytes]
      }
      if datagrams {
        #expect(repeated.client.isEstablished && repeated.server.isEstablished)
      } else if message < count - 2 {
        #expect(!(repeated.client.isEstablished && repeated.server.isEstablished))
      }
      let reversed = run(contexts, datagrams: datagrams) { _, index, bytes in
        index == message ? [Array(bytes.dropFirst(bytes.count / 2)), Array(bytes.prefix(bytes.count / 2))] : [bytes]
      }
      if !datagrams { #expect(!(reversed.client.isEstablished && reversed.server.isEstablished)) }
    }
  }

  @Test func garbage() throws {
    let seed = testSeed()
    var generator = SeededGenerator(seed: seed)
    let server = try TLSContext.app()
    let client = try TLSContext.headUnit()
    for _ in 0..<300 {
      var bytes = generator.bytes(Int.random(in: 1...600, using: &generator))
      switch Int.random(in: 0...2, using: &generator) {
      case 0: bytes.replaceSubrange(0..<1, with: [0x16, 3, 3, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)])
      case 1: bytes.replaceSubrange(0..<1, with: [0x16, 0xFE, 0xFD])
      default: break
      }
      let session = server.makeSession()
      _ = session.advance(bytes)
      #expect(!session.isEstablished, "seed \(seed)")
      let asking = client.makeSession()
      _ = asking.begin()
      _ = asking.advance(bytes)
      #expect(!asking.isEstablished, "seed \(seed)")
    }
  }

  /// A peer that sends empty or useless messages without end does not keep the session.
  @Test func endlessHandshake() throws {
    let session = try TLSContext.app().makeSession()
    var failure: TLSError?
    var count = 0
    while failure == nil, count < 1000 {
      // A warning alert, which a handshake survives, in DTLS a record of another epoch, which is dropped.
      failure = session.advance([0x15, 0xFE, 0xFD, 0, 9, 0, 0, 0, 0, 0, UInt8(count & 0xFF), 0, 2, 1, 90]).failure
      count += 1
    }
    #expect(failure != nil)
    #expect(count < 500)
  }

  /// Nor one with few but large messages, here records of another epoch.
  @Test func endlessHandshakeOfLargeMessages() throws {
    let session = try TLSContext.app().makeSession()
    let rest = [UInt8](repeating: 7, count: 2000)
    var count = 0
    while count < 1000 {
      count += 1
      let header: [UInt8] = [0x15, 0xFE, 0xFD, 0, 9, 0, 0, 0, 0, 0, UInt8(count & 0xFF), 0x07, 0xD0]
      if session.advance(header + rest).failure != nil { break }
    }
    // More than 256 KiB.
    #expect(count == 131)
  }

  /// A server may ask for a handshake at any time, which a client ignores while one is under way.
  @Test func endlessStream() throws {
    let session = try TLSContext.headUnit().makeSession()
    _ = session.begin()
    let requests = Array(repeating: [22, 3, 3, 0, 4, 0, 0, 0, 0] as [UInt8], count: 7281).flatMap { $0 }
    var plaintext: [UInt8] = []
    var faults: [String?] = []
    for _ in 0..<6 {
      faults.append(requests.withUnsafeBytes { session.receive($0, into: &plaintext) }.failure?.description)
    }
    // 256 KiB.
    #expect(faults == [nil, nil, nil, nil, "the handshake does not end", "the session is over"])
    #expect(plaintext.isEmpty)
  }

  /// A length beyond what TLS allows.
  @Test func recordThatIsTooLarge() throws {
    let session = try TLSContext.app().makeSession()
    let step = session.advance([0x16, 3, 3, 0xFF, 0xFF] + [UInt8](repeating: 1, count: 70_000))
    #expect(step.failure?.kind == .protocolViolation)
  }

  /// TLS 1.1 and older are refused with an alert.
  @Test func oldVersion() throws {
    let session = try TLSContext.app().makeSession()
    let random = [UInt8](repeating: 7, count: 32)
    let hello = joined([3, 2], random, [0, 0, 2, 0xC0, 0x13, 1, 0])
    let message: [UInt8] = [1, 0, 0, UInt8(hello.count)] + hello
    let step = session.advance([0x16, 3, 1, 0, UInt8(message.count)] + message)
    #expect(step.failure?.description.contains("unsupported protocol") == true)
    #expect(step.output.first == 0x15)
  }
}
