import GStreamerKit

/// What is counted over the life of an element: each run begins with what the ones before it have counted.
struct HeadUnitHistory<Counters: HeadUnitStreamCounters>: Sendable {
  var totals = HeadUnitTotals()
  var violations = ViolationLog()
  /// Of the stream that was received.
  var stream = Counters()
}

/// What an element counts of its stream.
protocol HeadUnitStreamCounters: Sendable {
  init()
  /// Writes the counters into `sdl-stats`.
  func fill(_ structure: borrowing Structure)
}

/// What happened, over the life of an element.
struct HeadUnitTotals: Sendable {
  var connections: UInt64 = 0
  var refusals: UInt64 = 0
  var registrations: UInt64 = 0
  var streamStarts: UInt64 = 0
  var streamRefusals: UInt64 = 0
}

/// The property `sdl-stats`: what was counted, and how much of it there is now.
struct HeadUnitStatistics<Counters: HeadUnitStreamCounters>: Sendable {
  var history: HeadUnitHistory<Counters>
  /// Frames or samples that wait for downstream.
  var queuedCount = 0
  var openConnections = 0
  var apps = 0

  /// Creates the statistics of an element that does not run.
  init(_ history: HeadUnitHistory<Counters>) {
    self.history = history
  }

  /// As `application/x-sdl-stats`.
  ///
  /// - Parameter queued: the name of the field for what waits for downstream.
  func structure(queued: String) -> Structure {
    let totals = history.totals
    let structure = Structure("application/x-sdl-stats")
    history.stream.fill(structure)
    structure.set(queued, UInt64(clamping: queuedCount))
    structure.set("connections", totals.connections)
    structure.set("connections-refused", totals.refusals)
    structure.set("connections-open", UInt64(clamping: openConnections))
    structure.set("registrations", totals.registrations)
    structure.set("apps", UInt64(clamping: apps))
    structure.set("stream-starts", totals.streamStarts)
    structure.set("stream-refusals", totals.streamRefusals)
    structure.set("violations", history.violations.count)
    return structure
  }
}
