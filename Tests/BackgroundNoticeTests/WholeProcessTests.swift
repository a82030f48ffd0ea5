import BackgroundNotice
import TestSupport
import Testing

/// Measurements of the whole process, so that no other test may run at the same time: `make test` runs these alone.
@Suite(.serialized) struct BackgroundNoticeWholeProcessTests {
  @Test func drawingLeavesNothing() throws {
    func cycle() { _ = NoticePicture(text: "Some text to draw, Ω and 你好", width: 160, height: 96) }
    // Cairo caches up to 256 fonts.
    for _ in 0..<100 { cycle() }
    let before = try residentBytes()
    for _ in 0..<300 { cycle() }
    // 5 kB a cycle: less than a picture, and than a font map.
    #expect(try residentBytes() - before < 1_500_000)
  }
}
