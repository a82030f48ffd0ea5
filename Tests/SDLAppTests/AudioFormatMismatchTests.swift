import SDLMessages
import Testing

import SDLApp

/// How long sound of another format is borne with.
@Suite struct AudioFormatMismatchTests {
  /// Seconds that have passed, seconds of sound, and whether that is enough.
  @Test(arguments: [(6, 1, false), (1, 60, false), (5, 5, false), (6, 6, true), (600, 6, true)])
  func table(time: Int, sound: Int, isOver: Bool) {
    var mismatch = AudioFormatMismatch(format: PCMFormat(), now: .seconds(10))
    for _ in 0..<sound { mismatch.add(16_000) }
    #expect(mismatch.isOver(now: .seconds(10 + time)) == isOver)
  }
}
