import BackgroundNotice
import Testing

@Suite struct NoticeTextTests {
  private func picture(_ text: String, width: Int = 800, height: Int = 480) -> NoticePicture {
    NoticePicture(text: text, width: width, height: height)
  }

  @Test func standardWording() {
    #expect(NoticeText.standard(appName: "Maps").contains("Maps"))
    let nameless = NoticeText.standard(appName: "")
    #expect(NoticeText.standard(appName: " \n") == nameless)
    #expect(!nameless.contains("  "))
  }

  /// Text with a meaning in Pango's markup, in printf or in C.
  @Test(arguments: [("<b>A</b>", "A"), ("&lt;", "<"), ("%s%n", ""), ("A\u{0}B", "A")])
  func drawnAsWritten(text: String, misread: String) {
    #expect(picture(text).fontSize != nil)
    #expect(picture(text) != picture(misread))
  }

  @Test(arguments: [("A\u{0}\u{7}B", "A  B"), ("A\r\nB", "A\nB"), (" \n A B\n", "A B"), ("A\tB", "A B")])
  func controlCharactersAreSpaces(text: String, plain: String) {
    #expect(picture(text) == picture(plain))
    #expect(picture(text) != picture("AB"))
  }

  @Test func lineEndsStay() throws {
    let one = try #require(picture("A B").ink)
    let two = try #require(picture("A\nB").ink)
    #expect(two.columns.count < one.columns.count)
  }

  @Test(arguments: [
    "Übergröße", "你好，世界", "مرحبا بالعالم", "नमस्ते", "🚗🇩🇪👩‍👩‍👧", "e\u{301}\u{301}\u{301}", "\u{202E}abc", "\u{FFFE}\u{10FFFF}",
    "a\u{AD}b",
  ])
  func anyScript(text: String) {
    #expect(picture(text).ink != nil)
  }

  @Test func whatIsTooLongIsCut() throws {
    let full = String(repeating: "word ", count: NoticeText.lengthLimit / 5)
    let picture = picture(full)
    #expect(picture.fontSize != nil)
    #expect(picture == self.picture(full + String(repeating: "more ", count: 100_000)))
    #expect(picture != self.picture(String(full.dropLast(10))))
    // One character of many scalars is cut too.
    let accents = "a" + String(repeating: "\u{301}", count: 100_000)
    #expect(self.picture(accents).luma.count == picture.luma.count)
  }

  /// The time depends on the machine; this is far above what any needs and far below what no limit would take. The text
  /// is put together here, because arguments are printed.
  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      ("", "W", 1_000_000, ""), ("", "\n", 1_000_000, "x"), ("", "a\u{301} ", 300_000, ""),
      ("a", "\u{200D}", 1_000_000, ""),
    ])
  func hugeTextsAreBoundedWork(start: String, part: String, count: Int, end: String) {
    #expect(picture(start + String(repeating: part, count: count) + end).width == 800)
  }

  @Test func wordsAreNotBrokenForLittle() throws {
    // With letters of the same kind: a name a little too long for the font that the height allows is set smaller…
    let name = try #require(picture("Navigations", width: 400, height: 400).ink)
    #expect(name.rows.count < 100)
    // … while a single long word is broken.
    let word = picture(String(repeating: "n", count: 200), width: 400, height: 400)
    let ink = try #require(word.ink)
    #expect(ink.rows.count > 200)
    #expect(ink.columns.upperBound <= 400 - 400 / 20 + 2)
  }

  @Test func noLineSticksOut() throws {
    // The width of this letter limits the font.
    let ink = try #require(picture("WWWW WW W", width: 16, height: 1000).ink)
    #expect(ink.columns.upperBound <= 16)
  }
}
