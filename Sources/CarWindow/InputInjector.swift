import CXCB
import Glibc

/// Repeats the driver's input on the screen with XTEST.
final class InputInjector {
  private let display: XDisplay
  /// The key that makes a symbol, and whether with Shift; read when the first key comes.
  private var keys: [UInt32: (code: UInt8, needsShift: Bool)]?

  init(_ display: XDisplay) {
    self.display = display
  }

  func inject(_ input: ScreenInput) {
    switch input {
    case .move(let x, let y): fake(UInt8(XCB_MOTION_NOTIFY), 0, x: Int16(clamping: x), y: Int16(clamping: y))
    case .button(let number, let isDown):
      fake(UInt8(isDown ? XCB_BUTTON_PRESS : XCB_BUTTON_RELEASE), UInt8(clamping: number))
    case .key(let name, let isDown): press(name, isDown)
    // The loop knows where there is no program.
    case .leave: break
    }
  }

  private func press(_ name: String, _ isDown: Bool) {
    let keys = keys ?? readKeys()
    self.keys = keys
    guard let key = keys[Self.symbol(name)] else { return }
    let kind = UInt8(isDown ? XCB_KEY_PRESS : XCB_KEY_RELEASE)
    // XK_Shift_L
    let shift = key.needsShift ? keys[0xFFE1]?.code : nil
    if let shift, isDown { fake(kind, shift) }
    fake(kind, key.code)
    if let shift, !isDown { fake(kind, shift) }
  }

  private nonisolated(unsafe) static let xkb = cxkb_load(nil)

  /// Letters and the like are their own symbols, also without libxkbcommon.
  private static func symbol(_ name: String) -> UInt32 {
    if let symbol = xkb?.pointee.xkb_keysym_from_name(name, 0), symbol != 0 { return symbol }
    let scalars = Array(name.unicodeScalars)
    guard scalars.count == 1, let scalar = scalars.first, (0x20...0xFF).contains(scalar.value) else {
      return name == "Control_L" ? 0xFFE3 : 0
    }
    return scalar.value
  }

  private func readKeys() -> [UInt32: (code: UInt8, needsShift: Bool)] {
    guard let setup = display.xcb.xcb_get_setup(display.connection)?.pointee, setup.min_keycode <= setup.max_keycode
    else {
      return [:]
    }
    let (first, last) = (setup.min_keycode, setup.max_keycode)
    let cookie = display.xcb.xcb_get_keyboard_mapping(display.connection, first, last - first + 1)
    guard let reply = display.xcb.xcb_get_keyboard_mapping_reply(display.connection, cookie, nil) else { return [:] }
    defer { free(reply) }
    guard let symbols = display.xcb.xcb_get_keyboard_mapping_keysyms(reply) else { return [:] }
    let columns = Int(reply.pointee.keysyms_per_keycode)
    let count = Int(display.xcb.xcb_get_keyboard_mapping_keysyms_length(reply))
    guard columns > 0 else { return [:] }
    var keys: [UInt32: (code: UInt8, needsShift: Bool)] = [:]
    for column in 0..<min(columns, 2) {
      for row in 0..<count / columns {
        let symbol = symbols[row * columns + column]
        if symbol != 0, keys[symbol] == nil { keys[symbol] = (UInt8(clamping: Int(first) + row), column == 1) }
      }
    }
    return keys
  }

  private func fake(_ type: UInt8, _ detail: UInt8, x: Int16 = 0, y: Int16 = 0) {
    _ = display.xcb.xcb_test_fake_input(display.connection, type, detail, 0, display.root, x, y, 0)
  }
}

/// Input on the screen, in its pixels.
package enum ScreenInput: Equatable, Sendable {
  case move(x: Int, y: Int)
  /// A button of the pointer: 1 is the first, 4 and 5 turn the wheel up and down, 6 and 7 to the left and right.
  case button(Int, isDown: Bool)
  /// No finger is left on the screen: the pointer leaves the program's windows.
  case leave
  /// A key, by X's name of its symbol, such as `Return`.
  case key(String, isDown: Bool)
}
