import Foundation
import SDLLink
import TestSupport
import Testing

@testable import CarWindow

@Suite struct FontTests {
  /// Also of programs that know no Xft.dpi unless they are told a scalable font.
  @Test func aTerminalHasFewerRowsOnAFinerScreen() throws {
    let rows = try [96, 192].map { try Self.rows(pixelsPerInch: $0) }
    // 480 pixels in lines of some 17, and of twice as many.
    #expect((20...32).contains(rows[0]) && (10...16).contains(rows[1]), "\(rows)")
  }

  private static func rows(pixelsPerInch: Int) throws -> Int {
    let file = FileManager.default.temporaryDirectory.appending(path: "sdl-rows-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    var configuration = CarWindow.Configuration()
    configuration.pixelsPerInch = pixelsPerInch
    configuration.command = [
      "xterm", "-e", "sh", "-c", "while :; do stty size >\(file).new; mv \(file).new \(file); sleep 0.2; done",
    ]
    let window = CarWindow(configuration) { _ in }
    try window.start()
    defer { window.stop() }
    var sizes: [[Int]] = []
    // Until it fills the screen, which is wider than a terminal's 80 columns by default at 96 pixels per inch.
    #expect(
      eventually {
        usleep(500_000)
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        sizes.append(text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) })
        return sizes.count > 4 && sizes.suffix(3).allSatisfy { $0.count == 2 && $0 == sizes.last }
      }, "\(sizes)")
    return sizes.last?.first ?? 0
  }
}
