import SDLHeadUnit
import TestSupport
import Testing

@testable import SDLApp

/// App and head unit joined by two connections that race.
@Suite struct JoinedTransportTests {
  private static func joined(_ video: [TransportRole], seed: UInt64) -> JoinedTransports {
    let joined = JoinedTransports(
      JoinedSessions.configuration {
        $0.activation = .zero
        $0.behaviour.secondaryTransport = .served
        $0.behaviour.videoTransports = video
      }, seed: seed)
    joined.connect()
    joined.appDoes { $0.setVideoRequest(AppDriver.videoRequest, now: $1) }
    joined.wait(.milliseconds(200))
    return joined
  }

  @Test(arguments: 1...20) func start(seed: UInt64) {
    let joined = Self.joined([.secondary], seed: seed)
    #expect(joined.app.status.video.grant?.role == .secondary, "seed \(seed)")
    #expect(joined.sendVideo([1, 2, 3]) && joined.sendVideo([UInt8](repeating: 7, count: 300_000)))
    joined.wait(.zero)
    #expect(joined.received.map(\.count) == [3, 300_000])
    #expect(joined.violations == [] && joined.failure == nil)
  }

  /// Cuts, withdrawals, offers, requests and pictures at any moment, also in the middle of an answer: nothing that is
  /// sent breaks a rule of SDL Core, pictures come whole and in order, and in the end all is as it should be.
  @Test(arguments: 1...60) func everyOrder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let joined = Self.joined([.secondary, .primary], seed: seed)
    var number: UInt8 = 0
    for _ in 0..<60 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: joined.cut()
      case 1: joined.headUnitDoes { $0.change(.secondaryTransport(.off), now: $1) }
      case 2, 3: joined.headUnitDoes { $0.change(.secondaryTransport(.served), now: $1) }
      case 4: joined.appDoes { $0.setVideoRequest(nil, now: $1) }
      case 5: joined.appDoes { $0.setVideoRequest(AppDriver.videoRequest, now: $1) }
      default:
        number &+= 1
        joined.sendVideo([number] + [UInt8](repeating: 9, count: Int.random(in: 0...5000, using: &random)))
      }
      joined.deliver(steps: Int.random(in: 0...12, using: &random))
      if Int.random(in: 0..<3, using: &random) == 0 {
        joined.wait(.milliseconds(Int.random(in: 0...1500, using: &random)))
      }
    }
    joined.headUnitDoes { $0.change(.secondaryTransport(.served), now: $1) }
    joined.appDoes { $0.setVideoRequest(AppDriver.videoRequest, now: $1) }
    joined.wait(.seconds(40))
    #expect(joined.app.status.video.grant?.role == .secondary, "seed \(seed)")
    #expect(joined.violations == [], "seed \(seed)")
    #expect(joined.failure == nil)
    let numbers = joined.received.compactMap(\.first)
    #expect(numbers == numbers.sorted(), "seed \(seed)")
    #expect(joined.received.allSatisfy { $0.dropFirst().allSatisfy { $0 == 9 } })
  }
}
