import Foundation
import GStreamerKit
import SDLLink
import TestSupport

@testable import PluginTestSupport

/// What a pipeline goes through.
struct Case: Sendable, CustomStringConvertible {
  /// What the driver does, and how the head unit can be reached.
  enum Driver: String, CaseIterable {
    case hasOpenedApp = "the driver has opened the app"
    case opensAppLate = "the driver opens the app late"
    case leavesApp = "the driver leaves the app"
    case neverOpensApp = "the driver never opens the app"
    case headUnitIsSilent = "the head unit is silent"
    case headUnitIsUnreachable = "the head unit can't be reached"
  }

  enum Application: String, CaseIterable {
    /// Pauses below 100 %, and plays at 100 %.
    case followsBuffering = "the application follows BUFFERING"
    case ignoresBuffering = "the application ignores BUFFERING"
  }

  /// Which thread of the application does everything.
  enum Caller: String, CaseIterable {
    /// As an application's main thread does, it has a main context.
    case main = "on a main thread"
    case other = "on another thread"
  }

  /// Where the action happens.
  enum State: String, CaseIterable {
    case paused = "in PAUSED"
    case playing = "in PLAYING"

    var state: GstState { self == .paused ? GST_STATE_PAUSED : GST_STATE_PLAYING }
    var other: State { self == .paused ? .playing : .paused }
  }

  enum Action: String, CaseIterable {
    case stop = "NULL"
    /// READY, and back.
    case restart = "READY"
    /// EOS, sent to the pipeline.
    case end = "EOS"
    case seek = "flushing seek"
    /// To the other one of PAUSED and PLAYING, and back.
    case pause = "PAUSED and back"
    /// CAPS and ACCEPT_CAPS, in each state.
    case query = "queries"
  }

  var driver: Driver
  var application: Application
  var thread: Caller
  var state: State
  var action: Action

  var description: String {
    "\(action.rawValue) \(state.rawValue) \(thread.rawValue); \(driver.rawValue); \(application.rawValue)"
  }
}

extension Case {
  /// `SDL_LIKE_ANY_SINK_SEED` in the environment makes another choice.
  private static let seed = ProcessInfo.processInfo.environment["SDL_LIKE_ANY_SINK_SEED"].flatMap { UInt64($0) } ?? 1

  /// The cases of each of ``PipelineKind/all``: each pipeline has each action and each driver once. Each driver has each
  /// action with several pipelines, which take turns with application, thread and state.
  static let all: [[Case]] = {
    var random = SeededGenerator(seed: seed)
    let drivers = Driver.allCases
    var shifts = Array(drivers.indices)
    let turns = Application.allCases.flatMap { application in
      Caller.allCases.flatMap { thread in State.allCases.map { (application, thread, $0) } }
    }
    // For each driver and action the turns in an order of their own.
    var orders = drivers.map { _ in Action.allCases.map { _ in turns.shuffled(using: &random) } }
    return PipelineKind.all.indices.map { pipeline in
      if pipeline % drivers.count == 0 { shifts.shuffle(using: &random) }
      return Action.allCases.indices.map { action in
        let driver = (shifts[pipeline % drivers.count] + action) % drivers.count
        let (application, thread, state) = orders[driver][action].removeFirst()
        orders[driver][action].append((application, thread, state))
        return Case(
          driver: drivers[driver], application: application, thread: thread, state: state,
          action: Action.allCases[action])
      }
    }
  }()
}

/// The head unit of a case, and its driver.
///
/// `@unchecked Sendable`: the head unit has a lock of its own.
final class Car: @unchecked Sendable {
  private enum Peer {
    case headUnit(TestHeadUnit)
    case silent(RawPeer)
    case unreachable(SilentPort)
  }

  private let driver: Case.Driver
  private let peer: Peer

  init(_ driver: Case.Driver) throws {
    self.driver = driver
    switch driver {
    case .hasOpenedApp, .leavesApp: peer = .headUnit(try TestHeadUnit(.small()))
    case .opensAppLate, .neverOpensApp: peer = .headUnit(try TestHeadUnit(.small(activation: nil)))
    case .headUnitIsSilent: peer = .silent(try RawPeer { $0.readToEnd() })
    case .headUnitIsUnreachable: peer = .unreachable(try SilentPort())
    }
  }

  var uri: String {
    switch peer {
    case .headUnit(let headUnit): headUnit.uri
    case .silent(let peer): peer.uri
    case .unreachable(let port): port.uri
    }
  }

  /// What the driver does while the pipeline runs.
  func act() throws {
    guard case .headUnit(let headUnit) = peer, driver == .opensAppLate || driver == .leavesApp else { return }
    guard headUnit.await(until: MonotonicClock.now + .seconds(5), { !$0.registrations.isEmpty }) else {
      throw TestFailure("the app is not registered")
    }
    try headUnit.show(driver == .opensAppLate ? .full : .background)
  }
}
