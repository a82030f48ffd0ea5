import BackgroundNotice
import TestSupport
import Testing

/// Measurements of the whole process, so that no other test may run at the same time: `make test` runs these alone.
@Suite(.serialized) struct BackgroundNoticeWholeProcessTests {
  @Test func drawingLeavesNothing() throws {
    func cycle() { _ = NoticePicture(text: "Some text to draw, Ω and 你好", width: 160, height: 96) }
    // Cairo caches up to 256 fonts.
    for _ in 0..<100 { cycle() }
    // A leak grows each time, a cache of the font libraries once; and the kernel may have taken pages away before, which
    // come back. 1 kB a cycle is less than a context of cairo, a picture, and a font map.
    var growth: [Int] = []
    repeat {
      let before = try residentBytes()
      for _ in 0..<200 { cycle() }
      growth.append(try residentBytes() - before)
    } while growth.allSatisfy { $0 >= 200_000 } && growth.count < 6
    #expect(growth.contains { $0 < 200_000 }, "\(growth)")
  }
}
