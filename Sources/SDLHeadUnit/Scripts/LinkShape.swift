/// How slow the road between apps and head unit is made, beyond that of the network.
package struct LinkShape: Equatable, Sendable {
  /// From the app to the head unit, in bits per second; nil is as fast as the network.
  package var up: Int?
  /// From the head unit to the app.
  package var down: Int?
  /// One way, in each direction.
  package var delay = Duration.zero
  /// The most that is added to ``delay``; order is kept, as by TCP.
  package var jitter = Duration.zero
  package var stalls: Stalls?

  /// Times in which nothing passes, as while TCP repeats what was lost.
  package struct Stalls: Equatable, Sendable {
    package var duration: Duration
    /// From the beginning of one to that of the next, on average: random between half of it and one and a half times.
    package var interval: Duration

    package init(duration: Duration, interval: Duration) {
      (self.duration, self.interval) = (duration, interval)
    }
  }

  /// A road that is as fast as the network.
  package init() {}

  /// In bits per second. Less would not bring an app to its registration in time.
  private static let rates = 10_000...1_000_000_000
  /// Twice both stays within a head unit's time limits, of which the shortest for an answer is 10 s.
  private static let longestDelay = Duration.seconds(2)
  /// What comes later is within the tolerance of the rates (``VideoRateChecker``).
  private static let longestJitter = Duration.milliseconds(250)
  private static let stallTimes = Duration.milliseconds(1)...Duration.seconds(10)
  private static let longestInterval = Duration.seconds(3600)

  /// Parses the words of a command: `off`, which is nil, or `NAME=VALUE`, each name at most once.
  package static func parse(_ words: [String]) throws(HeadUnitCommand.Malformed) -> LinkShape? {
    if words == ["off"] { return nil }
    var shape = LinkShape()
    var names: Set<Substring> = []
    for word in words {
      guard let equals = word.firstIndex(of: "=") else {
        throw malformed(
          "\"\(word)\" is no part of a road, which are up=RATE, down=RATE, delay=TIME, jitter=TIME,"
            + " loss-stall=TIME/TIME, or off alone")
      }
      let name = word[..<equals]
      let value = word[word.index(after: equals)...]
      guard names.insert(name).inserted else { throw malformed("\(name) is there twice") }
      switch name {
      case "up": shape.up = try rate(name, value)
      case "down": shape.down = try rate(name, value)
      case "delay": shape.delay = try time(name, value, atMost: longestDelay)
      case "jitter": shape.jitter = try time(name, value, atMost: longestJitter)
      case "loss-stall": shape.stalls = try stalls(value)
      default: throw malformed("a road has no \"\(name)\", but up, down, delay, jitter and loss-stall")
      }
    }
    return shape
  }

  private static func malformed(_ text: String) -> HeadUnitCommand.Malformed {
    HeadUnitCommand.Malformed(description: text)
  }

  /// A number and a unit, such as "1.5mbit".
  private static func number(_ text: Substring, _ units: KeyValuePairs<String, Double>) -> Double? {
    let number = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    guard let unit = units.first(where: { $0.key == text.dropFirst(number.count) }) else { return nil }
    return Double(number).map { $0 * unit.value }
  }

  private static func rate(_ name: Substring, _ text: Substring) throws(HeadUnitCommand.Malformed) -> Int {
    guard let rate = number(text, ["bit": 1, "kbit": 1e3, "mbit": 1e6]), rate <= Double(rates.upperBound),
      rates.contains(Int(rate))
    else {
      throw malformed("\(name)=\(text) is no rate from 10kbit to 1000mbit, such as 600kbit or 2mbit (per second)")
    }
    return Int(rate)
  }

  private static func time(_ text: Substring) -> Duration? {
    number(text, ["ms": 1e-3, "s": 1]).flatMap { $0 <= longestInterval / .seconds(1) ? .seconds($0) : nil }
  }

  private static func time(
    _ name: Substring, _ text: Substring, atMost longest: Duration
  ) throws(HeadUnitCommand.Malformed) -> Duration {
    guard let time = time(text), time <= longest else {
      throw malformed(
        "\(name)=\(text) is no time from 0ms to \(Int(longest / .milliseconds(1)))ms, such as 80ms or 0.2s")
    }
    return time
  }

  private static func stalls(_ text: Substring) throws(HeadUnitCommand.Malformed) -> Stalls {
    let times = text.split(separator: "/", omittingEmptySubsequences: false).map { time($0) }
    guard times.count == 2, let duration = times[0], let interval = times[1], stallTimes.contains(duration) else {
      throw malformed("loss-stall=\(text) is no stall from 1ms to 10s and the time between two, such as 300ms/5s")
    }
    guard interval > duration * 2 else {
      throw malformed("loss-stall=\(text) leaves nothing between: the second time is more than twice the first")
    }
    return Stalls(duration: duration, interval: interval)
  }
}
