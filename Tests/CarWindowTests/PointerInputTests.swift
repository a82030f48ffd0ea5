import CarWindow
import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What a program gets of GstNavigation events.
@Suite struct PointerInputTests {
  private var gestures = TouchGestures()

  /// On a screen of half the size of the picture.
  private mutating func inputs(_ event: PointerEvent, _ mode: CarWindowTouchMode = .gestures) -> [ScreenInput]? {
    event.inputs(mode, &gestures) { ($0 / 2, $1 / 2) }
  }

  private static func click(_ button: Int) -> [ScreenInput] {
    [.button(button, isDown: true), .button(button, isDown: false)]
  }

  @Test mutating func mouse() {
    let place = ScreenInput.move(x: 5, y: 10)
    #expect(inputs(.move(x: 11, y: 21)) == [place])
    #expect(inputs(.button(3, isDown: true, x: 10, y: 20)) == [place, .button(3, isDown: true)])
    #expect(inputs(.button(1, isDown: false, x: 10, y: 20)) == [place, .button(1, isDown: false)])
  }

  /// To the right, up, and the buttons of the wheel.
  @Test(
    arguments: [
      (0, 1, [4]), (0, -1, [5]), (1, 0, [7]), (-1, 0, [6]), (-0.5, 0.5, [4, 6]), (0.5, -0.5, [5, 7]), (0, 0, []),
    ] as [(Double, Double, [Int])])
  mutating func wheel(right: Double, up: Double, buttons: [Int]) {
    let expected = [ScreenInput.move(x: 5, y: 10)] + buttons.flatMap(Self.click)
    #expect(inputs(.scroll(x: 10, y: 20, right: right, up: up)) == expected)
  }

  @Test mutating func fingers() {
    let first: [ScreenInput] = [.move(x: 5, y: 10), .button(1, isDown: true)]
    #expect(inputs(.down(7, x: 10, y: 20)) == first && inputs(.motion(7, x: 12, y: 20)) == [.move(x: 6, y: 10)])
    // A second one makes a gesture of it.
    #expect(inputs(.down(8, x: 50, y: 20)) == [.button(1, isDown: false)])
    #expect(inputs(.up(8, x: 50, y: 20)) == [] && inputs(.up(7, x: 12, y: 20)) == [.leave])
    #expect(inputs(.down(7, x: 10, y: 20)) == first && inputs(.cancel) == [.button(1, isDown: false), .leave])
    #expect(inputs(.down(7, x: 10, y: 20), .pointer) == first && inputs(.down(8, x: 50, y: 20), .pointer) == [])
    #expect(inputs(.up(7, x: 12, y: 20)) == [.button(1, isDown: false), .leave])
  }

  /// The end of several fingers' events is none for a program.
  @Test mutating func keysAndFrames() {
    #expect(inputs(.key("Up", isDown: true)) == [.key("Up", isDown: true)])
    #expect(inputs(.key("Up", isDown: false)) == [.key("Up", isDown: false)] && inputs(.frame) == nil)
  }
}

/// Texts of properties.
@Suite struct CarWindowSettingsTests {
  @Test func wordsAsInAShell() throws {
    #expect(try CarWindowSettings.words("a 'b c' \"d\" e\\ f $HOME *") == ["a", "b c", "d", "e f", "$HOME", "*"])
    for none in ["", " \t\n"] { #expect(try CarWindowSettings.words(none) == []) }
    #expect(throws: InvalidPropertyValue.self) { try CarWindowSettings.words("a 'b") }
  }

  @Test func variables() throws {
    let variables = try CarWindowSettings.variables("LANG=de_DE.UTF-8 A=b=c EMPTY= 'TEXT=two words'")
    #expect(variables == ["LANG": "de_DE.UTF-8", "A": "b=c", "EMPTY": "", "TEXT": "two words"])
    #expect(try CarWindowSettings.variables("") == [:])
    for none in ["A", "=b", "A=b ="] {
      #expect(throws: InvalidPropertyValue.self) { try CarWindowSettings.variables(none) }
    }
  }

  /// It is live, and shows a picture when it is there.
  @Test func latency() throws {
    let source = try Element("sdlcarwindowsrc")
    let query = try nonNull(gst_query_new_latency())
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(query).assumingMemoryBound(to: GstMiniObject.self)) }
    #expect(gst_element_query(source.pointer, query) != 0)
    var (isLive, minimum, maximum): (gboolean, GstClockTime, GstClockTime) = (0, 1, 1)
    gst_query_parse_latency(query, &isLive, &minimum, &maximum)
    #expect(isLive != 0 && minimum == 0 && maximum == .max)
  }
}
