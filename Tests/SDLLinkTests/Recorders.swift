import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

/// Keeps the events of a connection.
final class ConnectionRecorder: AppConnectionObserver {
  private struct State: Sendable {
    var events: [ConnectionEvent] = []
    var endedCount = 0
    var grants: [VideoGrant] = []
    var stopCount = 0
  }
  private let state = Monitor(State())
  private let callback: @Sendable (AppConnection, ConnectionEvent) -> Void

  init(_ callback: @escaping @Sendable (AppConnection, ConnectionEvent) -> Void = { _, _ in }) {
    self.callback = callback
  }

  /// What changes the session's status comes event by event, as what does not, and then the status.
  func connection(_ connection: AppConnection, didReport event: ConnectionEvent) {
    if case .sessionChanged(_, let events) = event { for event in events { note(.session(event), of: connection) } }
    note(event, of: connection)
  }

  private func note(_ event: ConnectionEvent, of connection: AppConnection) {
    state.withLock { state in
      state.events.append(event)
      if case .ended = event { state.endedCount += 1 }
      if case .session(.videoStarted(let grant)) = event { state.grants.append(grant) }
      if case .session(.videoStopped) = event { state.stopCount += 1 }
    }
    state.broadcast()
    callback(connection, event)
  }

  var events: [ConnectionEvent] { state.withLock { $0.events } }
  var endedCount: Int { state.withLock { $0.endedCount } }

  func waitFor<Result>(_ match: @escaping (ConnectionEvent) -> Result?) -> Result? {
    state.wait(until: MonotonicClock.now + testTimeout) { $0.events.lazy.compactMap(match).first }
  }

  /// The failure of the `ended` event; nil, after testTimeout, if there is no such event.
  func waitForEnd() -> ConnectionFailure?? {
    waitFor { if case .ended(let error) = $0 { .some(error) } else { nil } }
  }

  /// Of all grants, in order of arrival.
  var epochs: [UInt32] { state.withLock { $0.grants.map(\.epoch) } }

  /// The failures after which the connection was to be made again, and the pauses before that.
  var losses: [(failure: ConnectionFailure, pause: Duration)] {
    events.compactMap { if case .lost(let failure, let pause) = $0 { (failure, pause) } else { nil } }
  }

  var hasBeenLost: Bool { !losses.isEmpty }

  var attemptCount: Int { count { if case .attempting = $0 { true } else { false } } }
  var timerCount: Int { count { if case .timerFired = $0 { true } else { false } } }
  var registrationCount: Int { count { if case .session(.registered) = $0 { true } else { false } } }

  private func count(_ match: (ConnectionEvent) -> Bool) -> Int { events.count(where: match) }

  /// Of the first grant after the first loss.
  func waitForEpochAfterLoss() -> UInt32? {
    state.wait(until: MonotonicClock.now + testTimeout) { state in
      let afterLoss = state.events.drop { if case .lost = $0 { false } else { true } }
      return afterLoss.lazy.compactMap { event -> UInt32? in
        if case .session(.videoStarted(let grant)) = event { grant.epoch } else { nil }
      }.first
    }
  }

  func waitForLoss(number: Int = 1) -> Bool { eventually { self.losses.count >= number } }

  var latestGrant: VideoGrant? { state.withLock { $0.grants.last } }

  func waitForStop(number: Int) -> Bool {
    state.wait(atLatest: MonotonicClock.now + testTimeout) { $0.stopCount >= number }
  }

  func waitForGrant(number: Int = 1) -> VideoGrant? {
    state.wait(until: MonotonicClock.now + testTimeout) { $0.grants.count >= number ? $0.grants[number - 1] : nil }
  }
}

/// Keeps the events of a head unit.
final class HeadUnitRecorder: HeadUnitServerObserver {
  private struct State: Sendable {
    var events: [HeadUnitServerEvent] = []
    var videoMessages: [[UInt8]] = []
    var audioMessages: [[UInt8]] = []
    var protocolViolations: [Violation] = []
    var violatingIDs: [UInt8] = []
    var streamViolations: [VideoStreamViolation] = []
  }
  private let state = Monitor(State())
  private let keepsVideo: Bool

  init(keepsVideo: Bool = true) {
    self.keepsVideo = keepsVideo
  }

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    state.withLock { state in
      switch event {
      case .session(_, .videoData(let bytes)): state.videoMessages.append(keepsVideo ? bytes : [])
      case .session(_, .audioData(let bytes)): state.audioMessages.append(bytes)
      // Most tests' video is noise, and their sound comes faster than it is played.
      case .session(_, .violation(.audio(.fasterThanRealTime))), .session(_, .violation(.tooManyViolations)): break
      case .session(_, .violation(.stream(let violation))): state.streamViolations.append(violation)
      case .session(let id, .violation(let violation)):
        state.protocolViolations.append(violation)
        state.violatingIDs.append(id)
      default: state.events.append(event)
      }
    }
    state.broadcast()
  }

  var videoMessages: [[UInt8]] { state.withLock { $0.videoMessages } }
  var audioMessages: [[UInt8]] { state.withLock { $0.audioMessages } }
  var protocolViolations: [Violation] { state.withLock { $0.protocolViolations } }
  /// The sessions of ``protocolViolations``.
  var violatingIDs: [UInt8] { state.withLock { $0.violatingIDs } }
  var streamViolations: [VideoStreamViolation] { state.withLock { $0.streamViolations } }

  func waitForMessages(_ count: Int) -> Bool {
    state.wait(atLatest: MonotonicClock.now + testTimeout) { $0.videoMessages.count >= count }
  }

  func waitFor<Result>(_ match: @escaping (HeadUnitServerEvent) -> Result?) -> Result? {
    state.wait(until: MonotonicClock.now + testTimeout) { $0.events.lazy.compactMap(match).first }
  }

  func hasReported(_ match: (HeadUnitServerEvent) -> Bool) -> Bool {
    state.withLock { $0.events.contains(where: match) }
  }

  /// In order of arrival.
  var connectionIDs: [UInt8] {
    state.withLock { $0.events.compactMap { if case .connected(let id, _) = $0 { id } else { nil } } }
  }

  /// The statuses that were sent to one app, in order.
  func statuses(of id: UInt8) -> [HMIStatus] {
    state.withLock { state in
      state.events.compactMap { if case .session(id, .hmiStatusSent(let status)) = $0 { status } else { nil } }
    }
  }

  func waitForConnection() -> UInt8? { waitFor { if case .connected(let id, _) = $0 { id } else { nil } } }
}
