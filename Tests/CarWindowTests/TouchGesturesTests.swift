import CarWindow
import Testing

@Suite struct TouchGesturesTests {
  @Test func aFingerIsThePointer() {
    var gestures = TouchGestures()
    #expect(gestures.down(3, x: 10.9, y: 20) == [.move(x: 10, y: 20), .button(1, isDown: true)])
    #expect(gestures.move(3, x: 12, y: 21) == [.move(x: 12, y: 21)])
    #expect(gestures.move(4, x: 1, y: 1) == [])
    #expect(gestures.up(3) == [.button(1, isDown: false), .leave])
    #expect(gestures.up(3) == [])
  }

  @Test func twoFingersTurnTheWheel() {
    var gestures = TouchGestures()
    _ = gestures.down(0, x: 100, y: 100)
    #expect(gestures.down(1, x: 200, y: 100) == [.button(1, isDown: false)])
    #expect(gestures.move(0, x: 100, y: 140) == [])
    #expect(gestures.move(1, x: 200, y: 140) == [.button(4, isDown: true), .button(4, isDown: false)])
    // What is left of the way counts for the next step.
    _ = gestures.move(0, x: 100, y: 150)
    #expect(gestures.move(1, x: 200, y: 180).isEmpty == false)
    #expect(gestures.up(0) == [] && gestures.move(1, x: 200, y: 300) == [] && gestures.up(1) == [.leave])
    #expect(gestures.down(0, x: 1, y: 1).last == .button(1, isDown: true))
  }

  /// The content follows the fingers in all directions; what is left of a way counts for the next step.
  @Test(
    arguments: [
      (0.0, 45.0, [4], [4, 4]), (0, -45, [5], [5, 5]), (45, 0, [6], [6, 6]), (-45, 0, [7], [7, 7]),
      (0, 29, [], [4]), (60, 30, [4, 6, 6], [4, 6, 6]),
    ] as [(Double, Double, [Int], [Int])])
  func directionsOfTheWheel(x: Double, y: Double, first: [Int], second: [Int]) {
    var gestures = TouchGestures()
    _ = gestures.down(0, x: 500, y: 500)
    _ = gestures.down(1, x: 1500, y: 500)
    var turned: [[Int]] = []
    for step in [1.0, 2.0] {
      // One after the other, which changes their distance too little for a pinch.
      let inputs = [0, 1].flatMap { id in
        gestures.move(id, x: 500 + Double(id) * 1000 + step * x, y: 500 + step * y)
      }
      turned.append(inputs.compactMap { if case .button(let button, isDown: true) = $0 { button } else { nil } })
      #expect(inputs.count == 2 * (turned.last?.count ?? 0), "each is released, and no key is pressed")
    }
    #expect(turned.map { $0.sorted() } == [first, second])
  }

  /// A finger across a screen that is no screen.
  @Test func aLongWayIsBounded() {
    var gestures = TouchGestures()
    _ = gestures.down(0, x: 0, y: 0)
    _ = gestures.down(1, x: 0, y: 0)
    #expect(gestures.move(0, x: 0, y: 1_000_000).count == 200)
  }

