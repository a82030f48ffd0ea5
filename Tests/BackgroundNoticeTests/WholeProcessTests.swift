import BackgroundNotice
import TestSupport
import Testing

/// Measurements of the whole process, so that no other test may run at the same time: `make test` runs these alone.
@Suite(.serialized) struct BackgroundNoticeWholeProcessTests {
  @Test func drawingLeavesNothing() throws {
    func cycle() { _ = NoticePicture(text: "Some text to draw, Ω and 你好", width: 160, height: 96) }
    // Cairo caches up to 256 fonts.
    for _ in 0..<100 { cycle() }
    // A leak grows each time, a cache of the font libraries once.
    let growth = try (0..<2).map { _ in
      let before = try residentBytes()
      for _ in 0..<75 { cycle() }
      return try residentBytes() - before
    }
    // 5 kB a cycle: less than a picture, and than a font map.
    #expect(growth.contains { $0 < 375_000 }, "\(growth)")
  }
}
