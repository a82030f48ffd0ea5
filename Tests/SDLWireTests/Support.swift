import SDLWire

extension [UInt8] {
  /// Bytes written as pairs of hexadecimal digits; everything else in the text only separates them.
  init(hex: String) {
    let digits = hex.compactMap(\.hexDigitValue).map(UInt8.init)
    precondition(digits.count % 2 == 0, "half a byte in \(hex)")
    self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}

/// SplitMix64: the same numbers on every run, so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}

/// Everything that `decoder` has ready.
func drain(_ decoder: inout FrameDecoder) -> [FrameDecoder.Item] {
  var items: [FrameDecoder.Item] = []
  while let item = decoder.next() { items.append(item) }
  return items
}

/// What a stream of `bytes` is made of, when it arrives at once.
func decode(_ bytes: [UInt8], limits: FrameLimits = FrameLimits()) -> [FrameDecoder.Item] {
  var decoder = FrameDecoder(limits: limits)
  decoder.append(bytes)
  return drain(&decoder)
}

/// The frames in `items`.
func frames(_ items: [FrameDecoder.Item]) -> [Frame] {
  items.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
}

/// The single frame that `bytes` consist of.
func frame(_ bytes: [UInt8]) throws -> Frame {
  struct NotOneFrame: Error {}
  let items = decode(bytes)
  guard items.count == 1, let frame = frames(items).first, frame.bytes == bytes else { throw NotOneFrame() }
  return frame
}
