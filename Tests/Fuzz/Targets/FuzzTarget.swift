/// A part of the product that takes bytes from a network or a file, as a function of such bytes.
///
/// It traps where a rule is broken that holds for all bytes, as a fuzzer expects of it.
public struct FuzzTarget: Sendable {
  /// The name of its folder in the corpus, too.
  public let name: String
  /// The most memory that is taken while it runs: so many bytes for each byte of the input, beside ``baseByteCount``.
  public let bytesPerInputByte: Int
  /// What an input of no bytes may take: a session of each side, for those that have them.
  public let baseByteCount: Int
  /// Runs it once, from the beginning.
  public let run: @Sendable ([UInt8]) -> Void

  init(
    _ name: String, bytesPerInputByte: Int, baseByteCount: Int = 16 << 10, run: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.name = name
    self.bytesPerInputByte = bytesPerInputByte
    self.baseByteCount = baseByteCount
    self.run = run
  }

  /// All of them.
  public static let all = wire + messages + video + texts + tls + sessions
}
