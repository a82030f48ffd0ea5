import GStreamerKit
import Glibc
import SDLLink
import Testing

import func TestSupport.joined
import struct TestSupport.SeededGenerator

@testable import Plugin
@testable import PluginTestSupport

/// Live pictures over a link that becomes narrow and recovers.
@Suite struct NarrowLinkTests {
  private static let frameRate = 30

  private let headUnit: TestHeadUnit
  private let link: NarrowLink
  private let pipeline: Pipeline
  private let source: FrameSource
  private let noise: [UInt8]

  init() throws {
    headUnit = try TestHeadUnit(.small(320, 240, maximumBitrate: nil))
    link = try NarrowLink(to: headUnit, bitsPerSecond: 8_000_000)
    pipeline = try Pipeline(
      """
      appsrc name=src format=time is-live=true ! sdlvideosink name=sink uri=\(link.uri) sync=false bitrate=2000 \
      min-bitrate=100
      """)
    source = try FrameSource(pipeline, caps: Picture.caps(), frameRate: Self.frameRate)
    // Hard to encode, so that the encoder uses its bitrate.
    var generator = SeededGenerator(seed: 1)
    noise = generator.bytes(320 * 250, in: 64...192)
  }

  private var sink: Element { get throws { try pipeline.sink } }

  /// A picture with its number in its first rows, as 16 wide bars, over noise.
  private func picture(_ number: Int) -> [UInt8] {
    var luma = Array(noise.dropFirst(number % 8 * 397).prefix(320 * 240))
    for bit in 0..<16 {
      let value: UInt8 = number >> bit & 1 == 1 ? 235 : 16
      for y in 0..<48 {
        for x in (bit * 20)..<(bit * 20 + 20) { luma[y * 320 + x] = value }
      }
    }
    return luma + [UInt8](repeating: 128, count: 320 * 240 / 2)
  }

  private func number(in decoded: [UInt8]) -> Int {
    (0..<16).reduce(0) { $0 | (decoded[24 * 320 + $1 * 20 + 10] > 128 ? 1 << $1 : 0) }
  }

  /// Pushes pictures at their pace, and notes when each was pushed. Like a camera it makes none while it can't run, so
  /// that a busy machine leads to no burst.
  private func run(
    _ times: inout [Duration], for duration: Duration, until isDone: () -> Bool = { false }
  ) {
    let end = MonotonicClock.now + duration
    var due = MonotonicClock.now
    while MonotonicClock.now < end {
      if isDone() { return }
      waitForNextPicture(&due)
      times.append(MonotonicClock.now)
      source.push(picture(times.count - 1), at: times.count - 1)
    }
  }

  private func waitForNextPicture(_ due: inout Duration) {
    let wait = due - MonotonicClock.now
    if wait > .zero { usleep(useconds_t(wait / .microseconds(1))) }
    due = max(due, MonotonicClock.now) + .seconds(1) / Self.frameRate
  }

  @Test func delayStaysBoundedAndBitrateFollows() throws {
    try pipeline.play()
    var times: [Duration] = []
    run(&times, for: .seconds(3))
    #expect(try sink.statistics["bitrate-target-kbps"] > 1500)
    link.set(bitsPerSecond: 400_000)
    run(&times, for: .seconds(2))
    let narrow = times.count
    run(&times, for: .seconds(4))
    // A busy machine makes fewer pictures, and thus fills the link later.
    var lowest = Int.max
    run(&times, for: .seconds(20)) {
      lowest = min(lowest, (try? sink.statistics["bitrate-target-kbps"]) ?? .max)
      return lowest < 800
    }
    #expect(lowest < 800)
    // By now it may be probing for more.
    #expect(try sink["target-bitrate"].flatMap { Int($0) } ?? .max < 1200)
    link.set(bitsPerSecond: 8_000_000)
    let wide = times.count
    run(&times, for: .seconds(20)) { ((try? sink.statistics["bitrate-target-kbps"]) ?? 0) > 1800 }
    #expect(try sink.statistics["bitrate-target-kbps"] > 1800)
    #expect(eventually { (try? sink.statistics["frames-queued"]) == 0 })
    let statistics = try sink.statistics
    #expect(statistics.areFramesConserved, "\(statistics.fields)")
    // It is not the queue that bounds the delay.
    #expect(statistics["frames-dropped-latency"] > statistics["frames-dropped-queue-full"], "\(statistics.fields)")
    let sent = statistics["frames-sent"] + statistics["frames-repeated"]
    try headUnit.waitForFrames(sent)

    let record = headUnit.record
    let numbers = try decode(record.video, width: 320, height: 240).map(number)
    #expect(numbers.count == record.video.count && numbers == numbers.sorted())
    let delays = zip(numbers, record.arrivals).filter { (narrow..<wide).contains($0.0) }
      .map { ($0.1 - times[$0.0]).nanoseconds / 1_000_000 }.sorted()
    // The link carries half of what waits unsent in a kernel without a bound for seconds.
    #expect(delays.count > 20)
    let middle = try #require(delays.isEmpty ? nil : delays[delays.count / 2])
    #expect(middle < 400 && delays.last ?? .max < 3500, "\(delays)")
    let reasons = pipeline.drain().filter { $0.isElement("sdl-bitrate") }.compactMap { $0.fields["reason"] }
    #expect(reasons.contains("link") && reasons.contains("probing"), "\(reasons)")
    #expect(reasons.count < 4 * Int(times.count / Self.frameRate))
  }

