import Testing

@testable import SDLApp
import TestSupport

/// Every order of what two connections and the driver do. ``AppInvariants`` checks every step, these tests check the
/// outcome.
@Suite struct SecondaryPropertyTests {
  private enum Event: CaseIterable {
    case update
    case driver
    case video
    case sound
    case capability
  }

  /// What happens on the way to a stream comes in any order, as the connections race; the outcome is the same.
  @Test(arguments: [[2], [2, 1], [1, 2], [1]] as [[Int32]]) func everyOrderOfTheBeginning(list: [Int32]) {
    for order in permutations(Event.allCases) {
      let driver = AppDriver()
      driver.connect()
      driver.acknowledgeSession { answer in
        answer.secondaryTransports = ["TCP_WIFI"]
        answer.videoServiceTransports = list
        answer.audioServiceTransports = list
      }
      driver.acceptRegistration()
      for event in order {
        switch event {
        case .update: driver.updateTransport("192.0.2.1", 54321)
        case .driver: driver.status(.full, .streamable, audio: .audible)
        case .video: driver.setVideoRequest(AppDriver.videoRequest)
        case .sound: driver.setAudioRequest(AudioStartRequest())
        case .capability: driver.answerCapability()
        }
        HonestHeadUnit.answer(driver)
      }
      for _ in 0..<6 { HonestHeadUnit.answer(driver) }
      let expected: TransportRole = list.first == 2 ? .secondary : .primary
      #expect(driver.session.status.video.grant?.role == expected, "\(order)")
      #expect(driver.session.status.audio.grant?.role == expected, "\(order)")
    }
  }

  private func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index in
      var rest = elements
      let element = rest.remove(at: index)
      return permutations(rest).map { [element] + $0 }
    }
  }

  /// A faulty head unit and a faulty network.
  private static func disturb(_ driver: AppDriver, _ random: inout SeededGenerator) {
    let role: TransportRole = Bool.random(using: &random) ? .primary : .secondary
    switch Int.random(in: 0..<26, using: &random) {
    case 0, 1: driver.updateTransport("192.0.2.\(Int.random(in: 1...3, using: &random))", 54321)
    case 2: driver.updateTransport(nil, nil)
    case 3: driver.updateTransport(["224.0.0.1", "", "x y"].randomElement(using: &random), 70_000)
    case 4, 5, 6: driver.connectSecondary()
    case 7: driver.loseSecondary()
    case 8: driver.loseSecondary(attempt: UInt32.random(in: 0...3, using: &random))
    case 9, 10, 11: driver.control(.registerSecondaryTransportACK, .control, on: .secondary)
    case 12: driver.control(.registerSecondaryTransportNAK, .control, on: .secondary)
    case 13, 14: driver.acknowledgeVideo(on: role)
    case 15: driver.control(.startServiceACK, .audio, on: role)
    case 16: driver.control(.startServiceNAK, Bool.random(using: &random) ? .video : .audio, on: role)
    case 17: driver.control(.endService, Bool.random(using: &random) ? .video : .audio, on: role)
    case 18, 19: driver.control(.endServiceACK, Bool.random(using: &random) ? .video : .audio, on: role)
    case 20: driver.setVideoRequest(Bool.random(using: &random) ? AppDriver.videoRequest : nil)
    case 21: driver.setAudioRequest(Bool.random(using: &random) ? AudioStartRequest() : nil)
    case 22:
      driver.status(
        HMILevel.allCases.randomElement(using: &random) ?? .none,
        Bool.random(using: &random) ? .streamable : .notStreamable,
        audio: AudioStreamingState.allCases.randomElement(using: &random) ?? .audible)
    case 23: driver.setAppState(AppState.allCases.randomElement(using: &random) ?? .foreground)
    case 24: driver.receiveGarbageOnSecondary([0])
    default: driver.wait(.milliseconds(Int.random(in: 1...6000, using: &random)))
    }
  }

  @Test(arguments: 1...60) func recoversFromEverything(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let lists: [[Int32]] = [[2], [2, 1], [1, 2], [1]]
    let video = lists.randomElement(using: &random) ?? []
    let audio = lists.randomElement(using: &random) ?? []
    let driver = AppDriver.offered(video: video, audio: audio)
    for _ in 0..<400 {
      Self.disturb(driver, &random)
      if Int.random(in: 0..<4, using: &random) == 0 { HonestHeadUnit.answer(driver) }
    }
    #expect(!driver.isClosed, "seed \(seed)")
    _ = driver.take()
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.setAppState(.foreground)
    driver.setAudioRequest(AudioStartRequest())
    driver.status(.none, .notStreamable)
    driver.updateTransport("192.0.2.9", 4000)
    driver.status(.full, .streamable, audio: .audible)
    for _ in 0..<40 {
      // Each answer may have another request behind it.
      for _ in 0..<6 { HonestHeadUnit.answer(driver) }
      driver.wait(.seconds(3))
    }
    #expect(
      driver.session.status.video.grant?.role.rawValue == (video == [2] || video == [2, 1] ? 2 : 1), "seed \(seed)")
    #expect(
      driver.session.status.audio.grant?.role.rawValue == (audio == [2] || audio == [2, 1] ? 2 : 1), "seed \(seed)")
    driver.lose()
    #expect(driver.isClosed)
    #expect(driver.session.nextDeadline == nil)
  }

  /// An update of the address every 10 ms for a minute: few attempts, few events, one warning.
  @Test func updatesWithoutEnd() {
    let driver = AppDriver.offered()
    driver.status(.full, .streamable)
    _ = driver.take()
    for step in 0..<6000 {
      driver.updateTransport(step.isMultiple(of: 3) ? nil : "192.0.2.\(step % 200 + 1)", 54321)
      driver.wait(.milliseconds(10))
    }
    let lines = driver.take()
    #expect(lines.filter { $0.hasPrefix("⇒ open") }.count <= 24)
    #expect(lines.filter { $0.hasPrefix("• secondary") }.count <= 50)
    #expect(lines.filter { $0 == "• transport problem" }.count == 1)
    #expect(driver.session.secondaryTransport.counters.updates == 6001)
  }
}

/// Accepts everything, on whichever transport it is asked.
enum HonestHeadUnit {
  static func answer(_ driver: AppDriver) {
    let primary = driver.frames
    let secondary = driver.secondaryFrames
    let lines = driver.take()
    for line in lines where line.hasPrefix("⇒ open") { driver.connectSecondary() }
    for (frames, role) in [(primary, TransportRole.primary), (secondary, .secondary)] {
      for frame in frames {
        switch (frame.header.controlFrame, frame.header.service) {
        case (.startService, .audio), (.startService, .video):
          driver.control(.startServiceACK, frame.header.service, on: role)
        case (.endService, .audio), (.endService, .video):
          driver.control(.endServiceACK, frame.header.service, on: role)
        case (.registerSecondaryTransport, _):
          driver.control(.registerSecondaryTransportACK, .control, messageID: 2, on: role)
        default: break
        }
      }
    }
  }
}
