import SDLHeadUnit

/// What was simulated.
package struct Tally {
  package var simulated = Duration.zero
  package var sessions = 0
  package var steps = 0
  package var pictures = 0
  /// How often each fault was made, and each event happened.
  package private(set) var faults: [String: Int] = [:]
  package private(set) var events: [String: Int] = [:]
  /// States of the app: video, sound, HMI level.
  package private(set) var states: Set<String> = []
  /// Events, each with the state that the last app to change had then.
  package private(set) var eventsInStates: Set<String> = []
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
