import SDLApp

/// The unanswered requests of the application: bounded, and accepted only while the app is registered, so that each
/// gets an answer.
struct ApplicationQueue: Sendable {
  private static let capacity = 100
  /// In bytes.
  private static let byteCapacity = 16 << 20

  /// The connection thread has not taken them yet.
  private var waiting: [ApplicationRequest] = []
  /// The sizes of unanswered requests, in bytes.
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
    guard request.bytesOnTheWay <= ApplicationRequest.maximumBytesOnTheWay else { throw .tooLarge(request.byteCount) }
    guard sizes.count < Self.capacity, byteCount + request.byteCount <= Self.byteCapacity else { throw .full }
    lastID = id
    sizes[id] = request.byteCount
    byteCount += request.byteCount
    waiting.append(request)
    return id
  }

  /// Takes the requests that were added since the last call.
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

  /// The connection has ended; returns the requests that were not taken and need an answer.
  mutating func close() -> [ApplicationRequest] {
    isOpen = false
    return take()
  }
}
