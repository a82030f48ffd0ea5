import SDLHeadUnit

/// What was simulated.
public struct Tally {
  public var simulated = Duration.zero
  public var sessions = 0
  public var steps = 0
  public var pictures = 0
  /// How often each fault was made, and each event happened.
  public private(set) var faults: [String: Int] = [:]
  public private(set) var events: [String: Int] = [:]
  /// States of the app: video, sound, HMI level.
  public private(set) var states: Set<String> = []
  /// Events, each with the state that the last app to change had then.
  public private(set) var eventsInStates: Set<String> = []
  private var state = "-"

  mutating func count(fault words: [String]) { faults[words.joined(separator: " "), default: 0] += 1 }

  mutating func count(event: String) {
    events[event, default: 0] += 1
    eventsInStates.insert("\(event) in \(state)")
  }

  mutating func reached(_ state: String) {
    states.insert(state)
    self.state = state
  }

  mutating func add(_ other: Tally) {
    simulated += other.simulated
    sessions += other.sessions
    steps += other.steps
    pictures += other.pictures
    faults.merge(other.faults) { $0 + $1 }
    events.merge(other.events) { $0 + $1 }
    states.formUnion(other.states)
    eventsInStates.formUnion(other.eventsInStates)
  }
}

extension HeadUnitSession.Event {
  /// Its name, without what it holds.
  var kind: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