  /// No more than two hands have.
  @Test func atMostTenFingers() {
    var gestures = TouchGestures()
    for id: UInt32 in 0..<12 { _ = gestures.down(id, x: 10, y: 10) }
    for id: UInt32 in 0..<9 { #expect(gestures.up(id) == []) }
    #expect(gestures.up(9) == [.leave], "the others do not count")
    #expect(gestures.up(10) == [] && gestures.up(11) == [])
    #expect(gestures.down(0, x: 10, y: 10).last == .button(1, isDown: true))
  }

  /// The finger that was the pointer is not so again while others are there.
  @Test func theFirstFingerComesBack() {
    var gestures = TouchGestures()
    _ = gestures.down(0, x: 100, y: 100)
    _ = gestures.down(1, x: 1100, y: 100)
    #expect(gestures.up(0) == [] && gestures.down(0, x: 100, y: 100) == [])
    #expect(gestures.move(0, x: 100, y: 160) == [.button(4, isDown: true), .button(4, isDown: false)])
    #expect(gestures.cancel() == [.leave])
  }

  /// The middle of three fingers is another one than that of two.
  @Test func aThirdFingerTurnsNothing() {
    var gestures = TouchGestures()
    _ = gestures.down(0, x: 100, y: 100)
    _ = gestures.down(1, x: 200, y: 100)
    #expect(gestures.down(2, x: 150, y: 400) == [])
    #expect(gestures.move(2, x: 150, y: 401) == [])
  }

  /// Nor does a third finger that leaves, although the middle and the distance of the other two are others.
  @Test func aThirdFingerThatLeavesTurnsNothing() {
    var gestures = TouchGestures()
    for (id, x, y) in [(0, 100, 100), (1, 1100, 100), (2, 600, 400)] as [(UInt32, Double, Double)] {
      _ = gestures.down(id, x: x, y: y)
    }
    #expect(gestures.up(2) == [] && gestures.move(0, x: 101, y: 101) == [])
    #expect(gestures.move(0, x: 100, y: 160) == [.button(4, isDown: true), .button(4, isDown: false)])
  }

  /// Two fingers, of which one moves: their distance changes by less than 15 %, by more, by less of that, and back.
  @Test func stepsOfAPinch() {
    var gestures = TouchGestures()
    _ = gestures.down(0, x: 100, y: 100)
    _ = gestures.down(1, x: 200, y: 100)
    func step(_ x: Int, _ button: Int) -> [ScreenInput] {
      [
        .move(x: x, y: 100), .key("Control_L", isDown: true), .button(button, isDown: true),
        .button(button, isDown: false), .key("Control_L", isDown: false),
      ]
    }
    #expect(gestures.move(0, x: 86, y: 100) == [])
    #expect(gestures.move(0, x: 84, y: 100) == step(142, 4))
    #expect(gestures.move(0, x: 70, y: 100) == [])
    #expect(gestures.move(0, x: 102, y: 100) == step(151, 5))
    #expect(gestures.move(0, x: 100, y: 100) == [])
  }

  @Test(arguments: [(75.0, 225.0, 4), (115.0, 185.0, 5)])
  func pinchesTurnTheWheelWithControl(left: Double, right: Double, button: Int) {
    var gestures = TouchGestures()
    _ = gestures.down(0, x: 100, y: 100)
    _ = gestures.down(1, x: 200, y: 100)
    let inputs = gestures.move(0, x: left, y: 100) + gestures.move(1, x: right, y: 100)
    #expect(inputs.contains(.key("Control_L", isDown: true)) && inputs.contains(.key("Control_L", isDown: false)))
    #expect(inputs.contains(.button(button, isDown: true)))
  }

  @Test func withoutGesturesOtherFingersAreIgnored() {
    var gestures = TouchGestures()
    _ = gestures.down(0, x: 1, y: 1, turnsWheel: false)
    #expect(gestures.down(1, x: 50, y: 50, turnsWheel: false) == [] && gestures.move(1, x: 60, y: 60) == [])
    #expect(gestures.move(0, x: 2, y: 2) == [.move(x: 2, y: 2)])
    #expect(gestures.up(0) == [.button(1, isDown: false), .leave])
  }

  @Test func aCancelReleasesTheButton() {
    var gestures = TouchGestures()
    _ = gestures.down(0, x: 1, y: 1)
    #expect(gestures.cancel() == [.button(1, isDown: false), .leave] && gestures.cancel() == [])
    #expect(gestures.move(0, x: 9, y: 9) == [] && gestures.up(0) == [])
  }

  /// XTEST has 16 bits for a coordinate.
  @Test(
    arguments: [
      (0.9, 0), (-0.1, -1), (32_767.9, 32_767), (32_768, 32_767), (1e300, 32_767), (-32_768, -32_768),
      (-32_769, -32_768), (.infinity, 0), (-.infinity, 0), (.nan, 0),
    ] as [(Double, Int)])
  func pixels(place: Double, pixel: Int) {
    #expect(TouchGestures.pixel(place) == pixel)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
  func placesThatAreNone(_ place: Double) {
    var gestures = TouchGestures()
    _ = gestures.down(0, x: place, y: place)
    _ = gestures.down(1, x: 5, y: place)
    for id: UInt32 in 0...1 { _ = gestures.move(id, x: place, y: 3) }
    #expect(gestures.up(0) == [] && gestures.up(1) == [.leave])
  }
}
