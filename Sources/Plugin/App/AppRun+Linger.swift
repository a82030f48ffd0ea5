import Glibc
import GStreamerKit
import SDLLink
import Synchronization

/// A player changes to READY between two films, and takes its sinks to NULL meanwhile (``GStreamerElement/isKeptByPlayer``).
/// The app stays registered for a while then, and so on the car's screen.
extension AppRun {
  /// How long it stays registered for a sink that is in NULL.
  private static let lingerTime = Duration.seconds(5)
  /// How long the end of the process may wait for the end of a session.
  private static let exitTime = Duration.milliseconds(400)

  /// The element begins to wait for the next film; the app lingers once all of its elements do.
  ///
  /// - Returns: whether there is a registration to keep.
  func linger(_ host: any AppHost) -> Bool {
    let end = time.now + Self.lingerTime
    let (isKept, isLast) = state.withLock { state in
      guard state.isConnected, state.status.headUnit != nil, !state.isFailing, !state.isOver else {
        return (false, false)
      }
      _ = state.change(ObjectIdentifier(host)) { $0.isLingering = true }
      guard state.members.allSatisfy(\.isLingering) else { return (true, false) }
      state.lingersUntil = end
      return (true, true)
    }
    guard isLast else { return isKept }
    LingeringApps.add(self)
    connection.setTimer(at: end)
    return true
  }

  /// The next film begins for the element, or the app is to end.
  ///
  /// - Returns: whether the app can be used, because it has not lingered for too long.
  @discardableResult
  func stopLingering(_ host: ObjectIdentifier) -> Bool {
    let (wasLingering, isUsable) = state.withLock { state in
      defer { state.lingersUntil = nil }
      _ = state.change(host) { $0.isLingering = false }
      return (state.lingersUntil != nil, !state.hasLingered)
    }
    if wasLingering { LingeringApps.remove(self) }
    return isUsable
  }

  /// Ends the app if it has waited for long enough, or in vain. On the connection thread.
  func endLinger(after event: ConnectionEvent) {
    let isOver = state.withLock { state in
      guard let end = state.lingersUntil else { return false }
      switch event {
      case .lost, .ended: break
      case .timerFired where time.now >= end: break
      case .timerFired:
        // An earlier time had been asked for, and is over.
        connection.setTimer(at: end)
        return false
      default: return false
      }
      state.lingersUntil = nil
      state.hasLingered = true
      return true
    }
    guard isOver else { return }
    LingeringApps.remove(self)
    withEveryHost { $0.appHasLingered(self) }
  }

  /// The process ends: head units keep an app whose connection just breaks, and refuse it when it comes again.
  fileprivate func endWithProcess() {
    connection.stop(grace: Self.exitTime)
    _ = state.wait(until: MonotonicClock.now + Self.exitTime) { $0.isConnectionRunning ? nil : true }
  }
}

/// The apps that linger, which end with the process if it ends first. (Those of other elements end with their elements.)
private enum LingeringApps {
  private static let apps = Mutex<[AppRun]>([])
  private static let registration: Void = {
    atexit { LingeringApps.end() }
  }()

  static func add(_ app: AppRun) {
    _ = registration
    apps.withLock { $0.append(app) }
  }

  static func remove(_ app: AppRun) {
    apps.withLock { $0.removeAll { $0 === app } }
  }

  private static func end() {
    for app in apps.withLock({ $0 }) { app.endWithProcess() }
  }
}
