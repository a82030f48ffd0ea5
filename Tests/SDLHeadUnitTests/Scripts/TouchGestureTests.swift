import SDLHeadUnit
import SDLMessages
import Testing

/// Gestures, including those that no command can describe.
@Suite struct TouchGestureTests {
  @Test(arguments: [
    (Int.min, Int.max, Duration.seconds(Int64.max), Duration.seconds(10), 502),
    (Int.max, Int.min, .seconds(Int64.min), .zero, 3),
    (-1, 10_001, .milliseconds(40), .milliseconds(40), 4),
  ])
  func extremes(start: Int, end: Int, duration: Duration, expected: Duration, count: Int) throws {
    let gesture = TouchGesture(
      from: OnTouchEvent.Sample(x: start, y: 5), to: OnTouchEvent.Sample(x: end, y: 5), duration: duration)
    let messages = gesture.messages
    #expect(messages.count == count)
    #expect(messages.last?.time == expected && messages.first?.time == .zero)
    let places = messages.compactMap { $0.event.fingers.first?.samples.first?.x }
    let ends = start < end ? [0, 10_000] : [10_000, 0]
    #expect(places.first == ends[0] && places.last == ends[1])
    #expect(places == places.sorted { start < end ? $0 < $1 : $0 > $1 })
  }
}
