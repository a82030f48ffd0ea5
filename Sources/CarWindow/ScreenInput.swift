/// Input on the screen, in its pixels.
public enum ScreenInput: Equatable, Sendable {
  case move(x: Int, y: Int)
  /// A button of the pointer: 1 is the first, 4 and 5 turn the wheel up and down, 6 and 7 to the left and right.
  case button(Int, isDown: Bool)
  /// No finger is left on the screen: the pointer leaves the program's windows.
  case leave
  /// A key, by X's name of its symbol, such as `Return`.
  case key(String, isDown: Bool)
}
