import Foundation
import Synchronization

/// Notes when the machine did not run this process for a while, as a loaded host does: tests with upper bounds for
/// times allow for it.
public final class Standstills: Sendable {
  private static let pause = 0.002
  private static let noticeable = Duration.milliseconds(20)

  private let times = Mutex<[Duration]>([])

  /// Watches from now on.
  public init() {
    let thread = Thread { [weak self] in
      var last = ContinuousClock.now
      while true {
        Thread.sleep(forTimeInterval: Self.pause)
        guard let self else { return }
        let now = ContinuousClock.now
        if now - last > Self.noticeable { times.withLock { $0.append(now - last) } }
        last = now
      }
    }
    thread.start()
  }

  /// All of them together.
  public var total: Duration { times.withLock { $0.reduce(.zero, +) } }

  /// How many were longer than `limit`.
  public func count(longerThan limit: Duration) -> Int { times.withLock { $0.count { $0 > limit } } }
}
