import Foundation
import Testing

/// A screen without a monitor (Xvfb), of its own for each test, with nothing on it but what the test opens.
final class Screen {
  private static let size = (width: 1024, height: 600)

  private let folder: TemporaryFolder
  private let server: Program
  /// The variables that a program needs to open windows on it.
  let environment: [String: String]

  init() throws {
    folder = try TemporaryFolder()
    // Without -noreset the server restarts when its last client disconnects, and the next client may fail to connect.
    server = try Program(
      [
        "Xvfb", "-displayfd", "1", "-screen", "0", "\(Self.size.width)x\(Self.size.height)x24", "-fbdir",
        folder.url.path, "-noreset", "-nolisten", "tcp",
      ], in: folder)
    let number = try server.waitForOutput { $0.hasSuffix("\n") ? Int($0.dropLast()) : nil }
    environment = ["DISPLAY": ":\(number)"]
  }

  deinit {
    // SIGTERM rather than SIGKILL, so that it removes its socket.
    server.end()
  }

  /// What is on the screen now. Xvfb keeps it in a file.
  func look() throws -> Screenshot {
    try Screenshot(xwd: Data(contentsOf: folder.url.appending(path: "Xvfb_screen0")))
  }

  /// Looks until `match` finds what it looks for.
  @discardableResult
  func waitFor<Found>(
    _ what: String, testTimeout: TimeInterval = 30, _ match: (Screenshot) -> Found?
  ) throws -> Found {
    let deadline = Date(timeIntervalSinceNow: testTimeout)
    while Date() < deadline {
      if let found = try match(look()) { return found }
      Thread.sleep(forTimeInterval: 0.02)
    }
    throw Missing(description: "not on the screen: \(what)")
  }

  /// Does with mouse and windows what `xdotool` does, and returns what that says.
  @discardableResult
  func xdotool(_ commands: String...) throws -> String {
    let result = try Program(["xdotool"] + commands, in: folder, environment: environment).wait()
    #expect(result.status == 0, "\(result)")
    return result.output
  }

  /// Closes the connection of the program whose window is there, as a window manager does when the program no longer
  /// responds.
  func killWindow(at x: Int, _ y: Int) throws {
    let answer = try xdotool("mousemove", "\(x)", "\(y)", "getmouselocation", "--shell")
    let window = try #require(answer.firstMatch(of: /WINDOW=(\d+)/))
    try xdotool("windowkill", String(window.1))
  }

  struct Missing: Error, CustomStringConvertible {
    var description: String
  }
}

/// Pixels of a screen.
struct Screenshot {
  struct Color {
    var red: UInt8
    var green: UInt8
    var blue: UInt8

    /// Each within what the encoder may change.
    func isLike(_ other: Color) -> Bool {
      func near(_ one: UInt8, _ other: UInt8) -> Bool { abs(Int(one) - Int(other)) <= 24 }
      return near(red, other.red) && near(green, other.green) && near(blue, other.blue)
    }

    static let black = Color(red: 0, green: 0, blue: 0)
    static let white = Color(red: 255, green: 255, blue: 255)
    static let yellow = Color(red: 255, green: 255, blue: 0)
    static let blue = Color(red: 0, green: 0, blue: 255)
  }

  let width: Int
  let height: Int
  private let bytes: [UInt8]
  private let rowBytes: Int

  /// - Parameter xwd: an X window dump with 32 bits per pixel, blue first.
  init(xwd: Data) throws {
    func word(_ index: Int) -> Int { xwd.dropFirst(4 * index).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
    guard xwd.count >= 100, word(1) == 7, word(7) == 0, word(11) == 32 else {
      throw Screen.Missing(description: "no X window dump that is understood here")
    }
    width = word(4)
    height = word(5)
    rowBytes = word(12)
    // After the header is a table of colours, twelve bytes each.
    bytes = [UInt8](xwd.dropFirst(word(0) + 12 * word(19)))
    guard bytes.count >= rowBytes * height else { throw Screen.Missing(description: "a dump that is too short") }
  }

  subscript(_ x: Int, _ y: Int) -> Color {
    let start = y * rowBytes + 4 * x
    return Color(red: bytes[start + 2], green: bytes[start + 1], blue: bytes[start])
  }

  /// The smallest rectangle with all pixels that `match`, and how many those are; nil if there are none.
  ///
  /// - Parameters:
  ///   - width: Columns to look at from the left, in pixels; nil for all.
  ///   - height: Rows to look at from the top, in pixels; nil for all.
  ///   - match: Whether a pixel counts.
  func area(width: Int? = nil, height: Int? = nil, _ match: (Color) -> Bool) -> Area? {
    var area: Area?
    for y in 0..<min(height ?? self.height, self.height) {
      for x in 0..<min(width ?? self.width, self.width) where match(self[x, y]) {
        area = area?.adding(x, y) ?? Area(left: x, top: y, right: x, bottom: y, count: 1)
      }
    }
    return area
  }

  /// A rectangle, with its last row and column.
  struct Area: Equatable {
    var left: Int
    var top: Int
    var right: Int
    var bottom: Int
    var count: Int

    func adding(_ x: Int, _ y: Int) -> Area {
      Area(left: min(left, x), top: min(top, y), right: max(right, x), bottom: max(bottom, y), count: count + 1)
    }
  }
}
