import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Touches that wait for the server's thread.
@Suite struct WindowTouchQueueTests {
  private static let picture = VideoSize(320, 240)

  private func receive(
    _ queue: inout WindowTouchQueue, _ input: WindowInput, app: UInt8 = 1, at time: Int = 0
  ) -> WindowTouchQueue.Outcome {
    queue.receive(input, for: app, picture: Self.picture, now: .milliseconds(time))
  }

  private func kinds(_ touches: [WindowTouchQueue.Touch]) -> [OnTouchEvent.Kind] { touches.map(\.touch.kind) }

  @Test func oneRequestForMany() {
    var queue = WindowTouchQueue()
    #expect(receive(&queue, .press(x: 1, y: 2)) == .fetch)
    #expect(receive(&queue, .move(x: 2, y: 2)) == .nothingToDo)
    #expect(receive(&queue, .release(x: 2, y: 2)) == .nothingToDo)
    #expect(kinds(queue.fetch(for: 2)) == [])
    #expect(kinds(queue.fetch(for: 1)) == [.begin, .move, .end])
    #expect(receive(&queue, .press(x: 1, y: 2)) == .fetch)
  }

  @Test func otherInputIsLeftToTheApplication() {
    var queue = WindowTouchQueue()
    #expect(receive(&queue, .move(x: 1, y: 2)) == .noInput)
    #expect(receive(&queue, .press(x: .nan, y: 2)) == .noInput)
  }

  /// While events are not fetched: the finger is cancelled, and what it does then is not kept.
  @Test func bounded() {
    var queue = WindowTouchQueue()
    _ = receive(&queue, .press(x: 0, y: 0))
    for time in 1...100_000 { _ = receive(&queue, .move(x: Double(time % 320), y: 5), at: time) }
    #expect(receive(&queue, .release(x: 1, y: 1)) == .nothingToDo)
    let touches = queue.fetch(for: 1)
    #expect(touches.count == 256 + 1)
    #expect(touches.last?.touch.kind == .cancel && kinds(touches).count { $0 == .cancel } == 1)
    // All has been fetched: a new finger is taken, and the end of the old one means nothing.
    #expect(receive(&queue, .release(x: 1, y: 1)) == .noInput)
    #expect(receive(&queue, .press(x: 3, y: 4)) == .fetch)
    #expect(kinds(queue.fetch(for: 1)) == [.begin])
  }

  @Test func appsThatAreGoneAreForgotten() {
    var queue = WindowTouchQueue()
    _ = receive(&queue, .press(x: 0, y: 0), app: 1)
    #expect(queue.interrupt(for: 1, now: .zero) == false)
    #expect(receive(&queue, .press(x: 0, y: 0), app: 2) == .fetch)
    queue.forget(1)
    #expect(kinds(queue.fetch(for: 1)) == [])
    #expect(kinds(queue.fetch(for: 2)) == [.begin])
  }

  /// The window may show another app by then.
  @Test func nothingIsTakenUntilAllHasBeenFetched() {
    var queue = WindowTouchQueue()
    #expect(receive(&queue, .press(x: 0, y: 0), app: 2) == .fetch)
    for time in 1...300 { _ = receive(&queue, .move(x: Double(time), y: 5), app: 1, at: time) }
    let touches = queue.fetch(for: 1)
    #expect(touches.last?.touch.kind == .cancel)
    #expect(receive(&queue, .press(x: 1, y: 1), app: 1, at: 400) == .nothingToDo && kinds(queue.fetch(for: 1)) == [])
    #expect(kinds(queue.fetch(for: 2)) == [.begin])
    #expect(receive(&queue, .press(x: 1, y: 1), app: 1, at: 500) == .fetch && kinds(queue.fetch(for: 1)) == [.begin])
  }

  /// Nor does an app that waits for nothing any more keep the others waiting.
  @Test func anAppThatHasGoneEndsTheCongestion() {
    var queue = WindowTouchQueue()
    _ = receive(&queue, .press(x: 0, y: 0))
    for time in 1...300 { _ = receive(&queue, .move(x: Double(time), y: 5), at: time) }
    #expect(receive(&queue, .press(x: 1, y: 1), app: 2, at: 400) == .nothingToDo)
    queue.forget(1)
    #expect(receive(&queue, .press(x: 1, y: 1), app: 2, at: 500) == .fetch)
  }

  /// The finger is up, although nobody is told.
  @Test func aFingerWithoutAnApp() {
    var queue = WindowTouchQueue()
    _ = receive(&queue, .press(x: 0, y: 0))
    #expect(kinds(queue.fetch(for: 1)) == [.begin])
    #expect(queue.interrupt(for: nil, now: .zero) == false)
    #expect(receive(&queue, .release(x: 0, y: 0)) == .noInput && kinds(queue.fetch(for: 1)) == [])
  }

  /// Positions are in pixels of the picture that was touched; a cancellation belongs to the last one.
  @Test func picturesOfTouches() {
    var queue = WindowTouchQueue()
    let other = VideoSize(640, 480)
    _ = receive(&queue, .press(x: 0, y: 0))
    _ = queue.receive(.move(x: 5, y: 5), for: 1, picture: other, now: .milliseconds(50))
    #expect(queue.interrupt(for: 1, now: .milliseconds(60)) == false)
    let touches = queue.fetch(for: 1)
    #expect(kinds(touches) == [.begin, .move, .cancel] && touches.map(\.picture) == [Self.picture, other, other])
  }
}
