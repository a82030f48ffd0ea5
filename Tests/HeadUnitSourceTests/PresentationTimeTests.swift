import GStreamerKit
import H264
import Testing

import struct TestSupport.SeededGenerator

@testable import Plugin
@testable import PluginTestSupport

/// B-frames come after pictures that are shown later.
@Suite struct PresentationTimeTests {
  private static let frame: UInt64 = 33_333_333

  /// The times that pictures of an encoder get, when they arrive so many nanoseconds late.
  private func times(_ units: [EncodedUnit], jitter: () -> UInt64) throws -> [(decoding: UInt64, presentation: UInt64)]
  {
    var (order, presentation) = (OutputOrder(), PresentationTime())
    var last: UInt64?
    return try units.enumerated().map { index, unit in
      let decoding = max(UInt64(index) * Self.frame + jitter(), last.map { $0 + StreamTime.shortestStep } ?? 0)
      last = decoding
      let place = unit.bytes.withUnsafeBytes { order.observe($0) }
      let time = presentation.time(of: place, decoding: decoding, frameDuration: Self.frame)
      return (decoding, try #require(time, "picture \(index): \(place)"))
    }
  }

  /// The order in which the encoder wants the units to be shown.
  private func ranks(_ times: [UInt64]) -> [Int] {
    let order = times.indices.sorted { times[$0] < times[$1] }
    var ranks = [Int](repeating: 0, count: times.count)
    for (rank, index) in order.enumerated() { ranks[index] = rank }
    return ranks
  }

  @Test(arguments: [
    ("bframes=0", "main"), ("bframes=1", "main"), ("bframes=3 b-adapt=false", "main"),
    ("bframes=3 b-adapt=false b-pyramid=true", "high"), ("bframes=7 b-adapt=false b-pyramid=true", "high"),
  ])
  func picturesAreShownInTheirOrder(encoder: String, profile: String) throws {
    let units = try encodedUnits(120, keyFrameInterval: 50, encoder: encoder, profile: profile)
    #expect((encoder == "bframes=0") == (units.map(\.time) == units.map(\.time).sorted()))
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    for jitter: UInt64 in [0, 10_000_000, 200_000_000] {
      let times = try times(units) { jitter == 0 ? 0 : .random(in: 0...jitter, using: &random) }
      #expect(ranks(times.map(\.presentation)) == ranks(units.map(\.time)), "jitter \(jitter), seed \(seed)")
      #expect(Set(times.map(\.presentation)).count == times.count)
      guard jitter == 0 else { continue }
      // x264 says how many pictures it reorders, so that none is late.
      let late = times.indices.filter { times[$0].presentation < times[$0].decoding }
      #expect(late == [], "\(times)")
      #expect(times.allSatisfy { $0.presentation <= $0.decoding + 10 * Self.frame })
      let steps = times.map(\.presentation).sorted()
      #expect(zip(steps, steps.dropFirst()).allSatisfy { $1 - $0 > Self.frame / 2 && $1 - $0 < Self.frame * 2 })
    }
  }

  /// Pictures that are shown once in a while do not hold the first one up by more than a second each.
  @Test(
    arguments: [
      (999_999_999, 1_999_999_998), (1_000_000_000, 2_000_000_000), (1_000_000_001, 2_000_000_000),
      (UInt64.max, 2_000_000_000),
    ] as [(UInt64, UInt64)])
  func slowestStream(frameDuration: UInt64, time: UInt64) {
    var presentation = PresentationTime()
    let first = OutputOrder.Place.first(count: 0, reordering: 2)
    #expect(presentation.time(of: first, decoding: 0, frameDuration: frameDuration) == time)
  }

  /// In milliseconds, for pictures that are sent every 40 ms.
  private enum Arrival: CaseIterable {
    case regular
    case secondIsLate
    case firstAtOnce

    func time(of index: Int) -> Int {
      switch self {
      case .regular: 40 * index
      case .secondIsLate: index == 0 ? 0 : 150 + 40 * index
      case .firstAtOnce: index < 4 ? index : 40 * (index - 3)
      }
    }
  }

  /// However the stream begins, a picture is shown by the depth of the reordering after it came, and by as much more as
  /// there are pictures still to come before it.
  @Test(arguments: [("bframes=2 b-adapt=false", "main"), ("bframes=3 b-adapt=false b-pyramid=true", "high")])
  func theDelayIsTheDepthOfTheReordering(encoder: String, profile: String) throws {
    let units = try encodedUnits(100, keyFrameInterval: 25, frameRate: 25, encoder: encoder, profile: profile)
    let places = ranks(units.map(\.time))
    let seed = testSeed()
    for arrival in Arrival.allCases {
      var random = SeededGenerator(seed: seed)
      var (order, presentation) = (OutputOrder(), PresentationTime())
      var depth = 0
      for (index, unit) in units.enumerated() {
        let decoding = UInt64(arrival.time(of: index)) * 1_000_000 + .random(in: 0...900_000, using: &random)
        let place = unit.bytes.withUnsafeBytes { order.observe($0) }
        if case .first(_, let reordering) = place { depth = try #require(reordering) }
        let time = presentation.time(of: place, decoding: decoding, frameDuration: 40_000_000)
        let delay = (Int(try #require(time)) - Int(decoding)) / 1_000_000
        let expected = 40 * (places[index] - index + depth)
        // What came at once can't be shown at once.
        guard index == 0 || index > 10 || arrival == .regular else { continue }
        #expect(abs(delay - expected) <= 25, "\(arrival), picture \(index): \(delay) ms, not \(expected), seed \(seed)")
      }
    }
  }

  @Test func withoutBFramesItIsTheDecodingTime() throws {
    let units = try encodedUnits(30)
    for time in try times(units, jitter: { 0 }) { #expect(time.presentation == time.decoding) }
  }

  /// The stream does not say that it has B-frames: those of the first group are late, and no others.
  @Test func reorderingThatIsNotAnnounced() {
    var presentation = PresentationTime()
    func times(_ places: [OutputOrder.Place], from start: UInt64) -> [Int64] {
      places.enumerated().map { index, place in
        let decoding = (start + UInt64(index)) * Self.frame
        let time = presentation.time(of: place, decoding: decoding, frameDuration: Self.frame)
        return time.map { Int64($0) - Int64(decoding) } ?? .min
      }
    }
    let group: [OutputOrder.Place] =
      [.first(count: 0, reordering: nil)]
      + [6, 2, 4, 12, 8, 10].map { .further(count: $0) }
    #expect(times(group, from: 0).prefix(4).contains { $0 < 0 })
    #expect(times(group, from: 7).allSatisfy { $0 >= 0 })
    // What was learnt of one app is not true of the next.
    presentation.beginStream()
    let plain: [OutputOrder.Place] = [.first(count: 0, reordering: nil), .further(count: 2), .further(count: 4)]
    #expect(times(plain, from: 100) == [0, 0, 0])
  }

  /// The time between the pictures of one app, which were fewer than announced, does not delay those of the next.
  @Test func theRateOfAnotherStream() {
    var presentation = PresentationTime()
    for index in 0..<20 {
      let place = index == 0 ? OutputOrder.Place.first(count: 0, reordering: nil) : .further(count: 2 * index)
      _ = presentation.time(of: place, decoding: UInt64(index) * 2 * Self.frame, frameDuration: Self.frame)
    }
    presentation.beginStream()
    let start: UInt64 = 10_000_000_000
    let time = presentation.time(of: .first(count: 0, reordering: 2), decoding: start, frameDuration: Self.frame)
    #expect(time == start + 2 * Self.frame)
  }

  /// Running time begins anew in the midst of a group of pictures: the times go on from there, in their order.
  @Test(arguments: [true, false]) func runningTimeThatBeginsAnew(withAStream: Bool) throws {
    let units = try encodedUnits(60, encoder: "bframes=2 b-adapt=false", profile: "main")
    var (order, presentation) = (OutputOrder(), PresentationTime())
    let restart = withAStream ? 30 : 33
    let times = try units.enumerated().map { index, unit -> UInt64 in
      if withAStream, index == restart { presentation.beginStream() }
      let place = unit.bytes.withUnsafeBytes { order.observe($0) }
      let base: UInt64 = index < restart ? 60_000_000_000 : 0
      let decoding = base + UInt64(index < restart ? index : index - restart) * Self.frame
      let time = presentation.time(of: place, decoding: decoding, frameDuration: Self.frame)
      return try #require(time, "picture \(index)")
    }
    #expect(times[..<restart].allSatisfy { $0 >= 60_000_000_000 })
    let later = times[restart...].enumerated().map { Int64($1) - Int64($0) * Int64(Self.frame) }
    #expect(later.allSatisfy { abs($0) < 10 * Int64(Self.frame) }, "\(later)")
    #expect(ranks(Array(times[36...])) == ranks(units[36...].map(\.time)))
  }

  /// Pictures that came before running time began anew stay as far from later ones as they were.
  @Test func earlierPicturesMoveWithRunningTime() throws {
    func times(restartingBy distance: UInt64) throws -> [UInt64] {
      var presentation = PresentationTime()
      let places: [OutputOrder.Place] = [
        .first(count: 0, reordering: 2), .further(count: 8), .further(count: 4), .further(count: 2),
        .further(count: 6), .further(count: 16), .further(count: 12),
      ]
      return try places.enumerated().map { index, place in
        let decoding = 10_000_000_000 + UInt64(index) * Self.frame - (index > 1 ? distance : 0)
        let time = presentation.time(of: place, decoding: decoding, frameDuration: Self.frame)
        return try #require(time)
      }
    }
    let (plain, moved) = (try times(restartingBy: 0), try times(restartingBy: 5_000_000_000))
    #expect(ranks(plain) == [0, 4, 2, 1, 3, 6, 5])
    // The picture in which it begins anew takes no time.
    for (plain, moved) in zip(plain, moved).dropFirst(2) {
      let difference = Int64(plain) - Int64(moved) - 5_000_000_000
      #expect(abs(difference) <= Int64(Self.frame), "\(plain) and \(moved)")
    }
  }

  /// All at once, as after a time in which nothing was read.
  @Test func picturesThatComeAtOnce() throws {
    let units = try encodedUnits(60, encoder: "bframes=2 b-adapt=false", profile: "main")
    let (order, presentation) = (OutputOrder(), PresentationTime())
    var state = (order: order, presentation: presentation)
    let times = units.enumerated().compactMap { index, unit in
      let place = unit.bytes.withUnsafeBytes { state.order.observe($0) }
      return state.presentation.time(
        of: place, decoding: UInt64(index) * StreamTime.shortestStep, frameDuration: Self.frame)
    }
    #expect(times.count == 60 && ranks(times) == ranks(units.map(\.time)))
  }

  /// For all order counts that an app sends.
  @Test func anyCounts() {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    var presentation = PresentationTime()
    var decoding: UInt64 = 0
    for _ in 0..<20_000 {
      decoding += .random(in: 0...2_000_000_000, using: &random)
      let count = Int.random(in: -1_000_000_000...1_000_000_000, using: &random)
      let place: OutputOrder.Place =
        switch Int.random(in: 0...20, using: &random) {
        case 0: .first(count: count, reordering: .random(in: 0...16, using: &random))
        case 1: .unknown
        case 2: .inOrder
        default: .further(count: count)
        }
      let time = presentation.time(
        of: place, decoding: decoding, frameDuration: .random(in: 0...(.max), using: &random))
      if place == .unknown { #expect(time == nil) }
      if place == .inOrder { #expect(time.map { $0 >= decoding } == true, "seed \(seed)") }
    }
  }

  @Test func timesEndAtTheLast() {
    var presentation = PresentationTime()
    for place: OutputOrder.Place in [
      .first(count: 0, reordering: 16), .further(count: 8), .further(count: 4), .inOrder,
    ] {
      #expect(presentation.time(of: place, decoding: .max, frameDuration: .max) != nil)
    }
  }
}
