import Testing

@testable import SDLApp

/// What a head unit may make an app do, however fast it sends: the connection reads on only when the session lets it.
@Suite struct InputBudgetTests {
  /// What a hostile head unit repeats, each as it costs the app most.
  enum Flood: CaseIterable {
    case statuses, capabilities, touches, longTouches, distractions, permissions, addresses, unknownControl, garbage,
      large
  }

  /// Sends as much as the session takes within ten seconds.
  private func flood(_ driver: AppDriver, with flood: Flood) -> Int {
    let end = driver.now + .seconds(10)
    var count = 0
    while driver.now < end, count < 100_000 {
      if let pause = driver.session.inputPause(now: driver.now) {
        driver.wait(pause - driver.now)
        continue
      }
      send(flood, count, to: driver)
      count += 1
    }
    return count
  }

  private func send(_ flood: Flood, _ count: Int, to driver: AppDriver) {
    switch flood {
    case .statuses: driver.status(.full, .streamable, audio: count.isMultiple(of: 2) ? .audible : .notAudible)
    case .capabilities:
      var update = VideoStreamingCapability()
      update.preferredResolution = VideoSize(800, 400 + count % 2 * 16)
      driver.updateCapability(update)
    case .touches: driver.touch(count % 800, 10)
    case .longTouches:
      let samples = (0..<500).map { OnTouchEvent.Sample(x: ($0 + count) % 800, y: 10) }
      driver.notify(.onTouchEvent, OnTouchEvent(kind: .move, fingers: [.init(id: 0, samples: samples)]).json)
    case .distractions:
      driver.notify(
        .onDriverDistraction, OnDriverDistraction(isDistractionLimited: count.isMultiple(of: 2)).json)
    case .permissions: driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: [:]).json)
    case .addresses: driver.updateTransport("192.0.2.\(count % 250)", 1000)
    case .unknownControl: driver.control(.startServiceACK, .control)
    case .garbage:
      driver.receiveGarbage([0])
      driver.control(.serviceDataACK, .video)
      driver.wait(.milliseconds(101))
    case .large: driver.notify(.onHashChange, ["hashID": .string(String(repeating: "x", count: 100_000))])
    }
  }

  /// A few hundred events a second at most, and 4 MiB.
  @Test(arguments: Flood.allCases) func isBounded(flood: Flood) {
    let driver = AppDriver.streaming()
    driver.touch(10, 10)
    _ = driver.take()
    let count = self.flood(driver, with: flood)
    let limit =
      switch flood {
      case .statuses, .capabilities, .distractions, .permissions, .addresses: 1300
      case .touches, .unknownControl: 6100
      case .longTouches: 120
      case .garbage: 100
      case .large: 500
      }
    #expect(count <= limit, "\(count)")
    #expect(driver.take().count { $0.hasPrefix("• ") } <= 2 * limit)
    #expect(driver.failure == nil)
  }

  /// A flood there does not keep the primary transport from being read.
  @Test func secondaryTransport() {
    let driver = AppDriver.registeredSecondary()
    for _ in 0..<1001 { driver.control(.heartbeat, .control, on: .secondary) }
    #expect(driver.session.inputPause(on: .secondary, now: driver.now) != nil)
    #expect(driver.session.inputPause(now: driver.now) == nil)
  }

  /// Ten fingers, 120 messages a second, the acknowledgements of 60 pictures and now and then a status: nothing waits.
  @Test func ordinaryHeadUnit() {
    let driver = AppDriver.streaming()
    for number in 0..<1200 {
      let fingers = (0..<10).map { OnTouchEvent.Finger(id: $0, samples: [.init(x: number % 800, y: 10 * $0)]) }
      driver.notify(.onTouchEvent, OnTouchEvent(kind: number == 0 ? .begin : .move, fingers: fingers).json)
      if number.isMultiple(of: 2) { driver.control(.serviceDataACK, .video) }
      if number.isMultiple(of: 60) { driver.status(.full, .streamable, audio: .audible) }
      #expect(driver.session.inputPause(now: driver.now) == nil)
      driver.wait(.milliseconds(8))
    }
  }

  /// Two seconds are in reserve, of which each frame takes its part.
  @Test(arguments: [
    (ControlFrame.serviceDataACK, 0, 20_000), (.heartbeatACK, 0, 20_000), (.startServiceACK, 0, 1000),
    (.startServiceACK, 16 << 10, 333),
  ])
  func costOfFrames(control: ControlFrame, byteCount: Int, most: Int) {
    let frame = Frame.control(
      control, service: .video, version: 5, sessionID: 1, payload: [UInt8](repeating: 0, count: byteCount))
    var budget = InputBudget()
    for _ in 0..<most { budget.charge(.frame(frame), now: .zero) }
    #expect(budget.pause(now: .zero) == nil)
    budget.charge(.frame(frame), now: .zero)
    #expect(budget.pause(now: .zero) != nil)
  }

  /// What the app has to do for a change of its stream, and for a touch.
  @Test(arguments: [(InputBudget.change, 250), (InputBudget.touch, 8000)]) func costOfEvents(cost: Duration, most: Int)
  {
    var budget = InputBudget()
    for _ in 0..<most { budget.charge(cost, now: .zero) }
    #expect(budget.pause(now: .zero) == nil)
    budget.charge(cost, now: .zero)
    #expect(budget.pause(now: .zero) == cost)
  }

  /// However long nothing came, no more is in reserve than at the beginning; and what was used comes back with time.
  @Test func reserveAfterAQuietHour() {
    var budget = InputBudget()
    for now in [Duration.seconds(3600), .seconds(3603)] {
      budget.charge(InputBudget.reserve, now: now)
      #expect(budget.pause(now: now) == nil)
      budget.charge(InputBudget.frame, now: now)
      #expect(budget.pause(now: now) == now + InputBudget.frame)
      #expect(budget.pause(now: now + InputBudget.frame) == nil)
    }
  }
}
