import SDLWire
import Testing

@Suite struct StreamSafeTextTests {
  @Test(arguments: [
    "", "navigation", "é", "Größe – 東京", "नमस्ते", "e\u{301}\u{323}", "\u{1F469}\u{200D}\u{1F680}",
    "e" + String(repeating: "\u{301}", count: 30) + "e" + String(repeating: "\u{301}", count: 30),
  ])
  func ordinaryText(text: String) {
    #expect(text.streamSafe.utf8.elementsEqual(text.utf8))
  }

  @Test(arguments: [31, 60, 61, 1000]) func separatesMarks(count: Int) {
    let text = "e" + String(repeating: "\u{301}", count: count)
    let runs = text.streamSafe.unicodeScalars.dropFirst().split(separator: "\u{34F}").map(\.count)
    #expect(runs.allSatisfy { $0 <= 30 } && runs.count == (count + 29) / 30)
    // Nothing is lost, and a safe text stays as it is.
    #expect(String(text.streamSafe.unicodeScalars.filter { $0 != "\u{34F}" }).utf8.elementsEqual(text.utf8))
    #expect(text.streamSafe.streamSafe.utf8.elementsEqual(text.streamSafe.utf8))
  }
}
