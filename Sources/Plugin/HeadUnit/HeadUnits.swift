import GStreamerKit
import SDLLink
import SDLWire

/// The head units of a pipeline, or of several if the application passes the context on: elements with the same address
/// and port are one head unit, if each has another service.
///
/// From READY on, an element's settings are known. The head unit gets the merged settings when the first element
/// starts.
///
/// Locks: `state` → that of a head unit.
final class HeadUnits: Sendable {
  /// An element in READY or above.
  private struct Member: Sendable {
    weak var element: (any HeadUnitElement)?
    var service: ServiceType
  }

  /// How an element became part of a head unit.
  enum Membership {
    /// It is the first, and has to start the head unit.
    case first(HeadUnit)
    /// It runs already; with the run of the first element, and the properties that this one has set to other values.
    case further(first: HeadUnitRun, contradictions: [String])
  }

  private struct State: Sendable {
    var members: [Member] = []
    var headUnits: [HeadUnit] = []
  }

  static let context = ContextType<HeadUnits>("sdl.head-units", boxed: "GstSdlHeadUnits")

  private let state = Monitor(State())

  /// The element is in READY.
  func add(_ element: any HeadUnitElement, for service: ServiceType) {
    state.withLock { state in
      state.members.removeAll { $0.element === element }
      state.members.append(Member(element: element, service: service))
    }
  }

  /// It is in NULL.
  func remove(_ element: any HeadUnitElement) {
    state.withLock { $0.members.removeAll { $0.element === element } }
  }

  /// Makes an element that starts part of a head unit.
  ///
  /// - Parameter present: its settings now, which may change while it waits for another element's start.
  func join(_ member: HeadUnitRun, _ present: () -> HeadUnitSetup) -> Membership {
    while true {
      let setup = present()
      let together = completed(setup, of: member.service)
      let found = state.withLock { state -> (HeadUnit, HeadUnitRun?) in
        for headUnit in state.headUnits where headUnit.place == setup.place {
          if let first = headUnit.add(member) { return (headUnit, first) }
        }
        let headUnit = HeadUnit(together, first: member)
        state.headUnits.append(headUnit)
        return (headUnit, nil)
      }
      guard let first = found.1 else { return .first(found.0) }
      guard found.0.waitUntilRunning() else {
        leave(found.0, member)
        continue
      }
      let contradictions =
        found.0.setup.settings.contradictions(by: setup.settings) + adopt(present, by: found.0)
      return .further(first: first, contradictions: contradictions)
    }
  }

  /// Gives a running head unit the settings of a video element that joins it. Before, there was none, another one, or
  /// this one with other values.
  ///
  /// - Returns: the properties that come too late.
  private func adopt(_ present: () -> HeadUnitSetup, by headUnit: HeadUnit) -> [String] {
    let running = headUnit.setup.video
    guard let video = present().video, video != running else { return [] }
    headUnit.changeVideo(present().video ?? video)
    // Only if they have changed, since the app on the screen then gets the status in the properties, whatever the
    // driver chose.
    if video.isStreamable != running?.isStreamable ?? true {
      headUnit.changeStatus { $0.video?.isStreamable = present().video?.isStreamable ?? video.isStreamable }
    }
    if running == nil, video.encryption == .refuse { return [] }
    return video == video.keepingProtection(of: running) ? [] : ["encryption"]
  }

  /// The merged settings of a head unit's elements in READY and the one that starts.
  private func completed(_ setup: HeadUnitSetup, of service: ServiceType) -> HeadUnitSetup {
    let others = state.withLock { $0.members }.filter { $0.service != service }
    return others.compactMap { $0.element?.settings.current.setup(for: $0.service) }
      .filter { $0.place == setup.place }.reduce(setup) { $0.completed(by: $1) }
  }

  /// The element stops; the last one of a head unit ends it.
  func leave(_ headUnit: HeadUnit, _ member: HeadUnitRun) {
    let isLast = state.withLock { state in
      guard headUnit.isOnlyMember(member) else {
        headUnit.remove(member)
        return false
      }
      // From now on, elements with this address are another head unit, which needs the port.
      state.headUnits.removeAll { $0 === headUnit }
      headUnit.stopListening()
      return true
    }
    guard isLast else { return }
    headUnit.waitForEnd()
    headUnit.remove(member)
  }
}
