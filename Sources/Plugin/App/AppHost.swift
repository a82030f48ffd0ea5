import GStreamerKit
import SDLApp
import SDLLink

/// An element on whose behalf an app is registered.
protocol AppHost: GStreamerElement {
  /// What it streams.
  var service: StreamService { get }
  /// Changes the counters of the app's connections.
  func countApp(_ change: (inout AppCounters) -> Void)
  /// What was agreed on by TLS has changed.
  func notifyEncryption()
  /// The app has waited in vain to be used again, and is to be ended. On the connection thread.
  func appHasLingered(_ app: AppClient)
}

/// Counters of the app, over all connections of an element.
struct AppCounters: Equatable {
  var attempts: UInt64 = 0
  var connections: UInt64 = 0
  /// From the beginning of the last attempt to the registration.
  var connectTime: Duration = .zero
  var roundTrip: Duration = .zero
  /// What connections before the present one have sent.
  var formerBytesSent: UInt64 = 0
  /// Nil while nothing has gone wrong.
  var lastError: String?

  /// Fields of `sdl-stats`.
  func fill(_ structure: borrowing Structure) {
    structure.set("connect-attempts", attempts)
    structure.set("connections", connections)
    structure.set("connect-time-ns", UInt64(clamping: connectTime.nanoseconds))
    structure.set("round-trip-ns", UInt64(clamping: roundTrip.nanoseconds))
  }
}

/// A service that uses a registered app and hears what happens on its connection. Video or sound.
protocol AppService: AnyObject, Sendable {
  /// The session has this status now; that of no session without a connection. This, and what follows, on the
  /// connection thread, without locks.
  func sessionChanged(to status: AppSession.Status)
  /// Something has happened in the app's session, whose status is known already.
  func appReported(_ event: AppSession.Event)
  /// The time has come that was set (``AppConnection/setTimer(at:)``), or an earlier one.
  func timerFired()
  /// The app is about to fail, and an error message follows, before which nothing may fail.
  func appIsFailing()
  /// The app has failed. The error message is posted, so frames may fail from now on.
  func appHasFailed()
}

/// A weak handle on an app's element, whatever its type.
struct AppHostHandle: Sendable {
  /// Of the element's Swift object.
  let id: ObjectIdentifier
  let withReference: @Sendable ((any AppHost) -> Void) -> Void
  /// From now on the element is not found any more.
  let end: @Sendable () -> Void

  init<Host: AppHost>(_ host: Host) {
    let handle = ElementHandle(host)
    id = ObjectIdentifier(host)
    withReference = { body in handle.withReference { body($0) } }
    end = { handle.end() }
  }
}
