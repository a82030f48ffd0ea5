import BackgroundNotice
import Foundation
import Synchronization
import Testing

@Suite struct NoticePictureTests {
  static let text = NoticeText.standard(appName: "Navigation")

  @Test(arguments: [(800, 480), (1920, 1080), (480, 800), (530, 254), (100, 1000), (320, 240)])
  func inkIsInsideTheMargins(width: Int, height: Int) throws {
    let picture = NoticePicture(text: Self.text, width: width, height: height)
    let ink = try #require(picture.ink)
    let fontSize = try #require(picture.fontSize)
    // Glyphs may reach a little beyond the layout's box.
    let overhang = 1 + fontSize / 20
    let margin = width / 20
    #expect(ink.columns.lowerBound >= margin - overhang)
    #expect(ink.columns.lowerBound <= margin + fontSize / 2)
    #expect(ink.columns.upperBound <= width - margin + overhang)
    #expect(ink.rows.count <= height - width / 10)
    // The box includes the tallest accents and the deepest descenders, which the text need not have.
    #expect(abs(ink.rows.lowerBound - (height - ink.rows.upperBound)) <= fontSize / 2)
    #expect(picture.luma.min() == NoticePicture.black && picture.luma.max() == NoticePicture.white)
    #expect(picture.luma.count == picture.lumaStride * height)
  }

  @Test func theFontIsTheLargestThatFits() throws {
    // Most of the height is used, since the next larger font would need another line or be too high.
    let picture = NoticePicture(text: Self.text, width: 800, height: 480)
    let ink = try #require(picture.ink)
    #expect(ink.rows.count > (480 - 80) * 3 / 4)
    let larger = try #require(NoticePicture(text: Self.text, width: 1920, height: 1080).fontSize)
    let smaller = try #require(NoticePicture(text: Self.text, width: 400, height: 240).fontSize)
    let size = try #require(picture.fontSize)
    #expect(smaller < size && size < larger)
    // Without hinting, all lengths are proportional.
    let twice = try #require(NoticePicture(text: Self.text, width: 1600, height: 960).fontSize)
    #expect((2 * size...2 * size + 1).contains(twice))
  }

  @Test func theFontStopsAtTheLargest() throws {
    let picture = NoticePicture(text: "Hi", width: 2000, height: 1500)
    #expect(picture.fontSize == 300)
    let ink = try #require(picture.ink)
    #expect((200...300).contains(ink.rows.count))
  }

  @Test(arguments: [(1000, 100), (8192, 16), (16, 2)])
  func whatDoesNotFitIsBlack(width: Int, height: Int) {
    let picture = NoticePicture(text: Self.text, width: width, height: height)
    #expect(picture.isBlack && picture.fontSize == nil)
    #expect(picture.luma.count == picture.lumaStride * height)
  }

  @Test(arguments: [(16, 16), (16, 8192), (18, 64)])
  func smallAndNarrowPictures(width: Int, height: Int) throws {
    let picture = NoticePicture(text: "A", width: width, height: height)
    let fontSize = try #require(picture.fontSize)
    #expect((8...24).contains(fontSize))
    #expect(try #require(picture.ink).columns.count > 4)
  }

  @Test(arguments: [-1, 0, Int.min, Int.max])
  func impossibleSizesAreMoved(side: Int) {
    let picture = NoticePicture(text: "A", width: side, height: 2)
    #expect(picture.width == (side < 1 ? 1 : 16_384))
    #expect(picture.height == 2 && picture.luma.count == 2 * picture.lumaStride)
  }

  @Test(arguments: ["", " ", "\n\n\t", "\u{0}\u{1}\u{7F}\u{9F}", "\u{2028}"])
  func nothingToRead(text: String) {
    let picture = NoticePicture(text: text, width: 320, height: 240)
    #expect(picture.isBlack && picture.fontSize == nil)
  }

  @Test func fullRange() {
    let picture = NoticePicture(text: "A", width: 320, height: 240, isFullRange: true)
    #expect(picture.luma.min() == 0 && picture.luma.max() == 255)
    #expect(NoticePicture(text: "", width: 320, height: 240, isFullRange: true).luma.allSatisfy { $0 == 0 })
  }

  @Test func drawnTheSameEveryTimeAndOnEveryThread() {
    let expected = NoticePicture(text: Self.text, width: 320, height: 240)
    let same = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 40) { index in
      let picture = NoticePicture(text: Self.text, width: 320, height: 240)
      if picture == expected { same.withLock { $0 += 1 } }
    }
    #expect(same.withLock { $0 } == 40)
  }

  @Test func withoutAFontItIsBlack() async {
    // In a process of its own, because Fontconfig reads its settings once; GLib's warnings would end it.
    await #expect(processExitsWith: .success) {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try Data("<fontconfig></fontconfig>".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      setenv("FONTCONFIG_FILE", file.path, 1)
      setenv("G_DEBUG", "fatal-warnings", 1)
      let picture = NoticePicture(text: NoticePictureTests.text, width: 320, height: 240)
      try #require(picture.isBlack && picture.fontSize == nil)
    }
  }
}
