import SDLApp
import SDLAppLink

/// The application's own RPCs of one app: its requests, of which each has to be answered once and in time, and the
/// notifications that it has asked for.
struct SimulatedRequests {
  private typealias Request = RequestVocabulary.Request

  /// The page of `sdlvideosink` promises these times ("Other RPCs").
  private enum Documented {
    static let answer = Duration.seconds(12)
    static let answerOfDriver = Duration.seconds(1200)
    /// Between two requests in the level NONE, in which the pace is lowest.
    static let longestInterval = Duration.milliseconds(125)
    static let mostRequests = 100
    /// The size of a file's part, each of which has an answer of its own.
    static let partSize = 64 << 10
  }

  /// Nothing that a head unit shows or says in a scenario takes longer, if nothing disturbs it.
  private static let longestShow = Duration.seconds(60)
  /// What a healthy head unit takes for the answer to anything else.
  private static let usualAnswer = Duration.seconds(5)
  /// A TLS handshake may be waited for.
  private static let handshake = Duration.seconds(45)
  /// How long the app may put off reading, because of its budget.
  private static let longestPause = Duration.seconds(5)

  private struct Owed {
    var request: Request
    var madeAt: Duration
    /// The answer of an undisturbed head unit.
    var quickUntil: Duration
    /// The answer in any case.
    var until: Duration
  }

  private var owed: [Int32: Owed] = [:]
  private var files: SimulatedFiles
  private let encrypts: Bool
  /// The requests that the head unit's script leaves unanswered at some time.
  private let unanswered: Set<String>
  /// A notification that has come, and that the application has to hear of.
  private var due: [(function: FunctionID, time: Duration)] = []
  private var wanted: [FunctionID: Duration] = [:]
  private var unwanted: [FunctionID: Duration] = [:]
  /// RPCs are encrypted: nobody else can read along.
  private var isUnreadable = false
  /// The ids of responses that have come, and that the application has not heard of.
  private var responses: Set<Int32> = []
  /// The head unit has accepted a subscription to the car's speed.
  private var hasSpeed = false
  /// Since when a new speed is on its way.
  private var speedDue: Duration?
  /// How many have been answered, by the code of their results.
  private(set) var answerCount = 0

  init(encrypts: Bool, hasIcon: Bool, unanswered: Set<String>) {
    self.encrypts = encrypts
    self.unanswered = unanswered
    files = SimulatedFiles(hasIcon: hasIcon)
  }

  // MARK: What the application does

  /// Sends a request.
  ///
  /// - Parameters:
  ///   - isRegistered: as the application knows it.
  ///   - isConnected: false while there is no connection at all.
  mutating func send(
    _ request: RequestVocabulary.Request, over connection: AppConnection, isRegistered: Bool, isConnected: Bool,
    wantsButtons: Bool, now: Duration
  ) -> String? {
    let isReserved =
      [.registerAppInterface, .sendHapticData].contains(request.function)
      || wantsButtons && [.subscribeButton, .unsubscribeButton].contains(request.function)
    do throws(ApplicationRequest.Refusal) {
      let id = try connection.request(request.function, request.parameters, bulk: request.bulk)
      guard !isReserved else { return "\(request.function) was accepted, which is reserved" }
      guard isConnected else { return "\(request.function) was accepted without a connection" }
      guard owed[id] == nil else { return "two requests have the id \(id)" }
      note(request, id: id, now: now)
      return nil
    } catch {
      switch error {
      case .reserved where isReserved: return nil
      case .notRegistered where !isRegistered: return nil
      case .full where owed.count >= Documented.mostRequests: return nil
      default: return "\(request.function) was refused although \(owed.count) wait: \(error)"
      }
    }
  }

  private mutating func note(_ request: Request, id: Int32, now: Duration) {
    let parts = owed.values.reduce(Self.partCount(request)) { $0 + Self.partCount($1.request) }
    let queue = Documented.longestInterval * (owed.count + 1) + (encrypts ? Self.handshake : .zero)
    let waits = RequestVocabulary.waitsForDriver(request.function)
    // Later ones may follow at once, even a file.
    let answer = waits ? Documented.answerOfDriver : Documented.answer
    let until = now + queue + Documented.answer * parts + answer + .seconds(1)
    let quickUntil = isAnswered(request.function) ? now + queue + (waits ? Self.longestShow : Self.usualAnswer) : until
    owed[id] = Owed(request: request, madeAt: now, quickUntil: quickUntil, until: until)
  }

  private func isAnswered(_ function: FunctionID) -> Bool { !unanswered.contains("\(function)") }

  private static func partCount(_ request: Request) -> Int {
    request.function == .putFile ? (request.bulk.count + Documented.partSize - 1) / Documented.partSize : 0
  }

  mutating func setNotifications(_ functions: Set<FunctionID>, over connection: AppConnection, now: Duration) {
    for function in wanted.keys where !functions.contains(function) {
      wanted[function] = nil
      unwanted[function] = now
    }
    for function in functions where wanted[function] == nil {
      wanted[function] = now
      unwanted[function] = nil
    }
    connection.setNotifications(functions)
  }

