import BackgroundNotice
import TestSupport
import Testing

/// What is measured on the whole process, so that nothing else may run beside it: `make test` runs these alone.
@Suite(.serialized) struct BackgroundNoticeWholeProcessTests {
  @Test func drawingLeavesNothing() throws {
    func cycle() { _ = NoticePicture(text: "Some text to draw, Ω and 你好", width: 160, height: 96) }
    // Cairo keeps up to 256 fonts for the next time.
    for _ in 0..<100 { cycle() }
    let before = try residentBytes()
    for _ in 0..<300 { cycle() }
    // 5 kB a cycle: less than a picture, and than a font map.
    #expect(try residentBytes() - before < 1_500_000)
  }
}
