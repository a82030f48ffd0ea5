import GStreamerKit

/// Counters of an element's streams, whatever they carry.
struct StreamCounters {
  var starts: UInt64 = 0
  var startFailures: UInt64 = 0
  private var suspensions: UInt64 = 0
  private var suspendedTime: Duration = .zero
  private var suspendedAt: Duration?

  /// Counts once until ``resumed(at:)``.
  mutating func suspended(at now: Duration) {
    guard suspendedAt == nil else { return }
    suspensions &+= 1
    suspendedAt = now
  }

  mutating func resumed(at now: Duration) {
    guard let began = suspendedAt.take() else { return }
    suspendedTime += now - began
  }

  /// Fields of `sdl-stats`.
  func fill(_ structure: borrowing Structure, now: Duration) {
    structure.set("stream-starts", starts)
    structure.set("stream-start-failures", startFailures)
    structure.set("suspensions", suspensions)
    // Of all suspensions together, with the present one.
    let time = suspendedTime + (suspendedAt.map { now - $0 } ?? .zero)
    structure.set("suspended-time-ns", UInt64(clamping: time.nanoseconds))
  }
}
