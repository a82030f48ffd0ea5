import Glibc
import SDLMessages

/// A drive along a track, as a command says it.
package struct DriveTask: Equatable, Sendable {
  /// A GPX file.
  package let file: String
  /// How much faster than the track's own times, 0.01…1000. The readings stay those of the track.
  package let factor: Double
  /// Nil until the file has been read, which is the owner's task.
  package private(set) var track: GPXTrack?

  private static let factors = 0.01...1000

  package init(file: String, factor: Double = 1) {
    (self.file, self.factor) = (file, min(max(factor, Self.factors.lowerBound), Self.factors.upperBound))
  }

  package func with(_ track: GPXTrack) -> DriveTask {
    var task = self
    task.track = track
    return task
  }

  /// Parses `FILE [speed N]`.
  init?(_ words: [String]) {
    guard words.count == 1 || words.count == 3 && words[1] == "speed", let file = words.first, !file.isEmpty else {
      return nil
    }
    guard words.count == 3 else {
      self.init(file: file)
      return
    }
    guard let factor = Double(words[2]), Self.factors.contains(factor) else { return nil }
    self.init(file: file, factor: factor)
  }
}

/// The readings of a car that drives along a track, at their times.
struct Drive: Sendable {
  /// Between two points that are closer, in metres, a receiver's noise would turn the car around.
  private static let shortestWay = 0.5
  /// Of the Earth's mean sphere, in metres.
  private static let radius = 6_371_000.0
  private static let highestSpeed = 700.0

  private let points: [GPXTrack.Point]
  private let factor: Double
  private let start: Duration
  private var next = 0
  /// Of the last point, not taken yet.
  private var readings: [VehicleReading] = []
  private var heading: Double?
  /// In km/h.
  private var speed = 0.0

  /// Begins with the first point at `start`.
  init(_ track: GPXTrack, factor: Double, start: Duration) {
    (points, self.factor, self.start) = (track.points, factor, start)
  }

  /// When ``takeDue(at:)`` returns the next reading; nil at the end.
  var nextDeadline: Duration? {
    if !readings.isEmpty { return due(max(next - 1, 0)) }
    return next < points.count ? due(next) : nil
  }

  /// Removes and returns the next reading that is due: position, then speed. Of several points that are due, the car is
  /// at the last one.
  mutating func takeDue(at now: Duration) -> VehicleReading? {
    if readings.isEmpty, next < points.count, due(next) <= now {
      while next + 1 < points.count, due(next + 1) <= now { next += 1 }
      readings = readings(at: next)
      next += 1
    }
    return readings.isEmpty ? nil : readings.removeFirst()
  }

  private func due(_ index: Int) -> Duration { start + .seconds(points[index].offset / factor) }

  private mutating func readings(at index: Int) -> [VehicleReading] {
    let point = points[index]
    let isLast = index == points.count - 1
    let way = isLast ? max(index - 1, 0)..<index : index..<index + 1
    let (from, to) = (points[way.lowerBound], points[way.upperBound])
    let distance = Self.distance(from, to)
    heading = point.course ?? (distance >= Self.shortestWay ? Self.heading(from, to) : heading)
    let time = to.offset - from.offset
    // It stands where the track ends.
    speed = point.speed.map { $0 * 3.6 } ?? (isLast ? 0 : time > 0 ? distance / time * 3.6 : speed)
    return [
      VehicleReading(
        latitude: point.latitude, longitude: point.longitude, heading: heading.map(Self.rounded),
        altitude: point.elevation, time: point.time.map(UTCTime.init(seconds:))),
      VehicleReading(speed: (min(speed, Self.highestSpeed) * 100).rounded() / 100),
    ].compactMap(\.self)
  }

  /// 0…359.99.
  private static func rounded(_ heading: Double) -> Double {
    let hundredths = (heading * 100).rounded()
    return hundredths >= 36_000 ? (hundredths - 36_000) / 100 : hundredths / 100
  }

  private static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }

  /// Along the great circle, in metres (haversine formula).
  private static func distance(_ from: GPXTrack.Point, _ to: GPXTrack.Point) -> Double {
    let north = sin(radians(to.latitude - from.latitude) / 2)
    let east = sin(radians(to.longitude - from.longitude) / 2)
    let share = north * north + cos(radians(from.latitude)) * cos(radians(to.latitude)) * east * east
    return 2 * radius * asin(min(share.squareRoot(), 1))
  }

  /// Of the great circle at its beginning, in degrees from north, 0..<360.
  private static func heading(_ from: GPXTrack.Point, _ to: GPXTrack.Point) -> Double {
    let turn = radians(to.longitude - from.longitude)
    let (first, second) = (radians(from.latitude), radians(to.latitude))
    let east = sin(turn) * cos(second)
    let north = cos(first) * sin(second) - sin(first) * cos(second) * cos(turn)
    let degrees = atan2(east, north) * 180 / .pi
    return degrees < 0 ? degrees + 360 : degrees
  }
}
