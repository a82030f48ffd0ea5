import Testing

@testable import SDLApp

/// When touches are delivered, and as what.
@Suite struct TouchInputTests {
  private static func touch(_ id: Int, _ x: Double) -> Touch { Touch(id: id, position: TouchPosition(x: x, y: 0)) }
  private static func down(_ id: Int, _ x: Double) -> TouchAction { .down(touch(id, x)) }
  private static func motion(_ id: Int, _ x: Double) -> TouchAction { .motion(touch(id, x)) }
  private static func up(_ id: Int, _ x: Double) -> TouchAction { .up(touch(id, x)) }

  private static func touches(_ outputs: [TouchInput.Output]) -> [TouchAction] {
    outputs.compactMap { if case .touch(let action) = $0 { action } else { nil } }
  }

  @Test func motionWaitsForTheFrame() {
    var input = TouchInput()
    #expect(Self.touches(input.receive([Self.down(0, 1), .frame], now: .zero)) == [Self.down(0, 1), .frame])
    #expect(!input.isWaiting && input.nextDeadline == nil)
    #expect(input.receive([Self.motion(0, 2), Self.motion(0, 3), .frame], now: .zero) == [])
    #expect(input.receive([Self.motion(1, 9), Self.motion(0, 4), .frame], now: .milliseconds(10)) == [])
    #expect(input.isWaiting)
    #expect(Self.touches(input.frameShown()) == [Self.motion(0, 4), Self.motion(1, 9), .frame])
    #expect(input.frameShown() == [])
  }

  @Test(arguments: [[up(0, 5), .frame], [down(1, 7), .frame], [.cancel]] as [[TouchAction]])
  func othersDoNotWaitNorOvertake(actions: [TouchAction]) {
    var input = TouchInput()
    _ = input.receive([Self.motion(0, 2), .frame], now: .zero)
    #expect(Self.touches(input.receive(actions, now: .zero)) == [Self.motion(0, 2), .frame] + actions)
    #expect(!input.isWaiting)
  }

  /// A motion with its history is one event.
  @Test func endWithHistory() {
    var input = TouchInput()
    let actions = [Self.motion(0, 2), Self.motion(0, 3), Self.up(0, 4), .frame]
    #expect(Self.touches(input.receive(actions, now: .zero)) == actions)
  }

  @Test func unsynced() {
    var input = TouchInput()
    input.isSynced = false
    let actions = [Self.motion(0, 2), Self.motion(0, 3), .frame]
    #expect(Self.touches(input.receive(actions, now: .zero)) == actions)
    #expect(!input.isWaiting)
  }

  @Test func switchedOffInBetween() {
    var input = TouchInput()
    _ = input.receive([Self.motion(0, 2), .frame], now: .zero)
    input.isSynced = false
    let actions = [Self.motion(0, 3), .frame]
    #expect(Self.touches(input.receive(actions, now: .zero)) == [Self.motion(0, 2), .frame] + actions)
  }

  /// A source may draw only when it is touched.
  @Test func withoutFramesMotionWaitsATenthOfASecond() {
    var input = TouchInput()
    _ = input.receive([Self.motion(0, 2), .frame], now: .seconds(1))
    _ = input.receive([Self.motion(0, 3), .frame], now: .milliseconds(1050))
    #expect(input.nextDeadline == .milliseconds(1100))
    #expect(input.advance(to: .milliseconds(1099)) == [])
    #expect(Self.touches(input.advance(to: .milliseconds(1100))) == [Self.motion(0, 3), .frame])
    #expect(input.nextDeadline == nil)
  }

  @Test func interruption() {
    var input = TouchInput()
    _ = input.receive([Self.motion(0, 2), .frame], now: .zero)
    #expect(input.interrupt() == [])
    #expect(!input.isWaiting)
  }

  @Test(
    arguments: [
      ([down(0, 1), motion(0, 2), up(0, 3)], ["press 1", "move 2", "release 3"]),
      // The first finger is the mouse, whatever its id.
      ([down(4, 1), down(0, 9), motion(0, 8), up(0, 7), up(4, 1)], ["press 1", "release 1"]),
      ([down(0, 1), .cancel, up(0, 2)], ["press 1", "release 1"]),
      ([down(0, 1), down(1, 5), up(0, 1), motion(1, 6), up(1, 6), down(1, 7)], ["press 1", "release 1", "press 7"]),
      ([.cancel, .frame, motion(0, 1)], []),
    ] as [([TouchAction], [String])])
  func mouse(actions: [TouchAction], expected: [String]) {
    var mouse = MouseEmulation()
    let texts = actions.compactMap { action -> String? in
      switch mouse.receive(action) {
      case .press(let position): "press \(Int(position.x))"
      case .move(let position): "move \(Int(position.x))"
      case .release(let position): "release \(Int(position.x))"
      case nil: nil
      }
    }
    #expect(texts == expected)
  }

  @Test func clock() {
    var clock = TouchClock()
    func local(_ time: Int, _ arrival: Int) -> Duration {
      clock.local(.milliseconds(time), arrival: .milliseconds(arrival))
    }
    #expect(local(100, 5000) == .milliseconds(5000))
    // The transmission took 20 ms longer; the interval of the time stamps is kept.
    #expect(local(110, 5030) == .milliseconds(5010))
    // The shortest transmission so far: the estimate was too long.
    #expect(local(130, 5025) == .milliseconds(5025))
    #expect(local(140, 5040) == .milliseconds(5035))
    // The head unit has set its clock anew.
    #expect(local(7, 15_000) == .milliseconds(15_000))
    #expect(local(1_000_000, 15_010) == .milliseconds(15_010))
  }
}
