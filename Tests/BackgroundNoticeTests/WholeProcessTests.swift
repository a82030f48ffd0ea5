import BackgroundNotice
import TestSupport
import Testing

/// Measurements of the whole process, so that no other test may run at the same time: `make test` runs these alone.
@Suite(.serialized) struct BackgroundNoticeWholeProcessTests {
  @Test func drawingLeavesNothing() {
    func cycle() { _ = NoticePicture(text: "Some text to draw, Ω and 你好", width: 160, height: 96) }
    // Cairo caches up to 256 fonts.
    for _ in 0..<100 { cycle() }
    // A leak grows each time, a cache of the font libraries once.
    let growth = (0..<4).map { _ in
      let before = allocatedBytes
      for _ in 0..<40 { cycle() }
      return allocatedBytes - before
    }
    // 32 bytes a cycle are less than the smallest object.
    #expect(growth.contains { $0 < 40 * 32 }, "\(growth)")
  }
}
