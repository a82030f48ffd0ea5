import SDLHeadUnit
import SDLMessages

@testable import SDLHeadUnitLink

/// What the head unit reports of its apps, and whether that is right: their pictures and sound, the rules that it finds
/// broken, and its own times.
struct HeadUnitWatch {
  /// As documented in `docs/behaviour-scripts.md`.
  private static let dataTimeout = Duration.seconds(1)
  /// Of a turn of its loop.
  private static let slack = Duration.milliseconds(50)

  /// What is known of one session.
  private struct Session {
    var decoder = Decoder()
    /// When the registration has ended, the level was sent, and a service has ended.
    var unregistered: Duration?
    var statusSent: Duration?
    var serviceEnded: Duration?
    /// When video last came between a service's end and the next acknowledgement: of an app that took a late one for
    /// it.
    var earlyVideo: Duration?
    /// A start was refused: after that the app names no size, and can't know which one is expected.
    var isRefused = false
    /// RPCs are encrypted: nothing keeps their records in order with those of a second transport.
    var encryptsRPCs = false
    /// As sent last, and when.
    var status: HMIStatus?
    var changedAt: Duration?
    /// When the last picture came, while more could come.
    var silentSince: Duration?
    var buttons: Set<String> = []
    var rectangleCount: Int?
    var isRegistered = false
    var hasVideo = false
    var hasAudio = false
  }

  private let scenario: Scenario
  private var sessions: [UInt8: Session] = [:]
  private var ids: [String: UInt8] = [:]
  private var names: [UInt8: String] = [:]
  /// By the name of the app.
  private(set) var pictures: [String: Int] = [:]
  private(set) var sounds: [String: Int] = [:]
  /// When the driver last changed sizes.
  var resized: Duration?
  /// A script has changed when silence counts, or who gets the pictures.
  var countsSilence = true

  init(_ scenario: Scenario) { self.scenario = scenario }

  /// The session of an app, if it was ever registered.
  func session(of name: String) -> UInt8? { ids[name] }

  /// The status that an app was sent last; nil for one that is not registered.
  func status(of name: String) -> HMIStatus? {
    ids[name].flatMap { sessions[$0] }.flatMap { $0.isRegistered ? $0.status : nil }
  }

  func encryptsRPCs(of name: String) -> Bool { ids[name].flatMap { sessions[$0]?.encryptsRPCs } ?? false }

  func buttons(of name: String) -> Set<String> { ids[name].flatMap { sessions[$0]?.buttons } ?? [] }

  /// How many haptic rectangles the app has sent for its last service; nil for none.
  func rectangleCount(of name: String) -> Int? { ids[name].flatMap { sessions[$0]?.rectangleCount } }

  /// Whether a service of the app is open.
  func hasVideo(of name: String) -> Bool { ids[name].flatMap { sessions[$0]?.hasVideo } ?? false }
  func hasAudio(of name: String) -> Bool { ids[name].flatMap { sessions[$0]?.hasAudio } ?? false }

  /// When an app was sent a status last.
  func lastChange(of name: String) -> Duration? { ids[name].flatMap { sessions[$0]?.changedAt } }

