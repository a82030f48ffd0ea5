import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Time stamps by which GstBaseSink shows nothing, or one picture: the application hears why.
@Suite struct TimeStampTests {
  @Test func theWatchComplainsOnce() {
    var watch = TimeStampWatch()
    let standing = (0...40).compactMap { watch.frameCame(0, isLeftOut: $0 > 0, now: .milliseconds($0 * 33)) }
    #expect(standing == [.standing(0)])
    watch = TimeStampWatch()
    #expect(
      (0..<90).compactMap { watch.frameCame(nil, isLeftOut: $0 % 30 > 0, now: .zero) } == [
        .missing(leftOut: 29, of: 30)
      ])
    watch = TimeStampWatch()
    #expect(watch.frameWaits(until: 3_601_000_000_000, now: .seconds(2)) == nil)
    #expect(watch.frameWaits(until: 3_603_000_000_000, now: .seconds(2)) == .distant(.seconds(3601)))
    #expect(watch.frameWaits(until: 3_603_000_000_000, now: .seconds(2)) == nil)
  }

  @Test func theWatchIsQuietWithOrdinaryTimeStamps() {
    var watch = TimeStampWatch()
    for index in 0..<300 {
      // Twice the head unit's rate; a slow machine, which is another matter; and a still picture.
      #expect(watch.frameCame(UInt64(index), isLeftOut: index % 2 == 0, now: .milliseconds(index * 16)) == nil)
      #expect(watch.frameCame(UInt64(300 + index), isLeftOut: true, now: .milliseconds(index * 16)) == nil)
    }
    for index in 0..<90 { #expect(watch.frameCame(7, isLeftOut: false, now: .milliseconds(index * 33)) == nil) }
    for index in 0..<90 {
      #expect(watch.frameCame(nil, isLeftOut: index % 2 == 0, now: .milliseconds(index * 16)) == nil)
    }
  }

  /// For a second at least, of more than two pictures, and most of them.
  @Test func theWatchIsPatient() {
    var watch = TimeStampWatch()
    for time in [0, 100, 200, 300, 999] {
      #expect(watch.frameCame(7, isLeftOut: time > 0, now: .milliseconds(time)) == nil)
    }
    #expect(watch.frameCame(7, isLeftOut: true, now: .seconds(1)) == .standing(7))
    watch = TimeStampWatch()
    for time in [0, 1000] { #expect(watch.frameCame(7, isLeftOut: true, now: .milliseconds(time)) == nil) }
    #expect(watch.frameCame(7, isLeftOut: true, now: .seconds(1)) == .standing(7))
    // Another time stamp begins anew, and three of four are still shown often enough.
    watch = TimeStampWatch()
    for time in [0, 100, 200, 999] { #expect(watch.frameCame(7, isLeftOut: true, now: .milliseconds(time)) == nil) }
    for time in [1000, 1999] { #expect(watch.frameCame(8, isLeftOut: true, now: .milliseconds(time)) == nil) }
    watch = TimeStampWatch()
    for index in 0..<100 { #expect(watch.frameCame(nil, isLeftOut: index % 4 > 0, now: .zero) == nil) }
    // No film pauses for longer than an hour.
    watch = TimeStampWatch()
    #expect(watch.frameWaits(until: 3_602_000_000_000, now: .seconds(2)) == nil)
    #expect(watch.frameWaits(until: 3_602_000_000_001, now: .seconds(2)) != nil)
    // Whatever it was, the application has heard of it.
    for index in 0..<100 { #expect(watch.frameCame(nil, isLeftOut: true, now: .seconds(index)) == nil) }
  }

  /// Nothing waits then: a file of two hours may be sent in one.
  @Test func distantTimesWithoutSync() throws {
    let harness = try SinkHarness()
    try harness.start()
    // One after the other: of live pictures that come while the head unit is late, the newest is sent.
    for (count, hour) in [0, 2, 4].enumerated() {
      harness.source.push(Picture(320, 240, hour).bytes, at: 30 * 3600 * hour)
      try harness.headUnit.waitForFrames(count + 1)
    }
    #expect(harness.pipeline.drain().allSatisfy { $0.warning == nil })
  }

  enum Stamps: String, CaseIterable {
    case wallClock = "its time stamp is not a time of the segment"
    case standing = "the same time stamp (0.0 s)"
    case missing = "they have no time stamps"
  }

  @Test(arguments: Stamps.allCases) func warning(_ stamps: Stamps) throws {
    let harness = try SinkHarness(properties: "keep-alive-interval=0")
    try harness.start()
    let picture = Picture(320, 240, 0).bytes
    // Made beforehand, since they have to come faster than the head unit shows pictures.
    let pictures = (0..<60).map { Picture(320, 240, $0).bytes }
    func isWarning(_ message: BusMessage) -> Bool { message.warning?.text.contains(stamps.rawValue) == true }
    var index = 0
    #expect(
      eventually {
        guard (try? harness.statistics["frames-in"]) == index + 1 || stamps != .standing else { return false }
        index += 1
        switch stamps {
        case .wallClock where index > 3: break
        case .wallClock: harness.source.push(picture, at: 30 * 400_000_000)
        case .standing: harness.source.push(Picture(320, 240, index).bytes, at: 0)
        case .missing where index > 1: break
        case .missing: for picture in pictures { _ = harness.source.pushUnstamped(picture) }
        }
        return harness.pipeline.drain().contains(where: isWarning)
      })
    #expect(harness.pipeline.drain().count(where: isWarning) == 1)
  }
}
