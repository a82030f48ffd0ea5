import Glibc
import TLSEngine
import TestSupport
import Testing

/// Allocations of OpenSSL fail, one in each connection: a sample, or with EVERY_ALLOCATION each of them.
@Suite struct FailingAllocationWholeProcessTests {
  private static let stride = getenv("EVERY_ALLOCATION") == nil ? 40 : 1

  /// Where an allocation has failed, SSL_free of OpenSSL 3.5 and 3.6 pops what waits from a queue of DTLS that it has
  /// freed.
  private static let areDatagramsSafe: Bool = {
    guard let library = dlopen("libcrypto.so.3", RTLD_NOW), let symbol = dlsym(library, "OPENSSL_version_minor")
    else { return true }
    return unsafeBitCast(symbol, to: (@convention(c) () -> UInt32).self)() < 5
  }()

  /// A connection with a record in each direction; whether it came about.
  private static func connect(datagrams: Bool) throws -> Bool {
    var pair = Pair(client: try .headUnit(), server: try .app(), datagrams: datagrams)
    pair.shakeHands()
    guard pair.client.isEstablished, pair.server.isEstablished else { return false }
    let data = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
    return try pair.client.decrypt(pair.server.encrypted(data)) == data
      && pair.server.decrypt(pair.client.encrypted(data)) == data
  }

  /// An error, or a connection that works; and the next one works in any case.
  @Test func everyAllocationOfAConnection() throws {
    try #require(OpenSSLMemory.isReplaced)
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    for datagrams in Self.areDatagramsSafe ? [false, true] : [false] {
      #expect(try Self.connect(datagrams: datagrams))
      var index = Int.random(in: 0..<Self.stride, using: &random)
      var (failed, worked) = (0, 0)
      while true {
        OpenSSLMemory.fail(after: index)
        let isConnected = (try? Self.connect(datagrams: datagrams)) == true
        guard OpenSSLMemory.stopFailing() else { break }
        if isConnected { worked += 1 } else { failed += 1 }
        index += Self.stride
      }
      #expect(worked > 10 && failed > 10, "of \(index) allocations, seed \(seed)")
      #expect(try Self.connect(datagrams: datagrams), "seed \(seed)")
    }
  }
}
