import GStreamerKit
import SDLAppLink
import Synchronization

/// The objects that live as long as a state of a sink: the app from NULL→READY on, the stream from READY→PAUSED on.
final class SinkRuns<Stream: AppStream>: Sendable {
  private struct State: Sendable {
    var app: AppClient?
    /// This element's settings of the app, which may have been made with those of another element.
    var appSettings: AppSettings?
    var stream: Stream?
    /// When the last stream ended, and how long that took.
    var streamEnd: (at: Duration, took: Duration)?
  }

  private let state = Mutex(State())
  /// `state` owns it.
  private let published = Atomic<Unmanaged<Stream>?>(nil)

  /// Nil in NULL.
  var app: AppClient? { state.withLock { $0.app } }
  /// Nil in NULL and READY.
  var stream: Stream? { state.withLock { $0.stream } }

  /// The same without a lock, for the streaming thread: it is there before the pad starts, and until it has stopped.
  var onPad: Stream? { published.load(ordering: .acquiring)?.takeUnretainedValue() }

  /// This element's settings of the present app.
  var appSettings: AppSettings? { state.withLock { $0.appSettings } }

  func set(_ app: AppClient, _ settings: AppSettings) {
    state.withLock { state in
      state.app = app
      state.appSettings = settings
    }
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

  func noteStreamEnd(at now: Duration, took time: Duration) {
    state.withLock { $0.streamEnd = (now, time) }
  }

  /// How long the stream's end took, if that was just now: together with the app's end it is one stop for the
  /// application, which waits for it.
  func takeStreamEnd(now: Duration) -> Duration {
    let end = state.withLock { $0.streamEnd.take() }
    guard let end, now - end.at < .seconds(1) else { return .zero }
    return end.took
  }

  /// Forgets `app` and calls `body` in the same moment, if it is the present one.
  func forget(_ app: AppClient, _ body: () -> Void) {
    state.withLock { state in
      guard state.app === app else { return }
      state.app = nil
      body()
    }
  }

  /// Counters and connection of one moment. Read one by one, the bytes of a connection that ends could be missed or
  /// counted twice.
  func readWithConnection<Result>(_ body: (LinkStatistics?) -> sending Result) -> sending Result {
    state.withLock { body($0.app?.connection.statistics) }
  }
}