  /// What is sent first after an interruption is new, and no more than the bound's worth of old pictures precedes it.
  @Test func newestPictureComesAfterAnInterruption() throws {
    try pipeline.play()
    var times: [Duration] = []
    run(&times, for: .seconds(2))
    link.set(bitsPerSecond: 0)
    run(&times, for: .seconds(3))
    let before = headUnit.record.video.count
    let interrupted = times.count
    link.set(bitsPerSecond: 8_000_000)
    let back = MonotonicClock.now
    run(&times, for: .seconds(2))
    let record = headUnit.record
    let numbers = try decode(record.video, width: 320, height: 240).map(number)
    #expect(numbers.count == record.video.count)
    let firstNew = numbers.indices.first { numbers[$0] >= interrupted - 5 }
    let index = try #require(firstNew, "\(numbers)")
    #expect(index - before < 12, "\(numbers[before...])")
    #expect(record.arrivals[index] - back < .seconds(3.5))
    #expect(try sink.statistics.areFramesConserved)
  }

  /// An access unit with its number in filler data (type 12), which decoders skip.
  private func numbered(_ unit: EncodedUnit, _ number: Int) -> [UInt8] {
    let filler = [UInt8](repeating: 0xFF, count: 2000)
    let digits: [UInt8] = [0x80 | UInt8(number >> 7), 0x80 | UInt8(number & 0x7F)]
    return joined(unit.bytes, [0, 0, 0, 1, 12], filler, digits, [0x80])
  }

  @Test func encodedFramesThatWouldBeLateAreDroppedInGroups() throws {
    let units = try encodedUnits(240, keyFrameInterval: 15)
    source.setCaps(EncodedUnit.caps())
    // Repeated pictures have no number.
    try sink.set("keep-alive-interval", "0")
    try pipeline.play()
    var times: [Duration] = []
    var due = MonotonicClock.now
    for (index, unit) in units.enumerated() {
      waitForNextPicture(&due)
      if index == 60 { link.set(bitsPerSecond: 200_000) }
      if index == 180 { link.set(bitsPerSecond: 8_000_000) }
      times.append(MonotonicClock.now)
      source.push(numbered(unit, index), at: index, flags: unit.flags)
    }
    #expect(eventually { (try? sink.statistics["frames-queued"]) == 0 })
    let statistics = try sink.statistics
    #expect(statistics["frames-dropped-latency"] > 0 && statistics.areFramesConserved, "\(statistics.fields)")
    try headUnit.waitForFrames(statistics["frames-sent"])
    let record = headUnit.record
    let numbers = record.video.map { Int($0[$0.count - 3] & 0x7F) << 7 | Int($0[$0.count - 2] & 0x7F) }
    for (former, next) in zip(numbers, numbers.dropFirst()) where next != former + 1 {
      #expect(former < next && !units[next].isDelta, "\(next) after \(former)")
    }
    #expect(numbers.last ?? 0 >= 180)
    let delays = zip(numbers, record.arrivals).filter { (90..<180).contains($0.0) }.map { $0.1 - times[$0.0] }
    #expect(delays.allSatisfy { $0 < .seconds(3.5) }, "\(delays)")
  }

  /// Nothing is queued while pictures wait for the link, but a head unit that is gone is noticed all the same.
  @Test func headUnitThatAcknowledgesNothingIsNoticed() throws {
    try pipeline.play()
    var times: [Duration] = []
    run(&times, for: .seconds(1))
    link.set(bitsPerSecond: 0)
    run(&times, for: .seconds(60)) { pipeline.drain().contains { $0.warning != nil } }
    let warnings = pipeline.drain().compactMap(\.warning).map(\.text)
    #expect(warnings.contains { $0.contains("has not read anything") }, "\(warnings)")
    #expect(try sink.statistics["frames-dropped-latency"] > 60 && sink.statistics.areFramesConserved)
  }

  /// A picture that replaces one that waits takes its turn: the limit of the frame rate does not leave it out.
  @Test func theNewestPictureWaits() throws {
    try sink.set("max-framerate", "1")
    try pipeline.play()
    var times: [Duration] = []
    run(&times, for: .seconds(2))
    link.set(bitsPerSecond: 0)
    var replaced: [Int] = []
    var hasWaited = false
    run(&times, for: .seconds(30)) {
      replaced.append((try? sink.statistics["frames-dropped-latency"]) ?? 0)
      hasWaited = replaced.suffix(10).count == 10 && (replaced.last ?? 0) - (replaced.suffix(10).first ?? 0) >= 8
      return hasWaited
    }
    #expect(hasWaited, "\(replaced)")
  }

  @Test func withoutAdaptationTheBitrateStays() throws {
    try sink.set("adaptive-bitrate", "false")
    try sink.set("max-latency", "0")
    try pipeline.play()
    var times: [Duration] = []
    run(&times, for: .seconds(1))
    link.set(bitsPerSecond: 400_000)
    run(&times, for: .seconds(4))
    let statistics = try sink.statistics
    #expect(statistics["bitrate-target-kbps"] == 2000 && statistics["frames-dropped-latency"] == 0)
    #expect(statistics["frames-dropped-queue-full"] > 0 && statistics.areFramesConserved)
    #expect(try sink["target-bitrate"] == "2000")
  }
}
