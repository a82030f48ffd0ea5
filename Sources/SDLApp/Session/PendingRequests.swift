import SDLMessages

/// The requests that wait for an answer. Each ends by its answer, by its time-out, or with the session.
struct PendingRequests: Equatable, Sendable {
  private struct Entry: Equatable {
    var function: FunctionID
    var isEncrypted: Bool
    var deadline: Duration
  }

  private var entries: [Int32: Entry] = [:]
  /// Below those of the application (``ApplicationRequest/ids``).
  private var lastID: Int32 = 0

  var nextDeadline: Duration? { entries.values.lazy.map(\.deadline).min() }

  /// Adds a request.
  /// - Parameter isEncrypted: whether it is sent encrypted: then its answer is encrypted as well.
  /// - Returns: Its correlation id.
  mutating func add(_ function: FunctionID, isEncrypted: Bool = false, deadline: Duration) -> Int32 {
    repeat {
      lastID = lastID == ApplicationRequest.ids.lowerBound - 1 ? 1 : lastID + 1
    } while entries[lastID] != nil
    entries[lastID] = Entry(function: function, isEncrypted: isEncrypted, deadline: deadline)
    return lastID
  }

  /// Removes the request that `response` answers. A head unit that could not read the request answers with
  /// GenericResponse instead of the function.
  /// - Returns: The function of the request; nil when there was none, or when it needs an encrypted answer.
  mutating func take(_ response: RPCMessage, isEncrypted: Bool = false) -> FunctionID? {
    guard let entry = entries[response.correlationID], isEncrypted || !entry.isEncrypted,
      response.function == entry.function || response.function == .genericResponse
    else { return nil }
    entries[response.correlationID] = nil
    return entry.function
  }

  /// Removes the requests whose deadline has passed, and returns their functions in the order of the requests.
  mutating func takeExpired(now: Duration) -> [FunctionID] {
    let expired = entries.filter { $0.value.deadline <= now }
    for id in expired.keys { entries[id] = nil }
    return expired.sorted { $0.key < $1.key }.map(\.value.function)
  }

  /// Removes everything, because the session is over.
  mutating func removeAll() {
    entries = [:]
  }
}