  // MARK: What it hears

  /// The app reports an answer, or a notification.
  ///
  /// - Parameter disturbedUntil: until when something may have been late.
  mutating func take(_ message: RPCMessage, now: Duration, busyUntil: Duration, disturbedUntil: Duration) -> String? {
    guard message.type == .response else { return takeNotification(message.function, now: now, busyUntil: busyUntil) }
    guard let request = owed.removeValue(forKey: message.correlationID) else {
      return "\(message.function) was answered twice, or never requested"
    }
    guard request.request.function == message.function else {
      return "\(request.request.function) has the answer of \(message.function)"
    }
    answerCount += 1
    // The head unit itself says so of what the driver has not answered.
    let isFromHeadUnit = isUnreadable || responses.remove(message.correlationID) != nil
    if !isFromHeadUnit, message.parameters["resultCode"]?.string == ResultCode.timedOut.rawValue {
      let waits = RequestVocabulary.waitsForDriver(message.function)
      if now < request.madeAt + (waits ? Documented.answerOfDriver : Documented.answer) {
        return "\(message.function) has timed out after \((now - request.madeAt).text)"
      }
      if disturbedUntil < request.madeAt, isAnswered(message.function) {
        return "an undisturbed head unit has not answered \(message.function)"
      }
    }
    return files.take(message, to: request.request)
  }

  private mutating func takeNotification(_ function: FunctionID, now: Duration, busyUntil: Duration) -> String? {
    let isLate = unwanted[function].map { now <= max($0, busyUntil) } ?? false
    guard wanted[function] != nil || isLate else { return "\(function) came, which the application does not want" }
    guard !isUnreadable else { return nil }
    guard let index = due.firstIndex(where: { $0.function == function }) else {
      // One whose parts came so slowly that the other parser has given it up.
      if function == .onSystemRequest { return nil }
      // One of which nobody knew when it would be wanted.
      return wanted[function].map { now <= max($0, busyUntil) } ?? true ? nil : "\(function) came twice"
    }
    due.remove(at: index)
    return nil
  }

  /// The app has read a notification from its connection; nil for one that nobody else can read.
  ///
  /// - Returns: what is wrong with that.
  mutating func notificationRead(_ function: FunctionID?, now: Duration, busyUntil: Duration) -> String? {
    guard let function else {
      isUnreadable = true
      due = []
      speedDue = nil
      return nil
    }
    if function == .onVehicleData {
      guard hasSpeed || isUnreadable else { return "OnVehicleData came without a subscription" }
      speedDue = nil
    }
    // What changes at the same time may come before or after it.
    guard !isUnreadable, let since = wanted[function], max(since, busyUntil) < now else { return nil }
    due.append((function, now))
    return nil
  }

  /// The app has read a response.
  mutating func responseRead(_ message: RPCMessage) {
    if owed[message.correlationID] != nil { responses.insert(message.correlationID) }
    // Also after the application has been told that none came in time.
    guard message.parameters["success"]?.bool == true else { return }
    switch message.function {
    case .subscribeVehicleData: hasSpeed = true
    case .unsubscribeVehicleData: hasSpeed = false
    default: break
    }
  }

  /// The car has another speed, which the head unit has to send if the application has subscribed to it.
  mutating func speedChanged(now: Duration) {
    if hasSpeed, !isUnreadable, !owed.values.contains(where: { $0.request.function == .unsubscribeVehicleData }) {
      speedDue = speedDue ?? now
    }
  }

  // MARK: What must hold

  /// What is wrong now.
  func fault(now: Duration, disturbedUntil: Duration) -> String? {
    if let late = due.first(where: { $0.time + Self.longestPause < now }) {
      return "\(late.function) has come, and the application does not know"
    }
    if let speedDue, disturbedUntil < speedDue, speedDue + .seconds(1) < now {
      return "the head unit has not sent the car's speed"
    }
    for entry in owed.values {
      let until = disturbedUntil < entry.madeAt ? min(entry.quickUntil, entry.until) : entry.until
      if until < now { return "\(entry.request.function) is not answered after \((now - entry.madeAt).text)" }
    }
    return nil
  }

  /// The machine of the app does nothing for a while, nor does the time count.
  mutating func standStill(for time: Duration) {
    for id in owed.keys {
      owed[id]?.until += time
      owed[id]?.quickUntil += time
    }
    for index in due.indices { due[index].time += time }
  }

  /// The connection has ended, and all requests should have been answered with it.
  mutating func connectionEnded() -> String? {
    defer {
      owed = [:]
      due = []
      responses = []
      (hasSpeed, speedDue) = (false, nil)
      isUnreadable = false
      files = SimulatedFiles(hasIcon: files.hasIcon)
    }
    return owed.values.first.map { "\($0.request.function) was not answered by the end of the connection" }
  }
}
