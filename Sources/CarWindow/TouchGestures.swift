/// Fingers as input for programs that know only a pointer, which is all that XTEST can move: the first finger is the
/// pointer with its first button; two fingers turn the wheel, and with Ctrl if they pinch.
package struct TouchGestures: Sendable {
  /// The meaning of the fingers on the screen.
  private enum Phase: Equatable {
    case none
    case pointer(id: UInt32)
    /// From the second finger on until all are gone.
    case gesture
  }

  private struct Point {
    var x: Double
    var y: Double
  }

  /// How far two fingers move for one step of the wheel, in pixels.
  private static let wheelStep = 30.0
  /// By which fraction of their distance two fingers open or close for one step with Ctrl.
  private static let pinchStep = 0.15

  private var phase = Phase.none
  private var fingers: [UInt32: Point] = [:]
  private var center = Point(x: 0, y: 0)
  private var distance = 0.0

  package init() {}

  /// A finger touches the screen.
  ///
  /// - Parameter turnsWheel: whether a second finger makes a gesture; otherwise it is ignored.
  package mutating func down(_ id: UInt32, x: Double, y: Double, turnsWheel: Bool = true) -> [ScreenInput] {
    // No more than two hands have, so that fingers which never leave the screen take no memory.
    guard fingers.count < 10, turnsWheel || fingers.isEmpty else { return [] }
    fingers[id] = Point(x: x, y: y)
    switch phase {
    case .none:
      phase = .pointer(id: id)
      return [.move(x: Self.pixel(x), y: Self.pixel(y)), .button(1, isDown: true)]
    case .pointer:
      phase = .gesture
      begin()
      return [.button(1, isDown: false)]
    case .gesture:
      begin()
      return []
    }
  }

  package mutating func move(_ id: UInt32, x: Double, y: Double) -> [ScreenInput] {
    guard fingers[id] != nil else { return [] }
    fingers[id] = Point(x: x, y: y)
    switch phase {
    case .pointer(id): return [.move(x: Self.pixel(x), y: Self.pixel(y))]
    case .gesture: return turn()
    case .none, .pointer: return []
    }
  }

  package mutating func up(_ id: UInt32) -> [ScreenInput] {
    guard fingers.removeValue(forKey: id) != nil else { return [] }
    defer { if fingers.isEmpty { phase = .none } }
    let rest: [ScreenInput] = fingers.isEmpty ? [.leave] : []
    if phase == .pointer(id: id) { return [.button(1, isDown: false)] + rest }
    begin()
    return rest
  }

  package mutating func cancel() -> [ScreenInput] {
    defer { (phase, fingers) = (.none, [:]) }
    if case .pointer = phase { return [.button(1, isDown: false), .leave] }
    return fingers.isEmpty ? [] : [.leave]
  }

  /// Steps of the wheel count from here.
  private mutating func begin() {
    center = middle
    distance = spread
  }

  private var middle: Point {
    let count = Double(max(fingers.count, 1))
    let sum = fingers.values.reduce(Point(x: 0, y: 0)) { Point(x: $0.x + $1.x, y: $0.y + $1.y) }
    return Point(x: sum.x / count, y: sum.y / count)
  }

  /// How far the fingers are from their middle.
  private var spread: Double {
    let middle = middle
    let sum = fingers.values.reduce(0) { sum, finger in
      let (x, y) = (finger.x - middle.x, finger.y - middle.y)
      return sum + (x * x + y * y).squareRoot()
    }
    return sum / Double(max(fingers.count, 1))
  }

  private mutating func turn() -> [ScreenInput] {
    guard fingers.count >= 2 else { return [] }
    var inputs: [ScreenInput] = []
    let (middle, spread) = (middle, spread)
    let change = distance > 1 ? spread / distance - 1 : 0
    if abs(change) >= Self.pinchStep {
      distance = spread
      inputs += [.move(x: Self.pixel(middle.x), y: Self.pixel(middle.y)), .key("Control_L", isDown: true)]
      inputs += Self.click(change > 0 ? 4 : 5) + [.key("Control_L", isDown: false)]
    }
    // As on a touch pad with natural scrolling: the content follows the fingers.
    let down = steps(middle.y - center.y)
    let right = steps(middle.x - center.x)
    center.y += Double(down) * Self.wheelStep
    center.x += Double(right) * Self.wheelStep
    for _ in 0..<abs(down) { inputs += Self.click(down > 0 ? 4 : 5) }
    for _ in 0..<abs(right) { inputs += Self.click(right > 0 ? 6 : 7) }
    return inputs
  }

  /// Bounded by a long way across a large screen.
  private func steps(_ way: Double) -> Int {
    Int(max(-100, min(100, (way / Self.wheelStep).rounded(.towardZero))))
  }

  private static func click(_ button: Int) -> [ScreenInput] {
    [.button(button, isDown: true), .button(button, isDown: false)]
  }

  /// The pixel of a coordinate; 0 for NaN.
  package static func pixel(_ position: Double) -> Int {
    position.isFinite ? Int(max(-32768, min(32767, position.rounded(.down)))) : 0
  }
}