  /// What an event shows.
  mutating func take(
    _ event: HeadUnitSession.Event, of id: UInt8, now: Duration, isDisturbed: Bool
  ) -> (Simulation.Rule, String)? {
    // For how long something may come that the app has sent before it heard of a change.
    let crossing = isDisturbed ? Duration.seconds(60) : .seconds(1)
    var session = sessions[id] ?? Session()
    defer { sessions[id] = session }
    switch event {
    case .appRegistered(let name, _, _, _, _):
      session.isRefused = false
      session.encryptsRPCs = false
      session.isRegistered = true
      session.buttons = []
      session.rectangleCount = nil
      session.hasVideo = false
      session.hasAudio = false
      ids[name] = id
      names[id] = name
    case .hmiStatusSent(let status), .systemContextSent(let status):
      if case .hmiStatusSent = event { session.statusSent = now }
      session.status = status
      session.changedAt = now
      // What comes meanwhile counts, and is not reported.
      if !status.allowsVideo { session.silentSince = nil }
    case .appUnregistered:
      session.unregistered = now
      session.isRegistered = false
      session.silentSince = nil
    case .videoStopped:
      session.serviceEnded = now
      session.silentSince = nil
      session.hasVideo = false
    case .audioStopped:
      session.serviceEnded = now
      session.hasAudio = false
    case .audioStarted: session.hasAudio = true
    case .videoRefused:
      session.isRefused = true
      session.serviceEnded = now
    case .audioRefused: session.serviceEnded = now
    case .rpcProtected: session.encryptsRPCs = true
    case .buttonsSubscribed(let buttons): session.buttons = buttons
    case .hapticRectangles(let rectangles): session.rectangleCount = rectangles.count
    case .videoStarted:
      session.decoder.begin()
      session.hasVideo = true
      session.rectangleCount = nil
    case .videoMissed: session.decoder.missed()
    case .videoDataStopped:
      session.decoder.outputClosed()
      session.silentSince = nil
    case .videoData(let bytes):
      session.silentSince = now
      let fault = session.decoder.take(bytes)
      // What comes while the level forbids it is discarded; the app may not know yet that it has changed, and is back.
      let mayHaveGap = session.statusSent.map { now < $0 + crossing } ?? false
      if let name = names[id] { pictures[name, default: 0] += 1 }
      return mayHaveGap ? nil : fault.map { (.decodable, "session \(id): \($0)") }
    case .audioData(let bytes):
      if let name = names[id] { sounds[name, default: 0] += 1 }
      if bytes.contains(where: { $0 != bytes.first }) { return (.decodable, "sound that was not sent") }
    case .violation(let violation):
      if case .dataAfterEndService(.video, _) = violation { session.earlyVideo = now }
      let isExcused = isExcused(violation, session, now: now, crossing: crossing, isDisturbed: isDisturbed)
      return isExcused ? nil : (.headUnit, "\(violation)")
    default: break
    }
    return nil
  }

  /// What should have happened before.
  mutating func fault(now: Duration) -> String? {
    guard countsSilence else { return nil }
    for (id, session) in sessions {
      if let silent = session.silentSince, now > silent + Self.dataTimeout + Self.slack {
        sessions[id]?.silentSince = nil
        return "session \(id): no video for \((now - silent).text), which the head unit does not report"
      }
    }
    return nil
  }

  /// The head unit's machine does nothing for a while, which it notices: such a pause is nobody's fault.
  mutating func standsStill() { for id in sessions.keys { sessions[id]?.silentSince = nil } }

  /// What a network or machine that is late makes of an app that does all it can.
  private func isExcused(
    _ violation: Violation, _ session: Session, now: Duration, crossing: Duration, isDisturbed: Bool
  ) -> Bool {
    func isShortlyAfter(_ time: Duration?) -> Bool { time.map { now < $0 + crossing } ?? false }
    switch violation {
    case .transport(let text):
      return text.hasPrefix("text message") && scenario.apps.contains { $0.webSocket == .foreign }
    case .stream(.firstNALUnit), .stream(.pictureBeforeKeyFrame), .stream(.missingPictureParameterSet):
      // Of an early stream the head unit sees the rest only.
      return session.decoder.expectsComplaint || isShortlyAfter(session.earlyVideo)
    case .endServiceNotAcknowledged, .heartbeatUnanswered, .videoWhileForbidden, .audioWhileForbidden,
      .dataAfterEndService, .startWhileActive, .wrongTransport, .dataBeforeAcknowledgement,
      .tooManyViolations, .stream(.frameRate), .stream(.bitrate), .audio(.fasterThanRealTime):
      return isDisturbed
    // Nothing keeps the records of RPCs in order with those of video on another connection.
    case .undecryptableFrame: return session.encryptsRPCs && scenario.offersSecondary
    // Both sides may end it at the same time, or the head unit refuses the start meanwhile.
    case .endOfServiceNotRunning: return isDisturbed || isShortlyAfter(session.serviceEnded)
    // They were on their way when the driver's car changed its mind.
    case .haptics: return scenario.mentions("update haptics off")
    // The app goes by updates alone after an answer that came later than it waits for.
    case .appCapability(.notOffered): return isDisturbed
    // A start without parameters, of an app that could not know the size, or does not yet.
    case .stream(.pictureSize):
      let commands = scenario.steps.map(\.action) + scenario.commands
      return commands.contains { $0.contains("get-capability") }
        // A late acknowledgement with a size is taken for that of the next start.
        || isDisturbed && commands.contains { $0.contains("answer start-video") }
        || session.isRefused || isShortlyAfter(resized)
    case .startBeforeRegistration, .noSession, .encryptedFrame(.rpc), .encryptedFrame(.hybrid):
      return isShortlyAfter(session.unregistered)
    case .notificationNotAllowed: return isShortlyAfter(session.statusSent)
    default: return false
    }
  }
}
