/// A part of the product that takes bytes from a network or a file, as a function of such bytes.
///
/// It traps where a rule is broken that holds for all bytes, as a fuzzer expects of it.
package struct FuzzTarget: Sendable {
  /// The name of its folder in the corpus, too.
  package let name: String
  /// The most memory that is taken while it runs: so many bytes for each byte of the input, beside ``baseByteCount``.
  package let bytesPerInputByte: Int
  /// What an input of no bytes may take: a session of each side, for those that have them.
  package let baseByteCount: Int
  /// Runs it once, from the beginning.
  package let run: @Sendable ([UInt8]) -> Void

  init(
    _ name: String, bytesPerInputByte: Int, baseByteCount: Int = 16 << 10, run: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.name = name
    self.bytesPerInputByte = bytesPerInputByte
    self.baseByteCount = baseByteCount
    self.run = run
  }

  /// All of them.
  package static let all = wire + webSockets + messages + video + texts + tls + sessions
}
