import GStreamerKit
import SDLAppLink
import Synchronization

/// The objects that live as long as a state of a sink: the app from NULL→READY on, the stream from READY→PAUSED on.
final class SinkRuns<Stream: AppStream>: Sendable {
  private struct State: Sendable {
    var app: AppClient?
    /// Its owner; also of an app that goes on between two films.
    var apps: SharedApps?
    /// The player of those films.
    var player: PipelineReference?
    /// This element's settings of the app, which may have been made with those of another element.
    var appSettings: AppSettings?
    var stream: Stream?
  }

  private let state = Mutex(State())
  /// `state` owns it.
  private let published = Atomic<Unmanaged<Stream>?>(nil)

  /// Nil in NULL.
  var app: AppClient? { state.withLock { $0.app } }
  /// Nil in NULL, except between two films.
  var apps: SharedApps? { state.withLock { $0.apps } }
  /// Nil in NULL and READY.
  var stream: Stream? { state.withLock { $0.stream } }

  /// The same without a lock, for the streaming thread: it is there before the pad starts, and until it has stopped.
  var onPad: Stream? { published.load(ordering: .acquiring)?.takeUnretainedValue() }

  /// This element's settings of the present app.
  var appSettings: AppSettings? { state.withLock { $0.appSettings } }

  func set(_ app: AppClient, of apps: SharedApps, _ settings: AppSettings) {
    // The end of an app that goes on for another film takes long, so it comes without the lock.
    let former = state.withLock { state in
      defer {
        state.app = app
        state.apps = apps
        state.appSettings = settings
      }
      return state.apps
    }
    withExtendedLifetime(former) {}
  }

  func set(_ stream: Stream) {
    state.withLock { $0.stream = stream }
    published.store(.passUnretained(stream), ordering: .releasing)
  }

  /// After the pad has stopped.
  func takeStream() -> Stream? {
    published.store(nil, ordering: .releasing)
    return state.withLock { $0.stream.take() }
  }

  /// Forgets `app` and calls `body` in the same moment, if it is the present one.
  ///
  /// - Parameter player: in which its owner stays.
  func forget(_ app: AppClient, restsIn player: PipelineReference?, _ body: () -> Void) {
    // Its end takes long, so it comes without the lock.
    let apps = state.withLock { state -> SharedApps? in
      guard state.app === app else { return nil }
      state.app = nil
      state.player = player
      body()
      return player == nil ? state.apps.take() : nil
    }
    withExtendedLifetime(apps) {}
  }

  /// The owner of an app that has gone on for another film, once the player goes to NULL; nil otherwise.
  func takeEndedRest() -> SharedApps? {
    guard let player = state.withLock({ $0.app == nil ? $0.player : nil }), player.state == GST_STATE_NULL
    else { return nil }
    return state.withLock { state in
      state.player = nil
      return state.apps.take()
    }
  }

  /// Counters and connection of one moment. Read one by one, the bytes of a connection that ends could be missed or
  /// counted twice.
  func readWithConnection<Result>(_ body: (LinkStatistics?) -> sending Result) -> sending Result {
    state.withLock { body($0.app?.connection.statistics) }
  }
}
