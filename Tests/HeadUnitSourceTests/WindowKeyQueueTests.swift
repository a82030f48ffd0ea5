import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin

/// Keys that wait for the server's thread.
@Suite struct WindowKeyQueueTests {
  private var queue = WindowKeyQueue()

  private static func input(_ button: ButtonName, _ press: DriverInput.Press) -> DriverInput {
    .button(button.rawValue, press)
  }

  @Test mutating func oneRequestForMany() {
    let asking = [
      queue.press(.ok, for: 1), queue.press(.ok, for: 1), queue.press(.tuneUp, for: 1), queue.press(.tuneDown, for: 2),
      queue.release(.ok), queue.release(.ok),
    ]
    #expect(asking == [1, nil, nil, 2, nil, nil])
    #expect(queue.isDown(.tuneUp) && !queue.isDown(.ok) && !queue.isDown(.playPause))
    let inputs = [queue.fetch(for: 1), queue.fetch(for: 1), queue.fetch(for: 2)]
    #expect(inputs[0] == [Self.input(.ok, .down), Self.input(.tuneUp, .down), Self.input(.ok, .up)])
    #expect(inputs[1] == [] && inputs[2] == [Self.input(.tuneDown, .down)])
    // All has been fetched: the next one has to be asked for.
    let next = queue.release(.tuneUp)
    #expect(next == 1)
  }

  /// It goes up for the app for which it went down.
  @Test mutating func allAreReleased() {
    _ = queue.press(.ok, for: 1)
    _ = queue.press(.tuneUp, for: 2)
    _ = queue.fetch(for: 1)
    let apps = queue.releaseAll()
    // That of the other one has been asked for.
    #expect(apps == [1])
    let inputs = [queue.fetch(for: 1), queue.fetch(for: 2)]
    #expect(inputs[0] == [Self.input(.ok, .up)])
    #expect(inputs[1] == [Self.input(.tuneUp, .down), Self.input(.tuneUp, .up)])
    #expect(queue.releaseAll() == [] && !queue.isDown(.ok) && !queue.isDown(.tuneUp))
  }

  @Test mutating func appsThatAreGoneAreForgotten() {
    _ = queue.press(.ok, for: 1)
    _ = queue.press(.tuneUp, for: 2)
    queue.forget(1)
    #expect(!queue.isDown(.ok) && queue.isDown(.tuneUp))
    let inputs = [queue.fetch(for: 1), queue.fetch(for: 2)]
    #expect(inputs[0] == [] && inputs[1] == [Self.input(.tuneUp, .down)])
    let asking = queue.press(.ok, for: 2)
    #expect(asking == 2)
  }

  /// While keys are not fetched no more go down, but those that are down go up.
  @Test mutating func bounded() {
    var pressed = 0
    for _ in 0..<200 {
      _ = queue.press(.ok, for: 1)
      if queue.isDown(.ok) { pressed += 1 }
      _ = queue.release(.ok)
    }
    #expect(pressed == 128)
    let inputs = queue.fetch(for: 1)
    #expect(inputs.count == 256 && inputs.last == Self.input(.ok, .up))
    for _ in 0..<127 {
      _ = queue.press(.ok, for: 1)
      _ = queue.release(.ok)
    }
    let last = [queue.press(.tuneUp, for: 1), queue.press(.ok, for: 1), queue.press(.tuneDown, for: 1)]
    #expect(last == [nil, nil, nil] && queue.isDown(.tuneUp) && queue.isDown(.ok) && !queue.isDown(.tuneDown))
    _ = queue.releaseAll()
    let rest = queue.fetch(for: 1)
    #expect(rest.count == 258)
  }
}
