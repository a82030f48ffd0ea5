import Glibc

/// The seed of a random test: `SDL_TEST_SEED`, or another one each time. It is printed, and tests say it when they
/// fail, so that a failure can be repeated.
package func testSeed() -> UInt64 {
  let seed = getenv("SDL_TEST_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0 ... .max)
  print("SDL_TEST_SEED=\(seed)")
  return seed
}

/// SplitMix64: the same numbers on every run, so that a failure can be repeated.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  /// Noise of `count` bytes, each within `range`.
  package mutating func bytes(_ count: Int, in range: ClosedRange<UInt8> = .min ... .max) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: range, using: &self) }
  }
}
