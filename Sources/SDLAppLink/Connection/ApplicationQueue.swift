import SDLApp

/// The requests of the application that are not answered: bounded, and taken only while the app is registered, so that
/// each gets an answer.
struct ApplicationQueue: Sendable {
  private static let capacity = 100
  /// In bytes.
  private static let byteCapacity = 16 << 20

  /// The connection thread has not taken them yet.
  private var waiting: [ApplicationRequest] = []
  /// The size of each that is not answered, in bytes.
  private var sizes: [Int32: Int] = [:]
  private var byteCount = 0
  private var lastID = ApplicationRequest.ids.upperBound
  private var isOpen = false

  /// Adds a request, and returns its correlation id.
  mutating func add(
    _ function: FunctionID, _ parameters: JSONObject, bulk: [UInt8]
  ) throws(ApplicationRequest.Refusal) -> Int32 {
    guard isOpen else { throw .notRegistered }
    var id = lastID
    repeat {
      id = id == ApplicationRequest.ids.upperBound ? ApplicationRequest.ids.lowerBound : id + 1
    } while sizes[id] != nil
    let request = ApplicationRequest(id: id, function, parameters, bulk: bulk)
    guard sizes.count < Self.capacity, byteCount + request.byteCount <= Self.byteCapacity else { throw .full }
    lastID = id
    sizes[id] = request.byteCount
    byteCount += request.byteCount
    waiting.append(request)
    return id
  }

  /// Takes those that were added since the last call.
  mutating func take() -> [ApplicationRequest] {
    defer { waiting = [] }
    return waiting
  }

  mutating func answered(_ id: Int32) {
    byteCount -= sizes.removeValue(forKey: id) ?? 0
  }

  /// The app is registered.
  mutating func open() {
    isOpen = true
  }

  /// The connection has ended; returns what was not taken, and is to be answered.
  mutating func close() -> [ApplicationRequest] {
    isOpen = false
    return take()
  }
}
